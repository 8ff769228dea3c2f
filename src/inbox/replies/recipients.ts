// Recipients of an answer (specification 4.4). Pure.
import { foldAddress, parseAddress } from '../../platform/net/address.ts';

/** Fields of a message that decide the recipients of the answer. */
export interface Answered {
  direction: 'outbound' | 'inbound';
  /** Author of the message; null if it cannot be read. */
  from: string | null;
  replyTo: readonly string[];
  to: readonly string[];
  cc: readonly string[];
}

export interface Recipients {
  to: string[];
  cc: string[];
}

/** Removes repeated addresses and members of `taken`; adds the remaining addresses to `taken`. */
function distinct(addresses: readonly string[], taken: Set<string>): string[] {
  return addresses.filter((address) => {
    const folded = foldAddress(address);
    if (taken.has(folded)) return false;
    taken.add(folded);
    return true;
  });
}

/**
 * Returns the recipients of an answer: the Reply-To of a message, or else the author; for our own
 * message, the recipients. With `all`, the addresses in To and Cc get a copy. Skips addresses of
 * this mailbox (`isOwn`) and text that is not a mail address: if a Reply-To has nothing else, the
 * author gets the answer. Both lists are empty if a received message has neither a Reply-To nor an
 * author to answer.
 */
export function answerRecipients(
  { direction, from, replyTo, to, cc }: Answered,
  isOwn: (address: string) => boolean,
  all: boolean,
): Recipients {
  const others = (addresses: readonly string[]) =>
    addresses.filter((address) => parseAddress(address) !== null && !isOwn(address));
  const taken = new Set<string>();
  const wanted = others(replyTo);
  const author = from === null ? [] : [from];
  const sender = wanted.length > 0 ? wanted : others(author);
  // An inbound message can be our own mail that came back, as from a mailing list.
  const isOurs = direction === 'outbound' || (sender.length === 0 && author.some(isOwn));
  if (!isOurs && sender.length === 0) return { to: [], cc: [] };
  const first = distinct(isOurs ? others(to) : sender, taken);
  const second = distinct(others(isOurs ? cc : [...to, ...cc]), taken);
  // A mail without To was addressed to the recipients in Cc.
  if (isOurs && first.length === 0) return { to: second, cc: [] };
  return { to: first, cc: all ? second : [] };
}
