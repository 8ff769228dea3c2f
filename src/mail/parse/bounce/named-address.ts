// Finds the address that a refusal is about (RFC 3464 2.3): the recipient to whom we sent, or an
// address behind it, such as a member of a list or the target of a forward. Pure.
import { foldAddress, parseAddress } from '../../../platform/net/address.ts';
import { lastServer } from './bounced-recipient.ts';

const maxCharacters = 4096;
const address = /[^\s<>()[\]{}"',;:@=|]{1,64}@[^\s<>()[\]{}"',;:@=|]{1,255}/g;
/** Local parts of addresses for help, and of our own return paths. */
const role =
  /^(?:postmaster|hostmaster|abuse|support|help|helpdesk|admin|administrator|noc|security|tosa|mailer-daemon|no-?reply|(?:spam|unblock|delist|rbl)[a-z-]*)@|^(?:bounce|unsub)\+/i;
/** Words directly before an address for help, or before the sender's address. */
const contact =
  /(?:contact|write|report|e-?mail|mailto|reach|ask|forward(?: this (?:message|e-?mail))?|from|sender|sent by|on behalf of)(?: to| us| at)?[\s:<"'([]{0,4}$/i;
const longestContact = 60;

/**
 * Tells whether an address in a report is the recipient. A bare local part is compared with the
 * recipient's local part.
 */
function isRecipient(named: string, recipient: string): boolean {
  const folded = foldAddress(recipient);
  const local = named.includes('@') ? folded : folded.slice(0, folded.lastIndexOf('@'));
  return foldAddress(named) === local;
}

/**
 * Returns the first address that the words of a refusal name; null if they name the recipient or no
 * address. Ignores addresses for help, and `ours`, the addresses of the sender. If servers quote
 * each other, only the words of the last server count.
 */
function otherInWords(text: string, recipient: string, ours: readonly string[]): string | null {
  const words = lastServer(text.slice(0, maxCharacters));
  const own = ours.map(foldAddress);
  const named = [...words.matchAll(address)].flatMap(({ 0: found, index }) => {
    const email = parseAddress(found.replace(/(?<![.!?*])[.!?*]+$/, ''))?.email;
    if (email === undefined || role.test(email) || own.includes(foldAddress(email))) return [];
    const before = words.slice(Math.max(0, index - longestContact), index);
    return isRecipient(email, recipient) || !contact.test(before) ? [email] : [];
  });
  return named.some((one) => isRecipient(one, recipient)) ? null : (named[0] ?? null);
}

/**
 * A refusal: the words of the server, and the address that a report names as failed (null for an
 * SMTP reply).
 */
export interface Refusal {
  email: string | null;
  text: string;
}

/**
 * Returns the address behind the recipient that a refusal is about; null if it is about the
 * recipient. `ours` are the addresses of the sender.
 */
export function refusedBehind(
  { email, text }: Refusal,
  recipient: string,
  ours: readonly string[] = [],
): string | null {
  if (email !== null && !isRecipient(email, recipient)) return email;
  return otherInWords(text, recipient, ours);
}
