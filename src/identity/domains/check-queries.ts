// SQL on `domains` by the time of their next check. Rows only.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DomainRow, DomainTables } from './queries.ts';

const own = ownTables<DomainTables>();

/** Makes domains due now if their next check is after `latest`, as after the clock was set back. */
export const bringDomainsToPresent = own.toPresent('domains', 'next_check_at');

/** Returns the time of the earliest planned check of any domain, in ms since 1970; null if none. */
export async function nextCheckAt(db: Db): Promise<number | null> {
  const row = await tables<DomainTables>(db)
    .selectFrom('domains')
    .select('next_check_at')
    .where('next_check_at', 'is not', null)
    .orderBy('next_check_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_check_at ?? null;
}

/** Returns domains due for a check, of each organization in turn, the longest overdue first. */
export function selectDueDomains(db: Db, now: number, limit: number): Promise<DomainRow[]> {
  const due = tables<DomainTables>(db)
    .selectFrom('domains')
    // Selects no more columns: after an outage all domains are due, and are sorted here.
    .select(({ fn }) => [
      'id',
      fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('organization_id').orderBy('next_check_at').orderBy('id'))
        .as('turn'),
    ])
    .where('next_check_at', '<=', now)
    .as('due');
  return tables<DomainTables>(db)
    .selectFrom('domains')
    .innerJoin(due, 'due.id', 'domains.id')
    .selectAll('domains')
    .orderBy('due.turn')
    .orderBy('domains.next_check_at')
    .orderBy('domains.id')
    .limit(limit)
    .execute();
}

/** Postpones a due check. Returns false if a different process did so first. */
export async function deferCheck(
  db: Db,
  { id, next_check_at }: DomainRow,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tables<DomainTables>(db)
    .updateTable('domains')
    .set({ next_check_at: until })
    .where('id', '=', id)
    .where('next_check_at', '=', next_check_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
