// How commands name a message: the id, or `@last` for the latest sent message (whole-id.ts).
import { Args } from '@oclif/core';
import type { Session } from '../asking.ts';

/** The argument of commands on a single message. */
export const messageArg = {
  id: Args.string({
    description: 'Id of the message (msg_…), or @last for the latest sent one',
    required: true,
  }),
};

/** @throws ValidationError for an invalid id; ResourceNotFoundError before the first send. */
export async function messageIdFrom({ findIds }: Session, named: string): Promise<string> {
  const { messageId } = await import('../../../src/outbound/messages/schema.ts');
  const { parseTyped } = await import('../input/whole-id.ts');
  return parseTyped(findIds, messageId, named, 'path');
}
