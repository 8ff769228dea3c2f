// What a command says where it leaves work to a daemon and none runs.
import type { App } from '../../src/app.ts';

/**
 * The word, or null where a daemon runs, or nobody can tell: on PostgreSQL it may run anywhere. A
 * daemon that runs is never suspected.
 */
export async function wordOfNoDaemon({ config }: App): Promise<string | null> {
  const { isDaemonRunning, storeLocation } = await import('../../src/store/open.ts');
  const isRunning = isDaemonRunning(storeLocation(config.database.url, config.dataDir));
  return isRunning === false
    ? 'It is queued, but no daemon runs on this store: nothing is delivered before "svc daemon" does'
    : null;
}
