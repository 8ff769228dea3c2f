// How commands name a message: its id, or `@last` for the one that was sent last.
import { Args } from '@oclif/core';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';

const last = '@last';

/** The argument of commands on one message. */
export const messageArg = {
  id: Args.string({
    description: `Id of the message (msg_…), or ${last} for the latest sent one`,
    required: true,
  }),
};

/** @throws ValidationError for an invalid id; ResourceNotFoundError before the first send. */
export async function messageIdFrom(app: App, caller: Caller, named: string): Promise<string> {
  if (named === last) {
    const { lastSentId } = await import('../../src/outbound/messages/messages.ts');
    return lastSentId(app, caller);
  }
  const { messageId } = await import('../../src/outbound/messages/schema.ts');
  const { parseWith } = await import('../../src/core/api/validate.ts');
  return parseWith(messageId, named, 'path');
}
