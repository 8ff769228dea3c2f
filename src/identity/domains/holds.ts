// Records the events of held domains. src/identity/reputation/domain-holds.ts holds domains by
// name, and does not know their rows.
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import type { NewHold } from '../reputation/domain-holds.ts';
import { getDomainRows, toDomain } from './domains.ts';
import { domainHeld } from './events.ts';
import { findSendingDomain } from './queries.ts';

/** Records an event for each newly held domain, in the same transaction. Skips deleted domains. */
export async function recordHolds(app: App, trx: Db, holds: readonly NewHold[]): Promise<void> {
  for (const { organizationId, domain, finding } of holds) {
    const found = await findSendingDomain(trx, organizationId, domain);
    if (!found) continue;
    const rows = await getDomainRows(app, trx, organizationId, found.id);
    const { of, count, attempted, limit } = finding;
    const event = eventToRecord(domainHeld, toDomain(app, rows), { of, count, attempted, limit });
    await record(app, trx, byService(organizationId), { subject: found.id, event });
  }
}
