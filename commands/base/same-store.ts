// Refuses a command whose store differs from the store of the data directory's daemon: the URL of
// the database may be set only for the daemon, in its unit.

import type { App } from '../../src/core/app.ts';
import type { LoadedConfig } from '../../src/core/config/config.ts';
import { UnreachableError } from '../../src/platform/errors.ts';
import { configFileInWords } from './store-place.ts';

/** @throws UnreachableError if a living daemon of `dataDir` works on a different store */
export async function refuseForeignStore(loaded: LoadedConfig): Promise<void> {
  const { findRunningDaemon } = await import('../../src/service/store-id.ts');
  const { describeLocation, storeLocation } = await import('../../src/platform/store/open.ts');
  const { dataDir, database } = loaded.config;
  const pidAt = async (url: string) => {
    const { readinessAt } = await import('../../src/service/status.ts');
    return (await readinessAt(url)).pid;
  };
  const daemon = await findRunningDaemon(dataDir, pidAt);
  const place = describeLocation(storeLocation(database.url, dataDir));
  if (!daemon || daemon.store === place) return;
  const own = await storeIdAt(loaded);
  if (own !== null && own === daemon.storeId) return;
  throw new UnreachableError(
    [
      `The daemon of ${dataDir} (pid ${daemon.pid}) works on the store ${daemon.store}, this command would work ` +
        `on ${place}.`,
      `Configuration file: ${configFileInWords(loaded)}.`,
      'Give both the same database.url: in the configuration, or as SVC_DATABASE_URL in secrets.env beside it.',
    ].join('\n'),
  );
}

/** Returns the identity of the store of a command; null if it cannot be read. */
async function storeIdAt({ config }: LoadedConfig): Promise<string | null> {
  const { openStore } = await import('../../src/platform/store/open.ts');
  const { systemClock } = await import('../../src/platform/runtime/clock.ts');
  const { storeIdOf } = await import('../../src/service/store-id.ts');
  const { database, dataDir } = config;
  const options = { mustExist: true, earlier: 'read' } as const;
  try {
    const store = await openStore(database, dataDir, systemClock, options);
    return await storeIdOf(store.db).finally(() => store.close());
  } catch {
    return null;
  }
}

/**
 * Returns a notice if the daemon at the configured address works on a different store. Null
 * otherwise, or without an answer. Such a daemon may belong to a different installation.
 */
export async function noticeOfForeignDaemon(app: App): Promise<string | null> {
  const { readiness } = await import('../../src/service/status.ts');
  const { storeIdOf } = await import('../../src/service/store-id.ts');
  const { storeId, url } = await readiness(app.config);
  const own = await storeIdOf(app.store.db);
  if (storeId === null || own === null || storeId === own) return null;
  return `The daemon at ${url} works on a different store (${storeId}; this store: ${own})`;
}
