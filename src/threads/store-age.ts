// The time since which this store has threads. Earlier mail is put into threads without events.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { migrationStatus } from '../store/migrate.ts';

const threadsSince = perApp(async ({ store }: App): Promise<number> => {
  const all = await migrationStatus(store.db);
  return all.find(({ name }) => name === '0032-threads')?.appliedAt ?? 0;
});

/** Returns whether this time (ms since 1970) is before the store had threads. */
export async function isFromBefore(app: App, at: number): Promise<boolean> {
  return at < (await threadsSince(app));
}
