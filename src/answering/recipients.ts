// Whom an answer goes to (specification 4.4), and under whose name. Pure.
import { foldAddress } from '../net/address.ts';

/** What of a message decides who is answered; addresses as the message has them. */
export interface Answered {
  direction: 'outbound' | 'inbound';
  from: string;
  replyTo: readonly string[];
  to: readonly string[];
  cc: readonly string[];
}

export interface Recipients {
  to: string[];
  cc: string[];
}

/** Each address once, without those of `taken`, which grows. */
function distinct(addresses: readonly string[], taken: Set<string>): string[] {
  return addresses.filter((address) => {
    const folded = foldAddress(address);
    if (taken.has(folded)) return false;
    taken.add(folded);
    return true;
  });
}

/**
 * The Reply-To of a message, or else its sender; of a message of our own its recipients. `all`: everybody
 * else who is named in it gets a copy. Never an address of this mailbox (`isOwn`).
 */
export function answerRecipients(
  { direction, from, replyTo, to, cc }: Answered,
  isOwn: (address: string) => boolean,
  all: boolean,
): Recipients {
  const others = (addresses: readonly string[]) => addresses.filter((address) => !isOwn(address));
  const taken = new Set<string>();
  const isOurs = direction === 'outbound';
  const sender = replyTo.length > 0 ? replyTo : [from];
  const first = distinct(others(isOurs ? to : sender), taken);
  const second = distinct(others(isOurs ? cc : [...to, ...cc]), taken);
  // Of a mail to nobody but copies, these are whom it was for.
  if (isOurs && first.length === 0) return { to: second, cc: [] };
  return { to: first, cc: all ? second : [] };
}
