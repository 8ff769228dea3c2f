// Shared by commands that show the event log as it grows. src/history/events/follow.ts follows it.
import type { Following } from '../../../src/history/events/follow.ts';
import type { LogItem, TailLog } from '../../../src/history/events/schema.ts';
import type { Session } from '../asking.ts';
import { given } from '../input/body.ts';
import { keptAlive } from '../keep-alive.ts';

/** Filters of the shown events, and the start: a time, or the last event seen. */
interface Tailing {
  type?: string | undefined;
  subject?: string | undefined;
  /** ISO 8601. */
  after?: string | undefined;
  lastEventId?: string | undefined;
}

/**
 * Shows items from the start of `tailing`, then new items until the process ends.
 * @throws ValidationError
 */
export async function tailLog(
  { local, server }: Session,
  tailing: Tailing,
  show: (item: LogItem) => void,
): Promise<void> {
  const following = await followingOf(tailing);
  if (server) {
    const { eventsAt } = await import('../remote/events.ts');
    await keptAlive(async () => {
      for await (const item of eventsAt(server, tailing)) show(item);
    });
    return;
  }
  const { app, caller } = local;
  const { followLog } = await import('../../../src/history/events/follow.ts');
  const { presentEntry } = await import('../../../src/history/events/log.ts');
  const never = new AbortController().signal;
  await keptAlive(async () => {
    for await (const entry of await followLog(app, caller.organizationId, following, never)) {
      show(await presentEntry(app, caller, entry));
    }
  });
}

async function followingOf(tailing: Tailing): Promise<Following> {
  const { parseParts } = await import('../../../src/core/api/validate.ts');
  const { boundsOf } = await import('../../../src/platform/store/rows/time-range.ts');
  const { tailQuery } = await import('../../../src/history/events/schema.ts');
  const query = { schema: tailQuery, value: given({ ...tailing }) };
  const wanted = parseParts({ query }).query as TailLog;
  const { type: types, subject, lastEventId: after } = wanted;
  return { types, subject, since: boundsOf(wanted).from, after };
}

/** Joins values to a single line. Text from a remote side must not move the cursor. */
export function logLine(words: readonly unknown[]): string {
  return words.join('  ').replace(/\p{C}+/gu, ' ');
}
