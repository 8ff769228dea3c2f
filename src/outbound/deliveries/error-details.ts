// `errorDetails` of a delivery with an error of a server: the reply of the server, with cause and
// remedy.
import type { RemoteReply } from '../../mail/smtp/outcome.ts';
import { findCause } from '../../mail/smtp/reply-rules/classify-reply.ts';
import { toJson } from '../../platform/store/db.ts';

/** A refusal with the facts known about it. */
export interface RefusalFacts {
  errorCode: string;
  reply: RemoteReply;
  /** Name of the server. */
  mx: string | null;
  address: string | null;
  /** The refused address, if it differs from the recipient. */
  refusedAddress: string | null;
  senderDomain: string;
}

/** Returns the JSON of `errorDetails`, with cause and remedy if the reply reveals the cause. */
export function errorDetailsOf(facts: RefusalFacts): string | null {
  const { errorCode, reply, mx, address, refusedAddress, senderDomain } = facts;
  const known = findCause(reply, errorCode);
  return toJson({
    code: reply.code,
    enhancedCode: reply.enhancedCode,
    reply: reply.text,
    verb: reply.verb,
    mx,
    address,
    ...(refusedAddress !== null && { refusedAddress }),
    ...(known && {
      cause: known.cause,
      remedy: known.remedy.replaceAll('{senderDomain}', senderDomain),
    }),
  });
}
