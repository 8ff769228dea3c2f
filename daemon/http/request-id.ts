// The id of a request: the caller's id if it is valid, else a new id. Only safe characters are
// allowed, as the answer and the log contain it.
import type { Random } from '../../src/platform/runtime/random.ts';

const saneId = /^[\w.:-]{1,128}$/;

/** Returns the `X-Request-Id` of the caller if it is valid, else a new id. */
export function requestIdOf(header: string | string[] | undefined, random: Random): string {
  return typeof header === 'string' && saneId.test(header) ? header : newRequestId(random);
}

export function newRequestId(random: Random): string {
  return `req_${Buffer.from(random.bytes(12)).toString('hex')}`;
}
