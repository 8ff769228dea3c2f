// Whose mail a mailbox wants: its block list, and an allow list that, once it has an entry, lets nobody
// else in. Entries are addresses and domains; a domain stands for its subdomains too.
import { domainOf, foldAddress } from '../net/address.ts';
import type { MailboxFilters } from './schema.ts';

function isListed(list: readonly string[], sender: string): boolean {
  const domain = domainOf(sender);
  return list.some((entry) =>
    entry.includes('@')
      ? foldAddress(entry) === sender
      : domain === entry || domain.endsWith(`.${entry}`),
  );
}

/** Whether mail from this address, in the form of src/net/address.ts, is not wanted. */
export function isUnwanted({ allow, block }: MailboxFilters, from: string): boolean {
  const sender = foldAddress(from);
  if (isListed(block, sender)) return true;
  return allow.length > 0 && !isListed(allow, sender);
}
