// All SQL on `erasures`: deleted resources whose copies are still to be erased. Rows only, no decisions.
import { type Db, engineOf, tables } from '../store/db.ts';

export interface ErasureRow {
  /** Of the deleted resource. */
  id: string;
  organization_id: string;
  kind: 'message' | 'resource' | 'mailbox' | 'words';
  /** JSON: where its copies are. */
  about: string;
  /** Passes over the copies that have ended. */
  passes: number;
  /** Of the next pass, ms since 1970. */
  due_at: number;
  created_at: number;
}

interface ErasureTables {
  erasures: ErasureRow;
}

/** Stores a request; one that is there already begins anew. */
export async function insertErasure(trx: Db, row: ErasureRow): Promise<void> {
  const { about, due_at } = row;
  await tables<ErasureTables>(trx)
    .insertInto('erasures')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ about, due_at, passes: 0 }))
    .execute();
}

/** Stores a request unless there is one. */
export async function keepErasure(trx: Db, row: ErasureRow): Promise<void> {
  await tables<ErasureTables>(trx)
    .insertInto('erasures')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Due requests, the oldest; rows that another daemon holds are skipped. */
export function takeDue(trx: Db, now: number, limit: number): Promise<ErasureRow[]> {
  return tables<ErasureTables>(trx)
    .selectFrom('erasures')
    .selectAll()
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute();
}

/** When the next request is due, in ms since 1970; Infinity without one. */
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
