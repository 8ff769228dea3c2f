import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  description:
    'Incoming mail is deferred: the other servers try again (450). The mailbox sends ' +
    'nothing either.',
  examples: [['Pause a mailbox for now', 'svc mailboxes pause mbx_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: mailboxRoutes.pause,
  card,
});
