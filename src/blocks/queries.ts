// All SQL on `blocks`. Rows only, no decisions. What makes or lifts blocks notes it for the counts.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import {
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import { mergedRanges } from '../store/merged-ranges.ts';
import { rowsOf } from '../store/rows.ts';
import { noteBlocks } from './count-queries.ts';
import { type BlockReason, blockReasons, reasonsByWeight } from './schema.ts';

export interface BlockRow {
  id: string;
  organization_id: string;
  /** In the normal form of src/net/address.ts, case as given. */
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

/** Hot: asked for every send. The blocks of all mail on these addresses: of each reason one. */
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

/** Hot: asked for every claim. For pairs of organization and folded address one such block, if any. */
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

const groupIdsAmong = statement(
  (db: Kysely<BlockTables>, parameter: ParameterOf<{ asked: string }>) => {
    const asked = parameter('asked');
    const listed =
      engineOf(db) === 'postgres'
        ? sql<{ value: string }>`json_array_elements(${asked}::json)`
        : sql<{ value: string }>`json_each(${asked})`;
    return db
      .selectFrom(listed.as('one'))
      .select(({ selectFrom }) =>
        selectFrom('blocks')
          .select('blocks.id')
          .whereRef('organization_id', '=', sql`one.value ->> 0`)
          .whereRef('folded_address', '=', sql`one.value ->> 1`)
          .whereRef('unsubscribe_group_id', '=', sql`one.value ->> 2`)
          .where('unsubscribe_group_id', 'is not', null)
          .limit(1)
          .as('id'),
      );
  },
);

/** Asked for mail of groups. The blocks of these groups on these addresses. */
export async function findGroupBlocksAmong(
  db: Db,
  asked: readonly (readonly [organizationId: string, foldedAddress: string, groupId: string])[],
): Promise<BlockRow[]> {
  const found = await groupIdsAmong(db, { asked: JSON.stringify(asked) });
  const ids = found.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return [];
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .selectAll()
    .where(isOneOf(db, 'id', idList(db, ids)))
    .execute();
}

const cases = (pairs: readonly (readonly [unknown, unknown])[]) =>
  sql.join(
    pairs.map(([from, to]) => sql`when ${sql.lit(from)} then ${sql.lit(to)}`),
    sql` `,
  );
const toWeight = cases(reasonsByWeight.map((reason, weight) => [reason, weight]));
const toReason = cases(reasonsByWeight.map((reason, weight) => [weight, reason]));

/**
 * Of a query on others: why an address gets no mail at all, the weightiest of its reasons; null where it gets
 * mail. Both are expressions.
 */
export function activeReasonOf(
  organizationId: unknown,
  foldedAddress: RawBuilder<unknown>,
): RawBuilder<BlockReason | null> {
  return sql<BlockReason | null>`(select case min(case reason ${toWeight} end) ${toReason} end
    from blocks where organization_id = ${organizationId}
    and folded_address = ${foldedAddress} and unsubscribe_group_id is null)`;
}

/** Of a query on others: id and address of the blocks of all mail for this reason. */
export function activeBlocksFor(organizationId: string, reason: BlockReason): RawBuilder<unknown> {
  return sql`select id, folded_address from blocks where organization_id = ${organizationId}
    and reason = ${reason} and unsubscribe_group_id is null`;
}

/** By an id; a page of them, and what makes or lifts one, is by hand. */
export const blocks = rowsOf<BlockRow>('blocks', 'block');

/**
 * The ids that match, as the ranges of indexes that hold them: for an address those of blocks of all
 * mail and of groups, else those of each reason.
 */
function rangesOf(
  organizationId: string,
  { reason, foldedAddress }: BlockFilter,
): RawBuilder<unknown>[] {
  const ofOwner = sql`select id from blocks where organization_id = ${organizationId}`;
  if (foldedAddress === undefined) {
    const reasons = reason === undefined ? blockReasons : [reason];
    return reasons.map((one) => sql`${ofOwner} and reason = ${one}`);
  }
  // Written so that no index by reason seems better: of one address there are few.
  const ofReason = reason === undefined ? sql`` : sql`and reason || '' = ${reason}`;
  const ofAddress = sql`${ofOwner} and folded_address = ${foldedAddress} ${ofReason}`;
  return [
    sql`${ofAddress} and unsubscribe_group_id is null`,
    sql`${ofAddress} and unsubscribe_group_id is not null`,
  ];
}

/** The first rows of the ranges, merged in this order. */
async function selectInOrder(
  db: Db,
  ranges: readonly RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  range: { limit: number; offset: number },
): Promise<BlockRow[]> {
  const page = mergedRanges(db, ranges, order, range);
  const { rows } = await sql<{ id: string }>`${page}`.execute(db);
  const ids = rows.map(({ id }) => id);
  const found = isOneOf(db, 'id', idList(db, ids));
  return (await sql<BlockRow>`select * from blocks where ${found} ${order}`.execute(db)).rows;
}

/** The latest first. What comes before the page is passed over in the index. */
export function selectBlocks(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  range: { limit: number; offset: number },
): Promise<BlockRow[]> {
  return selectInOrder(db, rangesOf(organizationId, filter), sql`order by id desc`, range);
}

/** The next after `afterId`, the oldest first: for walking over all of them. */
export function selectBlocksAfter(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  afterId: string,
  limit: number,
): Promise<BlockRow[]> {
  const ranges = rangesOf(organizationId, filter).map((one) => sql`${one} and id > ${afterId}`);
  return selectInOrder(db, ranges, sql`order by id`, { limit, offset: 0 });
}

/** How many blocks there are of an address: one for each reason, and one for each group. */
export async function countBlocksOf(
  db: Db,
  organizationId: string,
  filter: BlockFilter & { foldedAddress: string },
): Promise<number> {
  const found = sql.join(rangesOf(organizationId, filter), sql` union all `);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${found}) found`.execute(db);
  return rows[0]?.count ?? 0;
}

/** What is blocked. */
export type BlockedRow = Pick<BlockRow, 'folded_address' | 'unsubscribe_group_id'>;

/**
 * Inserts what is not there yet, of all mail by reason; returns what was inserted. Two that run at
 * once wait for each other on PostgreSQL: callers pass rows sorted by folded address.
 */
export async function insertBlocks(
  db: Db,
  rows: readonly BlockRow[],
): Promise<readonly BlockedRow[]> {
  const inserted = await tables<BlockTables>(db)
    .insertInto('blocks')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .returning(['organization_id', 'reason', 'folded_address', 'unsubscribe_group_id'])
    .execute();
  noteBlocks(db, inserted, 1);
  return inserted;
}

/** False when there is none. */
export async function deleteBlockRow(db: Db, organizationId: string, id: string): Promise<boolean> {
  const deleted = await tables<BlockTables>(db)
    .deleteFrom('blocks')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(['organization_id', 'reason'])
    .executeTakeFirst();
  if (!deleted) return false;
  noteBlocks(db, [deleted], -1);
  return true;
}
