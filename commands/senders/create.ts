import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a sender: an address for the From of messages',
  description:
    'A sender on a verified domain is verified at once. Messages without a sender use ' +
    'the default one.',
  examples: [
    [
      'Create the default sender',
      'svc senders create --email shop@example.com --name "The shop" --default',
    ],
    [
      'Create a sender with another address for answers',
      'svc senders create --email news@example.com --reply-to office@example.com',
    ],
  ],
  names: { replyToEmails: 'reply-to' },
  route: senderRoutes.create,
  card,
});
