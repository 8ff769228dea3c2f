// All SQL on `thread_labels`. A row repeats the thread's last activity, so that a single index
// lists the threads of a label in order.
import { sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';

export interface LabelRow {
  thread_id: string;
  /** The label folded for comparison. */
  folded: string;
  label: string;
  mailbox_id: string;
  last_activity_at: number;
}

interface LabelTables {
  thread_labels: LabelRow;
}

const own = ownTables<LabelTables>();

/** Returns the labels of these threads, sorted by their folded form. */
export function findLabels(db: Db, threadIds: readonly string[]): Promise<LabelRow[]> {
  return tables<LabelTables>(db)
    .selectFrom('thread_labels')
    .selectAll()
    .where('thread_id', ...isOneOf(db, threadIds))
    .orderBy('thread_id')
    .orderBy('folded')
    .execute();
}

/** Inserts labels. A label that the thread already has keeps the old spelling. */
export async function insertLabels(db: Db, rows: readonly LabelRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<LabelTables>(db)
    .insertInto('thread_labels')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteLabels(
  db: Db,
  threadId: string,
  folded: readonly string[],
): Promise<void> {
  await tables<LabelTables>(db)
    .deleteFrom('thread_labels')
    .where('thread_id', '=', threadId)
    .where('folded', 'in', folded)
    .execute();
}

/** Adds the labels of a thread to the thread `to`. */
export async function copyLabels(db: Db, from: string, to: string): Promise<void> {
  await sql`insert into thread_labels (thread_id, folded, label, mailbox_id, last_activity_at)
    select ${to}, folded, label, mailbox_id, last_activity_at from thread_labels
    where thread_id = ${from} on conflict do nothing`.execute(db);
}

/** Returns the ids of the threads in `threadIds` that have any label. */
export const findLabelled = own.all(
  (db, threadIds: readonly string[]) =>
    db
      .selectFrom('thread_labels')
      .select('thread_id')
      .distinct()
      .where('thread_id', ...isOneOf(db, threadIds)),
  (rows) => new Set(rows.map(({ thread_id }) => thread_id)),
);

/** Sets the last activity in the label rows of the thread. */
export const moveLabels = own.run((db, threadId: string, at: number) =>
  db.updateTable('thread_labels').set({ last_activity_at: at }).where('thread_id', '=', threadId),
);
