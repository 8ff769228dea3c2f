import { sendingRoutes } from '../../src/outbound/sending/routes.ts';
import { messageCard } from '../base/input/fields.ts';
import { messageArg as args, messageIdFrom as find } from '../base/mail/message-id.ts';
import { messageText } from '../base/mail/message-view.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description:
    'Sends the copies that delivery.mode, delivery.allow or a route kept on this machine, as ' +
    'a new message. Change that key first: recipients whose mail is still captured are left ' +
    'out. A copy is released once.',
  examples: [['Send what was captured', 'svc messages release msg_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  find,
  route: sendingRoutes.release,
  view: (message) => messageText(message, messageCard),
});
