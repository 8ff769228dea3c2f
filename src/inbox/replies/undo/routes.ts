// The operation that cancels unsent mail (specification 4.8), and undoes the send of a mailbox.
import { z } from 'zod';
import { area } from '../../../core/api/area.ts';
import { message, messageId } from '../../../outbound/messages/schema.ts';
import { ConflictError } from '../../../platform/errors.ts';
import { cancelOrUndo, mailboxOfMessage } from './undo.ts';

const at = area('messages');

export const undoRoutes = {
  cancel: at.post('/v1/messages/{id}/cancel', {
    name: 'cancelMessage',
    summary: 'Cancel a message that has not been sent',
    description:
      'Cancels scheduled and queued deliveries, and those that wait for another attempt: ' +
      'the message ends as `failed` with the error code `cancelled`. A message that was ' +
      'sent in part, or has an attempt in progress, is a conflict. Repeating the request ' +
      'changes nothing. For mail of a mailbox `mailboxes:send` is enough; within its ' +
      '`delaySeconds` the send is undone: what was a draft is that draft again, any other ' +
      'send or reply becomes a draft of the caller, and an approval ends as `failed` with ' +
      'the note `undone`.',
    permission: 'messages:send',
    mailboxOf: mailboxOfMessage,
    params: z.strictObject({ id: messageId.describe('Id of the message') }),
    output: message,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => cancelOrUndo(app, caller, id),
  }),
};
