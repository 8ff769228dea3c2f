// Verifies addresses: a person clicked in mail to the address, or sent mail from it that passed
// DMARC. Marks the identities of contacts as verified. To save queries for organizations without
// contacts, the lack of contacts is cached for ten seconds, and the presence of contacts until the
// process ends.
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record } from '../../history/events/record.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import type { Db } from '../../platform/store/db.ts';
import { countOfTag } from './count-queries.ts';
import { contactUpdated } from './events.ts';
import { presentContact } from './present.ts';
import { findIdentitiesNamed, verifyIdentities } from './queries.ts';

/** Evidence that a person owns the address. */
export interface Proof {
  organizationId: string;
  address: string;
}

const askAgainMs = 10_000;
const mostKept = 10_000;

/**
 * Cache by organization: ms since 1970 until which the organization counts as without contacts; 0
 * for an organization with contacts.
 */
const keptOf = perApp((_app: App) => recentlyUsed<{ untilAt: number }>(mostKept));

async function hasContacts(app: App, db: Db, organizationId: string): Promise<boolean> {
  const kept = keptOf(app);
  const now = app.clock.now();
  const known = kept.get(organizationId);
  if (known && (known.untilAt === 0 || now < known.untilAt)) return known.untilAt === 0;
  const has = (await countOfTag(db, organizationId)) > 0;
  kept.set(organizationId, { untilAt: has ? 0 : now + askAgainMs });
  return has;
}

/**
 * Marks identities with these addresses, in the caller's transaction. Publishes an event for each
 * changed contact.
 */
export async function proveAddresses(app: App, trx: Db, proofs: readonly Proof[]): Promise<void> {
  const byOwner = Map.groupBy(proofs, ({ organizationId }) => organizationId);
  for (const [organizationId, own] of [...byOwner].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!(await hasContacts(app, trx, organizationId))) continue;
    const folded = [...new Set(own.map(({ address }) => foldAddress(address)))];
    const named = await findIdentitiesNamed(trx, organizationId, folded);
    const unproven = named.filter(({ verified_at }) => verified_at === null);
    if (unproven.length === 0) continue;
    for (const row of await verifyIdentities(trx, unproven, app.clock.now())) {
      const event = eventToRecord(contactUpdated, await presentContact(trx, row));
      await record(app, trx, byService(organizationId), { subject: row.id, event });
    }
  }
}
