// The look-up of the mailboxes that receive mail for an address (specification 2.5): by the whole
// address, without the subaddress, and by the catch-all of the domain.
import type { App } from '../../core/app.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupReads } from '../../platform/store/group.ts';
import { type Standing, standingOf } from '../domains/owners.ts';
import * as queries from './queries.ts';

/** Most addresses of a shared look-up. */
const mostTogether = 64;

/** A mailbox that receives mail, or is paused. */
type Receiver = Pick<queries.ReceiverRow, 'id' | 'organization_id' | 'status'>;

/**
 * Receivers of an address: the mailbox with this address, and the catch-all of the domain. Both are
 * undefined unless they belong to the owner of the domain. `domain` tells the owner (owners.ts).
 */
export interface Receivers {
  own: Receiver | undefined;
  catchAll: Receiver | undefined;
  domain: Standing;
}

/** Returns `desk@example.com` for `desk+x@example.com`. Leaves an address without `+` unchanged. */
export function withoutSubaddress(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+');
  return plus > 0 && plus < at && !address.startsWith('"')
    ? address.slice(0, plus) + address.slice(at)
    : address;
}

/** Returns the receivers of an address, including paused mailboxes. */
export async function findReceivers(db: Db, address: string): Promise<Receivers> {
  const [found] = await findReceiversOf(db, [address]);
  return found ?? { own: undefined, catchAll: undefined, domain: { state: 'unowned' } };
}

/** Returns the receivers of several addresses, in order. Hot path: always a single look-up. */
export async function findReceiversOf(db: Db, addresses: readonly string[]): Promise<Receivers[]> {
  const wanted = addresses.map((address) => {
    const folded = foldAddress(address);
    const domain = folded.slice(folded.lastIndexOf('@') + 1);
    return { folded, base: withoutSubaddress(folded), domain };
  });
  const rows = await queries.selectReceivers(db, {
    addresses: [...new Set(wanted.flatMap(({ folded, base }) => [folded, base]))],
    domains: [...new Set(wanted.map(({ domain }) => domain))],
  });
  const { mailbox = [], registration = [] } = Object.groupBy(rows, ({ kind }) => kind);
  const byName = new Map(mailbox.map((row) => [row.matched, row]));
  const registrations = Map.groupBy(registration, ({ matched }) => matched);
  return wanted.map(({ folded, base, domain: name }) => {
    const domain = standingOf(registrations.get(name) ?? []);
    const ownerId = domain.state === 'owned' ? domain.owner.id : null;
    const [own, catchAll] = [byName.get(folded) ?? byName.get(base), byName.get(name)].map((row) =>
      ownerId !== null && row?.domain_id === ownerId ? row : undefined,
    );
    return { own, catchAll, domain };
  });
}

/** Returns the receivers of an address. Concurrent callers share a look-up. */
export const receiversOf = perApp(({ store }: App) =>
  groupReads(mostTogether, (emails: readonly string[]) => findReceiversOf(store.db, emails)),
);

/**
 * Tells whether mail for the address stays on this machine: a mailbox here receives the mail, or
 * the next owner of the domain is not known yet.
 */
export async function isLocalAddress(db: Db, address: string): Promise<boolean> {
  const { own, catchAll, domain } = await findReceivers(db, address);
  return (own ?? catchAll) !== undefined || domain.state === 'disputed';
}
