// All SQL on `erasures`: deleted resources with copies that are still to be erased. Rows only, no
// decisions.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface ErasureRow {
  /** Id of the deleted resource. */
  id: string;
  organization_id: string;
  kind: 'message' | 'resource' | 'mailbox' | 'campaign' | 'member' | 'words';
  /** JSON: former place of a deleted message, or the progress of the present pass. */
  about: string;
  /** Number of finished passes over the copies. */
  passes: number;
  /** Time of the next pass, ms since 1970. */
  due_at: number;
  created_at: number;
}

interface ErasureTables {
  erasures: ErasureRow;
}

const own = ownTables<ErasureTables>();

/** Makes requests due now that are dated after `latest`, because a clock ran ahead. */
export const bringErasuresToPresent = own.toPresent('erasures', 'due_at');

/** Stores a request. A request that exists for the resource starts again. */
export async function insertErasure(trx: Db, row: ErasureRow): Promise<void> {
  const { about, due_at } = row;
  await tables<ErasureTables>(trx)
    .insertInto('erasures')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ about, due_at, passes: 0 }))
    .execute();
}

/** Stores a request unless a request exists for this resource. */
export async function keepErasure(trx: Db, row: ErasureRow): Promise<void> {
  await tables<ErasureTables>(trx)
    .insertInto('erasures')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Returns the oldest due requests, without rows that a concurrent daemon has locked. */
export function lockDue(trx: Db, now: number, limit: number): Promise<ErasureRow[]> {
  return tables<ErasureTables>(trx)
    .selectFrom('erasures')
    .selectAll()
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute();
}

/** Returns the due time of the next request, ms since 1970; Infinity without requests. */
export async function nextDue(db: Db): Promise<number> {
  const row = await tables<ErasureTables>(db)
    .selectFrom('erasures')
    .select('due_at')
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? Number.POSITIVE_INFINITY;
}

export async function updateErasure(
  trx: Db,
  id: string,
  change: Pick<ErasureRow, 'about' | 'passes' | 'due_at'>,
): Promise<void> {
  await tables<ErasureTables>(trx)
    .updateTable('erasures')
    .set(change)
    .where('id', '=', id)
    .execute();
}

export async function deleteErasure(trx: Db, id: string): Promise<void> {
  await tables<ErasureTables>(trx).deleteFrom('erasures').where('id', '=', id).execute();
}
