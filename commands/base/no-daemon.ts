// Detects daemons on a store in PostgreSQL, for commands during which no daemon may run.
import type { Config } from '../../src/core/config/config.ts';
import { ConflictError } from '../../src/platform/errors.ts';

/** Time to watch for a daemon on PostgreSQL: daemons write a heartbeat each second. */
const watchMs = 2_500;

/**
 * Returns true if a daemon writes heartbeats into the store, or if a daemon with a virtual clock
 * answers.
 */
export async function isDaemonAlive(config: Config): Promise<boolean> {
  const { readClockFile } = await import('../../src/service/virtual-clock/clock-file.ts');
  const { readinessAt } = await import('../../src/service/status.ts');
  const url = readClockFile(config.dataDir)?.url;
  return url && (await readinessAt(url)).pid !== null ? true : hasHeartbeats(config);
}

async function hasHeartbeats({ database }: Config): Promise<boolean> {
  const { openStore } = await import('../../src/platform/store/open.ts');
  const { sleep, systemClock } = await import('../../src/platform/runtime/clock.ts');
  const { selectDaemons } = await import('../../src/access/admission/queries.ts');
  const options = { mustExist: true, earlier: 'read' } as const;
  const store = await openStore(database, '', systemClock, options);
  try {
    const before = new Map((await selectDaemons(store.db)).map(({ id, beats }) => [id, beats]));
    if (before.size === 0) return false;
    await sleep(systemClock, watchMs);
    return (await selectDaemons(store.db)).some(({ id, beats }) => before.get(id) !== beats);
  } finally {
    await store.close();
  }
}

/** @throws ConflictError if a daemon runs on the store */
export async function refuseDaemons(config: Config): Promise<void> {
  if (!(await isDaemonAlive(config))) return;
  throw new ConflictError('store', 'A daemon runs on the store: stop all daemons first');
}
