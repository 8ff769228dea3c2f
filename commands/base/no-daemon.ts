// A look for daemons of a store on PostgreSQL, for commands that must be alone with it.
import { ConflictError } from '../../src/platform/errors.ts';
import type { DatabaseSettings } from '../../src/platform/store/postgres/settings.ts';

/** Time in which a daemon on PostgreSQL shows itself: it beats each second. */
const watchMs = 2_500;

/** @throws ConflictError if a daemon writes heartbeats into the store */
export async function refuseDaemons(database: DatabaseSettings): Promise<void> {
  const { openStore } = await import('../../src/platform/store/open.ts');
  const { sleep, systemClock } = await import('../../src/platform/runtime/clock.ts');
  const { selectDaemons } = await import('../../src/access/admission/queries.ts');
  const store = await openStore(database, '', systemClock, { mustExist: true });
  try {
    const before = new Map((await selectDaemons(store.db)).map(({ id, beats }) => [id, beats]));
    if (before.size === 0) return;
    await sleep(systemClock, watchMs);
    const alive = (await selectDaemons(store.db)).some(({ id, beats }) => before.get(id) !== beats);
    if (alive)
      throw new ConflictError('store', 'A daemon runs on the store: stop all daemons first');
  } finally {
    await store.close();
  }
}
