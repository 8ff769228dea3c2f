// All SQL on `unsealed_events`, the list of recorded events that wait for their seal. The rows of a
// transaction appear with the commit, so seals follow the order of commits, not of times or ids.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** Most event ids in a row of the table. */
const mostEach = 256;

class UnsealedRow {
  organization_id!: string;
  first_id!: string;
  ids!: string;
}

interface UnsealedTables {
  unsealed_events: UnsealedRow;
}

const own = ownTables<UnsealedTables>();

const insertRows = own.bulkInsert('unsealed_events', UnsealedRow);

interface RecordedEvent {
  id: string;
  organization_id: string;
}

/** Adds events of this transaction to the list of events that wait for their seal. */
export async function insertUnsealed(db: Db, events: readonly RecordedEvent[]): Promise<void> {
  const rows: UnsealedRow[] = [];
  for (const [organization_id, some] of Map.groupBy(events, (event) => event.organization_id)) {
    for (let at = 0; at < some.length; at += mostEach) {
      const ids = some.slice(at, at + mostEach).map(({ id }) => id);
      rows.push({ organization_id, first_id: ids[0] ?? '', ids: ids.join(' ') });
    }
  }
  if (rows.length > 0) await insertRows(db, rows);
}

/** Row of the table: ids of at most 256 events that a transaction recorded. */
export interface Unsealed {
  firstId: string;
  ids: string[];
}

const selectRows = own.all((db, organizationId: string, after: string, limit: number) =>
  db
    .selectFrom('unsealed_events')
    .select(['first_id', 'ids'])
    .where('organization_id', '=', organizationId)
    .where('first_id', '>', after)
    .orderBy('first_id')
    .limit(limit),
);

/** Returns up to `limit` rows of unsealed events with a first id after `after`, in order. */
export async function selectUnsealed(
  db: Db,
  organizationId: string,
  after: string,
  limit: number,
): Promise<Unsealed[]> {
  const rows = await selectRows(db, organizationId, after, limit);
  return rows.map(({ first_id, ids }) => ({ firstId: first_id, ids: ids.split(' ') }));
}

/** Deletes the rows with these first ids. Returns the number of deleted rows. */
export async function deleteUnsealed(
  db: Db,
  organizationId: string,
  firstIds: readonly string[],
): Promise<number> {
  const { numDeletedRows } = await tables<UnsealedTables>(db)
    .deleteFrom('unsealed_events')
    .where('organization_id', '=', organizationId)
    .where('first_id', ...isOneOf(db, firstIds))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Returns the first organization after this id that has unsealed events; undefined at the end. */
export const nextUnsealed = own.first(
  (db, after: string) =>
    db
      .selectFrom('unsealed_events')
      .select('organization_id')
      .where('organization_id', '>', after)
      .orderBy('organization_id')
      .limit(1),
  (row) => row?.organization_id,
);
