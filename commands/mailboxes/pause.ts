import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  summary: 'Pause a mailbox',
  description: 'Mail to it is put off: its senders try again (450). It sends none either.',
  examples: [['For now', 'svc mailboxes pause mbx_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.pause,
  card,
});
