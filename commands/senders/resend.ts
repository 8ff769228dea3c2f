import { proofRoutes } from '../../src/outbound/sending/sender-proof/routes.ts';
import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  summary: 'Send a new token to the address of a sender',
  description: 'The earlier token is void. An address gets five such mails a day.',
  examples: [['Send the token once more', 'svc senders resend snd_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: proofRoutes.resend,
  card,
});
