// Failed sign-ins. A failure of a known person is recorded in the audit of each organization where
// the person is active: an entry for each hour and way, with a count. A failure of a stranger
// writes no audit, as a flood of failures would fill it: the log has a line a minute with counts.
import type { App } from '../../core/app.ts';
import { countAgain } from '../../history/audit/audit.ts';
import { byService, record } from '../../history/events/record.ts';
import { MinuteCounts } from '../../platform/runtime/mail-log.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { placesOf } from '../members/persons.ts';
import { findPersonByBinding, lockPersons } from '../members/queries.ts';

/** Way of a failed sign-in. */
type Way = 'pasted-key' | 'link' | 'passkey' | 'provider';

const hourMs = 3_600_000;
const action = 'member.sign-in-failed';

const ofStrangers = perApp((app: App) => new MinuteCounts<Way>(app, 'sign-ins failed'));

/** Counts a failed sign-in: in the audit of a known person, or in the log (`personId` null). */
export async function countFailure(app: App, way: Way, personId: string | null): Promise<void> {
  app.metrics.signInFailures.inc({ way });
  if (personId === null) return ofStrangers(app).add(way);
  await app.store.write(async (trx) => {
    await lockPersons(trx, [personId]);
    for (const { id, organization_id, status } of await placesOf(trx, personId)) {
      if (status !== 'active') continue;
      const failed = { organizationId: organization_id, action, resourceId: id } as const;
      if (await countAgain(app, trx, { ...failed, details: { way } }, hourMs)) continue;
      const change = { subject: id, action, details: { way, count: 1 } } as const;
      await record(app, trx, byService(organization_id), change);
    }
  }, 'quiet');
}

/** Counts a failed sign-in at the provider: for the bound person, else for a stranger. */
export async function countFailureOf(
  app: App,
  identity: { issuer: string; clientId: string; subject: string },
): Promise<void> {
  const person = await findPersonByBinding(app.store.db, identity);
  await countFailure(app, 'provider', person?.id ?? null);
}
