// All SQL on `blocks`. Rows only, no decisions.
import { type Kysely, sql } from 'kysely';
import {
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import type { BlockReason } from './schema.ts';

export interface BlockRow {
  id: string;
  organization_id: string;
  /** In the normal form of src/address.ts, case as given. */
  address: string;
  folded_address: string;
  reason: BlockReason;
  /** Null: a block of all mail. */
  unsubscribe_group_id: string | null;
  message_id: string | null;
  created_at: number;
}

interface BlockTables {
  blocks: BlockRow;
}

export interface BlockFilter {
  reason?: BlockReason | undefined;
  foldedAddress?: string | undefined;
}

export type ActiveBlockRow = Pick<BlockRow, 'id' | 'folded_address' | 'reason' | 'created_at'>;

const activeOf = statement(
  (
    db: Kysely<BlockTables>,
    parameter: ParameterOf<{ organizationId: string; addresses: unknown }>,
  ) =>
    db
      .selectFrom('blocks')
      .select(['id', 'folded_address', 'reason', 'created_at'])
      .where('organization_id', '=', parameter('organizationId'))
      .where('unsubscribe_group_id', 'is', null)
      .where(isOneOf(db, 'folded_address', parameter('addresses'))),
);

/** Hot: asked for every send. The blocks of all mail on these addresses. */
export function findActiveBlocks(
  db: Db,
  organizationId: string,
  foldedAddresses: readonly string[],
): Promise<ActiveBlockRow[]> {
  return activeOf(db, { organizationId, addresses: idList(db, foldedAddresses) });
}

const activeIdsAmong = statement(
  (db: Kysely<BlockTables>, parameter: ParameterOf<{ pairs: string }>) => {
    const pairs = parameter('pairs');
    const listed =
      engineOf(db) === 'postgres'
        ? sql<{ value: string }>`json_array_elements(${pairs}::json)`
        : sql<{ value: string }>`json_each(${pairs})`;
    // Not a join: one look into the index for each pair, whatever the planner thinks of the table.
    return db
      .selectFrom(listed.as('pair'))
      .select(({ selectFrom }) =>
        selectFrom('blocks')
          .select('blocks.id')
          .whereRef('organization_id', '=', sql`pair.value ->> 0`)
          .whereRef('folded_address', '=', sql`pair.value ->> 1`)
          .where('unsubscribe_group_id', 'is', null)
          .limit(1)
          .as('id'),
      );
  },
);

/** Hot: asked for every claim. The same for pairs of organization and folded address. */
export async function findActiveBlocksAmong(
  db: Db,
  pairs: readonly (readonly [organizationId: string, foldedAddress: string])[],
): Promise<(ActiveBlockRow & Pick<BlockRow, 'organization_id'>)[]> {
  const found = await activeIdsAmong(db, { pairs: JSON.stringify(pairs) });
  const ids = found.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return [];
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .select(['id', 'organization_id', 'folded_address', 'reason', 'created_at'])
    .where(isOneOf(db, 'id', idList(db, ids)))
    .execute();
}

export function findBlock(
  db: Db,
  organizationId: string,
  id: string,
): Promise<BlockRow | undefined> {
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

function filtered(db: Db, organizationId: string, { reason, foldedAddress }: BlockFilter) {
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .where('organization_id', '=', organizationId)
    .$if(reason !== undefined, (q) => q.where('reason', '=', reason ?? 'manual'))
    .$if(foldedAddress !== undefined, (q) => q.where('folded_address', '=', foldedAddress ?? ''));
}

/** The latest first. */
export function selectBlocks(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  range: { limit: number; offset: number },
): Promise<BlockRow[]> {
  return filtered(db, organizationId, filter)
    .selectAll()
    .orderBy('id', 'desc')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

/** The next after `afterId`, the oldest first: for walking over all of them. */
export function selectBlocksAfter(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  afterId: string,
  limit: number,
): Promise<BlockRow[]> {
  return filtered(db, organizationId, filter)
    .selectAll()
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function countBlocks(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
): Promise<number> {
  const { count } = await filtered(db, organizationId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Inserts what is not there yet; returns the folded addresses of what was inserted. Two that run at
 * once wait for each other on PostgreSQL: callers pass rows sorted by folded address.
 */
export async function insertBlocks(db: Db, rows: readonly BlockRow[]): Promise<string[]> {
  const inserted = await tables<BlockTables>(db)
    .insertInto('blocks')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .returning('folded_address')
    .execute();
  return inserted.map((row) => row.folded_address);
}

/** False when there is none. */
export async function deleteBlockRow(db: Db, organizationId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tables<BlockTables>(db)
    .deleteFrom('blocks')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
