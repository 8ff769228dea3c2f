// Agent activity (specification 4.4): counts of actions and events in a mailbox. Counters give
// whole hours; rows give the partial hours at both ends of a range. An event is counted when it is
// published.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { EventSink } from '../../history/events/hooks.ts';
import { countResourceEvents } from '../../history/events/queries.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { type CountedRow, hourMs, recordEvent, sumHours } from './hour-queries.ts';
import { countActions, countOpen } from './queries.ts';
import type { ActivityQuery, MailboxActivity } from './schema.ts';

/** Counts mailbox events in the transactions that publish them. */
export const mailboxCounter: EventSink = {
  resourcesOnly: true,
  wants: () => true,
  async take(_app, trx, events) {
    for (const event of events) {
      if (event.type.startsWith('mailbox.') && event.subject.startsWith('mbx_')) {
        recordEvent(trx, event);
      }
    }
  },
};

interface Span {
  from: number;
  to: number;
}

/** Splits a range into whole hours and the partial hours at both ends. */
function partsOf({ from, to }: Span): { hours: Span | null; cuts: Span[] } {
  const first = Math.ceil(from / hourMs) * hourMs;
  const last = Math.floor(to / hourMs) * hourMs;
  if (first >= last) return { hours: null, cuts: [{ from, to }] };
  const cuts = [
    { from, to: first },
    { from: last, to },
  ];
  return { hours: { from: first, to: last }, cuts: cuts.filter((cut) => cut.from < cut.to) };
}

async function countCut(
  app: App,
  organizationId: string,
  mailboxId: string,
  { from, to }: Span,
): Promise<CountedRow[]> {
  const { db } = app.store;
  const ids = (kind: 'mailboxAction' | 'event') =>
    [firstIdAt(kind, from), firstIdAt(kind, to)] as const;
  const actions = await countActions(db, organizationId, mailboxId, ...ids('mailboxAction'));
  const events = await countResourceEvents(db, organizationId, mailboxId, ...ids('event'));
  return [
    ...actions.map((row) => ({ ...row, kind: 'action' as const })),
    ...events.map((row) => ({ ...row, kind: 'event' as const, state: '' })),
  ];
}

function sumBy(rows: readonly CountedRow[], key: 'name' | 'state'): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row[key], (sums.get(row[key]) ?? 0) + row.count);
  return [...sums].filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Counts the actions and events of a mailbox from the start to before the end of the range; if the
 * range has neither, over all time.
 * @throws ResourceNotFoundError.
 */
export async function agentActivity(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  range: ActivityQuery,
): Promise<MailboxActivity> {
  const { db } = app.store;
  await getMailboxRow(db, organizationId, mailboxId);
  const rows: CountedRow[] = [];
  const { from: first, to: end } = boundsOf(range);
  if (first === undefined && end === undefined) rows.push(...(await sumHours(db, mailboxId, null)));
  else {
    const now = app.clock.now() + hourMs;
    const from = Math.min(first ?? 0, now);
    const to = Math.min(end ?? now, now);
    const { hours, cuts } = partsOf({ from: Math.max(0, from), to: Math.max(0, to) });
    if (hours) rows.push(...(await sumHours(db, mailboxId, hours)));
    for (const cut of cuts) rows.push(...(await countCut(app, organizationId, mailboxId, cut)));
  }
  const actions = rows.filter(({ kind }) => kind === 'action');
  const events = rows.filter(({ kind }) => kind === 'event');
  return {
    actions: {
      byType: sumBy(actions, 'name').map(([type, count]) => ({ type, count })),
      byState: sumBy(actions, 'state').map(([state, count]) => ({ state, count })),
    },
    events: { byType: sumBy(events, 'name').map(([type, count]) => ({ type, count })) },
    pendingApprovals: (await countOpen(db, mailboxId)).count,
  };
}
