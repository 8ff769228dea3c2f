// Retention of events on resources that are not messages: `retention.eventsDays`. Steps of a
// message are deleted with the message.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { nextOrganization } from './log-queries.ts';
import { deleteResourceEvents } from './queries.ts';

const dayMs = 24 * 3600_000;
const batch = 500;
const table = ['resource_events'] as const;

/**
 * Deletes old events in batches, organization by organization; for the scheduler, each day. Returns
 * the number of deleted events.
 */
export async function sweepEvents(app: App): Promise<number> {
  const { config, store } = app;
  const before = firstIdAt('event', await timeOfAge(app, config.retention.eventsDays * dayMs));
  let gone = 0;
  for (let of = await nextOrganization(store.db, table, ''); of !== null; ) {
    const organizationId = of;
    const some = await store.write(
      (trx) => deleteResourceEvents(trx, organizationId, before, batch),
      'quiet',
    );
    gone += some;
    if (some < batch) of = await nextOrganization(store.db, table, organizationId);
  }
  return gone;
}
