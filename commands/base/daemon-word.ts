// Notice of a command that leaves work to a daemon, if no daemon runs.
import type { Session } from './asking.ts';

/**
 * Returns the notice that `queued` waits for a daemon. Null if a daemon runs, with a remote server,
 * and on PostgreSQL: a daemon may run on any host there.
 */
export async function wordOfNoDaemon(
  { local }: Session,
  queued = 'The mail',
): Promise<string | null> {
  if (!local) return null;
  const { config } = local.app;
  const { isDaemonRunning, storeLocation } = await import('../../src/platform/store/open.ts');
  const isRunning = isDaemonRunning(storeLocation(config.database.url, config.dataDir));
  return isRunning === false
    ? `${queued} is queued, but no daemon runs on this store: start "svc daemon"`
    : null;
}
