// Events on anything but a message are kept for `retention.eventsDays`. The steps of a message are its timeline:
// they go when it is deleted.
import type { App } from '../../core/app.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { deleteResourceEvents, nextOrganization } from './queries.ts';

const dayMs = 24 * 3600_000;
const batch = 500;

/** For the scheduler, each day; in batches, one organization after another. Returns how many rows went. */
export async function sweepEvents({ config, store, clock }: App): Promise<number> {
  const before = firstIdAt('event', clock.now() - config.retention.eventsDays * dayMs);
  let gone = 0;
  for (let of = await nextOrganization(store.db, ''); of !== null; ) {
    const organizationId = of;
    const some = await store.write(
      (trx) => deleteResourceEvents(trx, organizationId, before, batch),
      'quiet',
    );
    gone += some;
    if (some < batch) of = await nextOrganization(store.db, organizationId);
  }
  return gone;
}
