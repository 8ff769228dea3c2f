import { undoRoutes } from '../../src/inbox/replies/undo/routes.ts';
import { messageCard } from '../base/input/fields.ts';
import { messageArg as args, messageIdFrom as find } from '../base/mail/message-id.ts';
import { messageText } from '../base/mail/message-view.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description:
    'The message ends as failed, with the error code cancelled. A message that was sent ' +
    'in part, or has an attempt under way, is a conflict. A delayed send of a mailbox ' +
    'becomes a draft. Does not ask first.',
  examples: [
    ['Cancel a scheduled message', 'svc messages cancel msg_06dq2k0qz8h3v5m1r9t4w7xy'],
    [
      'Cancel all scheduled messages',
      "svc messages list --status scheduled --json | jq -r '.items[].id' | xargs -n1 svc messages cancel",
    ],
  ],
  args,
  find,
  route: undoRoutes.cancel,
  view: (message) => messageText(message, messageCard),
});
