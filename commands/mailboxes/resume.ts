import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  examples: [['Resume a paused mailbox', 'svc mailboxes resume mbx_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: mailboxRoutes.resume,
  card,
});
