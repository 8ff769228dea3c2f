// Tells that sending from a domain is held. What holds one is
// src/usage/domain-holds.ts, which knows names and no domains.
import type { App } from '../app.ts';
import { byService, record, told } from '../events/record.ts';
import type { Db } from '../store/db.ts';
import type { NewHold } from '../usage/domain-holds.ts';
import { getDomainRows, toDomain } from './domains.ts';
import { domainHeld } from './events.ts';
import { findSendingDomain } from './queries.ts';

/** In the transaction that holds them. A name that is no domain any more is told of by nobody. */
export async function tellHolds(app: App, trx: Db, holds: readonly NewHold[]): Promise<void> {
  for (const { organizationId, domain, finding } of holds) {
    const found = await findSendingDomain(trx, organizationId, domain);
    if (!found) continue;
    const rows = await getDomainRows(app, trx, organizationId, found.id);
    const { of, count, attempted, limit } = finding;
    const event = told(domainHeld, toDomain(app, rows), { of, count, attempted, limit });
    await record(app, trx, byService(organizationId), { subject: found.id, event });
  }
}
