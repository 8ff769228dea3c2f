// Limits on mails to persons. They count mails that were made, not requests, so requests for an
// unknown address do not count. The answer to a request does not reveal a full limit.
//
//   mail           | limit                                     | within
//   ---------------+-------------------------------------------+---------
//   to sign in     | 5 an address from new browsers            | an hour
//   to sign in     | 5 more from each browser known before     | an hour
//   to sign in     | 20 a network: an IPv4 address, a /64      | an hour
//   to sign in     | 200 in all                                | an hour
//   of invitations | 5 an address, of all organizations        | a day
import { networkOf } from '../../platform/net/network-address.ts';
import { hashOfToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import { lockMailTimes, setMailTimes } from './link-queries.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A limit on the mails of a key. */
interface MailLimit {
  key: string;
  most: number;
  withinMs: number;
}

/** Request of a visitor for a mail to sign in. */
export interface MailAsker {
  /** Address of the person. */
  email: string;
  /** Address of the visitor. */
  address: string;
  /** Hash of a browser in which the person signed in before; null for a new browser. */
  browserHash: string | null;
}

/**
 * Returns the limits on a sign-in mail: in all, of the network, and of the known browser or else
 * the address.
 */
export function signInLimits({ email, address, browserHash }: MailAsker): MailLimit[] {
  const who = browserHash === null ? `address ${email}` : `browser ${browserHash}`;
  return [
    { key: 'all', most: 200, withinMs: hourMs },
    { key: `network ${networkOf(address)}`, most: 20, withinMs: hourMs },
    { key: hashOfToken(who), most: 5, withinMs: hourMs },
  ];
}

/** Returns the limit on invitations to an address. */
export function invitationLimits(email: string): MailLimit[] {
  return [{ key: hashOfToken(`invitation ${email}`), most: 5, withinMs: dayMs }];
}

/**
 * Counts a mail and returns null. If a limit is full, counts nothing and returns the milliseconds
 * until the next mail is allowed. The rows of the limits stay locked until the transaction ends.
 */
export async function countMail(
  trx: Db,
  limits: readonly MailLimit[],
  now: number,
): Promise<number | null> {
  const counted: { key: string; times: number[] }[] = [];
  for (const { key, most, withinMs } of limits.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    // After the clock was set back, ignores times further ahead than the period of the limit.
    const times = (await lockMailTimes(trx, key)).filter((at) => Math.abs(now - at) < withinMs);
    if (times.length >= most) return (times[0] ?? now) + withinMs - now;
    counted.push({ key, times: [...times, now] });
  }
  for (const { key, times } of counted) await setMailTimes(trx, key, times);
  return null;
}
