// Since when this store has threads: mail from before is put into them, and nobody is told of it.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { migrationStatus } from '../store/migrate.ts';

const threadsSince = perApp(async ({ store }: App): Promise<number> => {
  const all = await migrationStatus(store.db);
  return all.find(({ name }) => name === '0032-threads')?.appliedAt ?? 0;
});

/** Whether something of this time (ms since 1970) was there before there were threads. */
export async function isFromBefore(app: App, at: number): Promise<boolean> {
  return at < (await threadsSince(app));
}
