// The From addresses allowed for a mailbox: the mailbox's addresses and default From. A catch-all
// allows no further address: a key bound to the mailbox could otherwise write as any address of the
// domain. A proposal keeps the From that it was made with (frozen.ts).

import type { MailboxAddressRow, MailboxRow } from '../../identity/mailboxes/queries.ts';
import { withoutSubaddress } from '../../identity/mailboxes/receivers.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Mail } from './mail.ts';

/** Returns the row of the address to which mail for `email` is delivered; else undefined. */
export function ownAddressOf(addresses: readonly MailboxAddressRow[], email: string) {
  const folded = foldAddress(email);
  const base = withoutSubaddress(folded);
  return addresses.find(({ address }) => address === folded || address === base);
}

export function defaultFrom(row: MailboxRow): Mail['from'] {
  return row.default_from === null
    ? { email: row.primary_address, name: row.display_name }
    : { email: row.default_from, name: row.default_from_name };
}

/**
 * Returns the refusal of a From that is neither an address of the mailbox nor the default From;
 * null if the From is allowed.
 */
export function beyondMailbox(
  mailbox: MailboxRow,
  addresses: readonly MailboxAddressRow[],
  { email }: Mail['from'],
): ForbiddenError | null {
  const folded = foldAddress(email);
  const isDefault = mailbox.default_from !== null && foldAddress(mailbox.default_from) === folded;
  if (isDefault || addresses.some(({ address }) => address === folded)) return null;
  return new ForbiddenError(
    `${email} is no address of ${mailbox.id}: mail leaves it from its addresses and its ` +
      `defaultFrom alone (svc mailboxes show ${mailbox.id})`,
  );
}
