// The content of a send, prepared before the accept transaction. Inline content without a footer passes
// unchanged.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import type { AcceptRequest } from './accept.ts';
import { prepareContent } from './content.ts';

/** A payload with its content, for the accept transaction. */
export type PreparedSend = Pick<
  AcceptRequest,
  'caller' | 'payload' | 'content' | 'template' | 'refusal'
>;

/** Decodes and digests the content of a payload. Never rejects for a fault of the payload: see `refusal`. */
export async function prepareSend(
  app: App,
  caller: Caller,
  payload: SendPayload,
): Promise<PreparedSend> {
  return { caller, payload, content: await prepareContent(app, caller.organizationId, payload) };
}
