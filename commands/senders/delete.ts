import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a sender for good',
  examples: [
    ['Delete a sender in a script', 'svc senders delete snd_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: senderRoutes.get,
  route: senderRoutes.delete,
  question: ({ email }) => `Delete the sender ${email} for good?`,
});
