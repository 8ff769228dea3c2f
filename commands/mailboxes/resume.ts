import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  summary: 'Resume a mailbox: it sends and receives again',
  examples: [['Resume a paused mailbox', 'svc mailboxes resume mbx_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: async () => (await import('../../src/identity/mailboxes/routes.ts')).mailboxRoutes.resume,
  card,
});
