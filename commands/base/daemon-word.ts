// The notice of commands that leave work to a daemon if none runs.
import type { Session } from './asking.ts';

/**
 * Returns the notice on `queued`; null if a daemon runs, as it does at a server, or if that cannot
 * be detected: on PostgreSQL it may run on any host.
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
