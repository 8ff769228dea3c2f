// All SQL on `mailbox_hours`: counts of actions and events in a mailbox by hour, and over all time
// (hour -1). The hour comes from the id of the action or event. The transaction that stores an
// action or event also counts it.
import { sql } from 'kysely';
import { timeOfId } from '../../platform/runtime/ids.ts';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export const hourMs = 3_600_000;
const allTime = -1;

export interface HourRow {
  mailbox_id: string;
  hour: number;
  kind: 'action' | 'event';
  /** Type of the counted action or event. */
  name: string;
  /** State of the action; empty for an event. */
  state: string;
  count: number;
}

interface HourTables {
  mailbox_hours: HourRow;
}

const own = ownTables<HourTables>();

const counts = own.counter(
  'mailbox_hours',
  ['mailbox_id', 'hour', 'kind', 'name', 'state'],
  ['count'],
);

function note(trx: Db, id: string, { count, ...key }: Omit<HourRow, 'hour'>): void {
  const at = timeOfId(id);
  for (const hour of [allTime, at - (at % hourMs)]) counts.add(trx, { ...key, hour }, { count });
}

/** Counts an action that enters a state (`by` 1) or leaves it (-1). */
export function recordAction(
  trx: Db,
  { id, mailbox_id, type }: { id: string; mailbox_id: string; type: string },
  state: string,
  by: 1 | -1,
): void {
  note(trx, id, { mailbox_id, kind: 'action', name: type, state, count: by });
}

export function recordEvent(
  trx: Db,
  { id, subject, type }: { id: string; subject: string; type: string },
) {
  note(trx, id, { mailbox_id: subject, kind: 'event', name: type, state: '', count: 1 });
}

export type CountedRow = Pick<HourRow, 'kind' | 'name' | 'state' | 'count'>;

/**
 * Returns the sums of the hours from `from` to before `to` (ms since 1970), or of all time without
 * a range.
 */
export async function sumHours(
  db: Db,
  mailboxId: string,
  range: { from: number; to: number } | null,
): Promise<CountedRow[]> {
  const rows = await tables<HourTables>(db)
    .selectFrom('mailbox_hours')
    .select(['kind', 'name', 'state'])
    .select(sql<number | string>`sum(count)`.as('count'))
    .where('mailbox_id', '=', mailboxId)
    .$if(range === null, (query) => query.where('hour', '=', allTime))
    .$if(range !== null, (query) =>
      query.where('hour', '>=', range?.from ?? 0).where('hour', '<', range?.to ?? 0),
    )
    .groupBy(['kind', 'name', 'state'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Returns the number of actions by hour in a range, oldest first, without empty hours. */
export async function selectHours(
  db: Db,
  mailboxId: string,
  range: { from: number; to: number },
): Promise<Pick<HourRow, 'hour' | 'count'>[]> {
  const rows = await tables<HourTables>(db)
    .selectFrom('mailbox_hours')
    .select('hour')
    .select(sql<number | string>`sum(count)`.as('count'))
    .where('mailbox_id', '=', mailboxId)
    .where('hour', '>=', range.from)
    .where('hour', '<', range.to)
    .where('kind', '=', 'action')
    .groupBy('hour')
    .orderBy('hour')
    .execute();
  return rows.map(({ hour, count }) => ({ hour, count: Number(count) }));
}
