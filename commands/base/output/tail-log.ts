// Shared parts of the commands that follow the event log (src/history/events/follow.ts).
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { Following } from '../../../src/history/events/follow.ts';
import type { LogItem } from '../../../src/history/events/schema.ts';
import { keptAlive } from '../keep-alive.ts';

/** Shows new items until the process ends. */
export async function tailLog(
  app: App,
  caller: Caller,
  following: Following,
  show: (item: LogItem) => void,
): Promise<void> {
  const { followLog } = await import('../../../src/history/events/follow.ts');
  const { presentEntry } = await import('../../../src/history/events/log.ts');
  const never = new AbortController().signal;
  await keptAlive(async () => {
    for await (const entry of await followLog(app, caller.organizationId, following, never)) {
      show(await presentEntry(app, caller, entry));
    }
  });
}

/** Joins values to a single line. Removes characters by which remote text could move the cursor. */
export function logLine(words: readonly unknown[]): string {
  return words.join('  ').replace(/\p{C}+/gu, ' ');
}
