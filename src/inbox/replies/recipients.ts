// Recipients and sender of an answer (specification 4.4). Pure.
import { foldAddress } from '../../platform/net/address.ts';

/** Fields of a message that decide the recipients of its answer. */
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

/** Removes repeated addresses and those in `taken`; adds the rest to `taken`. */
function distinct(addresses: readonly string[], taken: Set<string>): string[] {
  return addresses.filter((address) => {
    const folded = foldAddress(address);
    if (taken.has(folded)) return false;
    taken.add(folded);
    return true;
  });
}

/**
 * Returns the recipients of an answer: the Reply-To of a message, else its sender; for our own message its
 * recipients. With `all`, everybody else named in it gets a copy. Never an address of this mailbox (`isOwn`).
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
  // A mail with only Cc was addressed to these recipients.
  if (isOurs && first.length === 0) return { to: second, cc: [] };
  return { to: first, cc: all ? second : [] };
}
