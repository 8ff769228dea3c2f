// The notice of a command that leaves work to a daemon while no daemon runs.
import type { App } from '../../src/core/app.ts';

/**
 * Returns the notice about `queued`. Returns null if a daemon runs, or if that cannot be detected:
 * on PostgreSQL it may run on any host.
 */
export async function wordOfNoDaemon({ config }: App, queued = 'The mail'): Promise<string | null> {
  const { isDaemonRunning, storeLocation } = await import('../../src/platform/store/open.ts');
  const isRunning = isDaemonRunning(storeLocation(config.database.url, config.dataDir));
  return isRunning === false
    ? `${queued} is queued, but no daemon runs on this store: start "svc daemon"`
    : null;
}
