// The `errorCode` alone of a refusal (contract 5), for the record of an attempt. All knowledge is in
// classify-reply.ts and its tables.
import { classifyReply } from './classify-reply.ts';
import type { ErrorCode, RemoteReply } from './outcome.ts';

/** What kind of refusal a 4yz or 5yz reply is; `unknown` where nothing known matches. */
export function classifyRefusal(reply: RemoteReply): ErrorCode {
  return classifyReply(reply).errorCode;
}
