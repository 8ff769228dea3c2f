// The report of a rehearsal: the days, and the fate of each recipient. Read from the copy once all
// days are played.
import type { App } from '../../core/app.ts';
import {
  type LedgerRow,
  selectHeldBack,
  selectLedger,
  selectScheduledLast,
} from '../../outbound/deliveries/ledger-queries.ts';
import { findSubjects } from '../../outbound/messages/queries.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { selectWaitingRuns } from '../../run-ledger/walk-queries.ts';
import type { LedgerEntry, RehearsedDay, RehearsedLimit } from './schema.ts';

const rowsAtOnce = 5_000;
const dayMs = 86_400_000;

/** Names of the limits in the report, by the first word of a lane that holds mail back. */
const stopNames: Readonly<Record<string, string>> = {
  held: 'hold',
  paused: 'pause',
  quota: 'daily-quota',
  share: 'rate',
  run: 'campaign-paused',
};
/** Limits that only a person ends. */
const endless: readonly string[] = ['hold', 'pause', 'campaign-paused'];

/**
 * Returns the limits that hold mail or campaign runs back at this moment: each kind once, with the
 * latest end.
 */
export async function limitsNow({ store, clock }: App): Promise<RehearsedLimit[]> {
  const found = new Map<string, number | null>();
  const add = (kind: string, until: number | null) => {
    const before = found.get(kind) ?? null;
    const isLater = before === null || (until !== null && until > before);
    found.set(kind, isLater ? until : before);
  };
  for (const { kind, until } of await selectHeldBack(store.db)) {
    const name = stopNames[kind] ?? kind;
    add(name, endless.includes(name) ? null : until);
  }
  for (const run of await selectWaitingRuns(store.db)) {
    if (run.status === 'held') add(run.hold_reason ?? 'hold', null);
    else if (run.wait_reason !== null) add(run.wait_reason, run.next_dispatch_at);
  }
  const quietUntil = await findQuietEnd(store.db);
  if (quietUntil !== null && quietUntil > clock.now()) add('quiet-hours', quietUntil);
  return [...found].map(([kind, until]) => ({ kind, until: isoTime(until) }));
}

/**
 * Returns the latest end of quiet hours for which mail of campaigns waits; null if no such mail
 * waits.
 */
async function findQuietEnd(db: Db): Promise<number | null> {
  const scheduled = await selectScheduledLast(db, rowsAtOnce);
  const messages = await findSubjects(
    db,
    scheduled.map(({ message_id }) => message_id),
  );
  const isOfRun = ({ message_id }: { message_id: string }) =>
    messages.get(message_id)?.campaign_run_id != null;
  return scheduled.find(isOfRun)?.due_at ?? null;
}

/** Adds the limits of a check to the limits of a day; a kind keeps the latest end. */
export function mergeLimits(day: RehearsedLimit[], seen: readonly RehearsedLimit[]): void {
  for (const limit of seen) {
    const known = day.find(({ kind }) => kind === limit.kind);
    if (!known) day.push({ ...limit });
    else if ((limit.until ?? '') > (known.until ?? '')) known.until = limit.until;
  }
}

/** Returns the first instant of the day (UTC) after `ms`. */
export function nextDay(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}

/**
 * Returns the fates of recipients that were accepted or ended from `from` to before `to`, or that
 * wait at `to`. Sorted by time. Also counts them into `days`.
 */
export async function readLedger(
  db: Db,
  { from, to }: { from: number; to: number },
  days: readonly RehearsedDay[],
): Promise<LedgerEntry[]> {
  const dayOf = new Map(days.map((day) => [day.date, day]));
  const ends = days.map((day) => ({ day, end: Math.min(to, nextDay(Date.parse(day.date))) }));
  const entries: { at: number; id: string; entry: LedgerEntry }[] = [];
  for (let after = ''; ; ) {
    const rows = await selectLedger(db, { from, after, limit: rowsAtOnce });
    const messages = await findSubjects(
      db,
      rows.map(({ message_id }) => message_id),
    );
    for (const row of rows) {
      const { at, entry } = entryOf(row, messages.get(row.message_id)?.subject ?? '', to);
      entries.push({ at: at ?? Number.POSITIVE_INFINITY, id: row.id, entry });
      count(row, { from, dayOf, ends });
    }
    after = rows.at(-1)?.id ?? after;
    if (rows.length < rowsAtOnce) break;
  }
  entries.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return entries.map(({ entry }) => entry);
}

function entryOf(
  row: LedgerRow,
  subject: string,
  to: number,
): { at: number | null; entry: LedgerEntry } {
  const { organization_id: organizationId, email: recipient, status } = row;
  const endedAt = row.terminal_at ?? (status === 'sent' ? row.sent_at : null);
  const isOver = endedAt !== null && endedAt < to;
  const at = isOver ? endedAt : row.due_at;
  const outcome = isOver ? status : 'waiting';
  const reason = row.error_message ?? (isOver ? null : row.wait_reason);
  const entry = { at: isoTime(at), organizationId, recipient, subject };
  return { at, entry: { ...entry, outcome, reason } };
}

function count(
  row: LedgerRow,
  {
    from,
    dayOf,
    ends,
  }: {
    from: number;
    dayOf: ReadonlyMap<string, RehearsedDay>;
    /** Days, each with the time at which the day or the rehearsal ends. */
    ends: readonly { day: RehearsedDay; end: number }[];
  },
): void {
  const endedAt = row.terminal_at ?? row.sent_at;
  const accepted = row.created_at >= from ? dayOf.get(dateOf(row.created_at)) : undefined;
  if (accepted) accepted.accepted += 1;
  const ended = endedAt !== null && endedAt >= from ? dayOf.get(dateOf(endedAt)) : undefined;
  if (ended && row.status === 'bounced') ended.bounced += 1;
  else if (ended && row.status !== 'failed') ended.delivered += 1;
  for (const { day, end } of ends) {
    if (row.created_at < end && (endedAt === null || endedAt >= end)) day.waiting += 1;
  }
}

/** Returns the UTC date of a time, such as `2026-03-02`. */
export function dateOf(ms: number): string {
  return isoTime(ms).slice(0, 10);
}
