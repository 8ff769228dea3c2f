// All SQL on `blocks`. Reads and writes rows, decides nothing. Statements that add or lift blocks
// also count them.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { amongOf, type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { mergedRanges } from '../../platform/store/rows/merged-ranges.ts';
import { recordBlocks } from './count-queries.ts';
import { type BlockReason, blockReasons, reasonsByWeight } from './schema.ts';

export interface BlockRow {
  id: string;
  organization_id: string;
  /** Address in the normal form of src/platform/net/address.ts, case as given. */
  address: string;
  folded_address: string;
  reason: BlockReason;
  /** Null for a block of all mail. */
  unsubscribe_group_id: string | null;
  message_id: string | null;
  created_at: number;
}

interface BlockTables {
  blocks: BlockRow;
}

const own = ownTables<BlockTables>();

export interface BlockFilter {
  reason?: BlockReason | undefined;
  foldedAddress?: string | undefined;
  /** Bounds of the time of creation, ms since 1970: `from` is included, `to` is not. */
  from?: number | undefined;
  to?: number | undefined;
}

export type ActiveBlockRow = Pick<BlockRow, 'id' | 'folded_address' | 'reason' | 'created_at'>;

/**
 * Finds the blocks of all mail on these addresses, a row for each reason. Hot: runs for every send.
 */
export const findActiveBlocks = own.all(
  (db, organizationId: string, foldedAddresses: readonly string[]) =>
    db
      .selectFrom('blocks')
      .select(['id', 'folded_address', 'reason', 'created_at'])
      .where('organization_id', '=', organizationId)
      .where('unsubscribe_group_id', 'is', null)
      .where('folded_address', ...isOneOf(db, foldedAddresses)),
);

const activeIdsAmong = own.all((db, pairs: string) => {
  const listed =
    engineOf(db) === 'postgres'
      ? sql<{ value: string }>`json_array_elements(${pairs}::json)`
      : sql<{ value: string }>`json_each(${pairs})`;
  // A subquery instead of a join: a single index look-up for each pair, in any query plan.
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
});

/**
 * Finds a block of all mail for each pair of organization and folded address; no row for a pair
 * without a block. Hot: every claim runs it.
 */
export async function findActiveBlocksAmong(
  db: Db,
  pairs: readonly (readonly [organizationId: string, foldedAddress: string])[],
): Promise<(ActiveBlockRow & Pick<BlockRow, 'organization_id'>)[]> {
  const found = await activeIdsAmong(db, JSON.stringify(pairs));
  const ids = found.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return [];
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .select(['id', 'organization_id', 'folded_address', 'reason', 'created_at'])
    .where('id', ...isOneOf(db, ids))
    .execute();
}

const groupIdsAmong = own.all((db, asked: string) => {
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
});

/** Finds the blocks of these groups on these addresses. Runs only for mail of groups. */
export async function findGroupBlocksAmong(
  db: Db,
  asked: readonly (readonly [organizationId: string, foldedAddress: string, groupId: string])[],
): Promise<BlockRow[]> {
  const found = await groupIdsAmong(db, JSON.stringify(asked));
  const ids = found.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return [];
  return tables<BlockTables>(db)
    .selectFrom('blocks')
    .selectAll()
    .where('id', ...isOneOf(db, ids))
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
 * Fragment of a larger query: the weightiest reason (`reasonsByWeight`) for which an address gets
 * no mail at all, or null. Both arguments may be SQL expressions.
 */
export function activeReasonOf(
  organizationId: unknown,
  foldedAddress: RawBuilder<unknown>,
): RawBuilder<BlockReason | null> {
  return sql<BlockReason | null>`(select case min(case reason ${toWeight} end) ${toReason} end
    from blocks where organization_id = ${organizationId}
    and folded_address = ${foldedAddress} and unsubscribe_group_id is null)`;
}

/**
 * Fragment of a larger query: whether an address has a block of the group, or of all mail if
 * `groupId` is null. `isUnsubscribe` selects blocks by unsubscribing, or all further blocks.
 */
export function hasBlock(
  organizationId: string,
  foldedAddress: RawBuilder<unknown>,
  { groupId, isUnsubscribe }: { groupId: string | null; isUnsubscribe: boolean },
): RawBuilder<SqlBool> {
  const ofGroup = groupId === null ? sql`is null` : sql`= ${groupId}`;
  const reason = isUnsubscribe ? sql`= 'unsubscribe'` : sql`<> 'unsubscribe'`;
  return sql`exists (select 1 from blocks where blocks.organization_id = ${organizationId}
    and blocks.folded_address = ${foldedAddress} and blocks.unsubscribe_group_id ${ofGroup}
    and blocks.reason ${reason})`;
}

/**
 * Fragment of a larger query: the addresses with a block of the group, or of all mail if `groupId`
 * is null, for any reason.
 */
export function blockedAddresses(
  organizationId: string,
  groupId: string | null,
): RawBuilder<unknown> {
  const ofGroup = groupId === null ? sql`is null` : sql`= ${groupId}`;
  return sql`select distinct folded_address from blocks where organization_id = ${organizationId}
    and unsubscribe_group_id ${ofGroup}`;
}

/** Fragment of a larger query: id and address of the blocks of all mail for this reason. */
export function activeBlocksFor(organizationId: string, reason: BlockReason): RawBuilder<unknown> {
  return sql`select id, folded_address from blocks where organization_id = ${organizationId}
    and reason = ${reason} and unsubscribe_group_id is null`;
}

/** Common operations by id. Pages, inserts and deletions are written by hand below. */
export const blocks = own.rowsOf('blocks', 'block');

/**
 * Returns queries for the matching ids, each a range of an index. With an address, the queries are
 * for blocks of all mail and for blocks of groups; without an address, for each reason.
 */
function rangesOf(
  db: Db,
  organizationId: string,
  { reason, foldedAddress, from, to }: BlockFilter,
): RawBuilder<unknown>[] {
  // The time in an id is never before `created_at`, so the index skips the rows before `from`.
  const isAfter =
    from === undefined
      ? sql``
      : sql`and id >= ${firstIdAt('block', Math.max(0, from))} and created_at >= ${from}`;
  const isBefore = to === undefined ? sql`` : sql`and created_at < ${to}`;
  const ofOwner = sql`
    select id from blocks where ${sql.join([...inTime(db), sql`organization_id = ${organizationId}`], sql` and `)}
    ${isAfter} ${isBefore}`;
  if (foldedAddress === undefined) {
    const reasons = reason === undefined ? blockReasons : [reason];
    return reasons.map((one) => sql`${ofOwner} and reason = ${one}`);
  }
  // An expression, so that no engine chooses the index of reasons: an address has few rows.
  const ofReason = reason === undefined ? sql`` : sql`and reason || '' = ${reason}`;
  const ofAddress = sql`${ofOwner} and folded_address = ${foldedAddress} ${ofReason}`;
  return [
    sql`${ofAddress} and unsubscribe_group_id is null`,
    sql`${ofAddress} and unsubscribe_group_id is not null`,
  ];
}

/** Returns the rows of a page over all ranges, merged in the order `order`. */
async function selectInOrder(
  db: Db,
  ranges: readonly RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  range: { limit: number; offset: number },
): Promise<BlockRow[]> {
  const page = mergedRanges(db, ranges, order, range);
  const { rows } = await sql<{ id: string }>`${page}`.execute(db);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const found = amongOf(db, 'id', ids);
  return (await sql<BlockRow>`select * from blocks where ${found} ${order}`.execute(db)).rows;
}

/** Returns a page, newest first. Rows before the page are skipped in the index. */
export function selectBlocks(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  range: { limit: number; offset: number },
): Promise<BlockRow[]> {
  return selectInOrder(db, rangesOf(db, organizationId, filter), sql`order by id desc`, range);
}

/** Returns the next rows after `afterId`, oldest first, for a walk over all blocks. */
export function selectBlocksAfter(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
  afterId: string,
  limit: number,
): Promise<BlockRow[]> {
  const ranges = rangesOf(db, organizationId, filter).map((one) => sql`${one} and id > ${afterId}`);
  return selectInOrder(db, ranges, sql`order by id`, { limit, offset: 0 });
}

/** Counts the blocks of an address or a time span; count-queries.ts counts by reason. */
export async function countBlocksOf(
  db: Db,
  organizationId: string,
  filter: BlockFilter,
): Promise<number> {
  const found = sql.join(rangesOf(db, organizationId, filter), sql` union all `);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${found}) found`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Address of a block, and the blocked group; null for all mail. */
export type BlockedRow = Pick<BlockRow, 'folded_address' | 'unsubscribe_group_id'>;

/**
 * Inserts the missing blocks and returns them. A block of all mail exists once for each reason.
 * Callers pass rows sorted by folded address: concurrent transactions would deadlock on PostgreSQL
 * in any other order.
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
  recordBlocks(db, inserted, 1);
  return inserted;
}

/** Deletes blocks. Returns the number of blocks that were there. */
export async function deleteBlockRows(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  const deleted = await tables<BlockTables>(db)
    .deleteFrom('blocks')
    // An expression, so that PostgreSQL chooses the index of ids.
    .where(sql<SqlBool>`organization_id || '' = ${organizationId}`)
    .where('id', ...isOneOf(db, ids))
    .returning(['organization_id', 'reason'])
    .execute();
  recordBlocks(db, deleted, -1);
  return deleted.length;
}

/** Deletes a block. Returns false if it is missing. */
export async function deleteBlockRow(db: Db, organizationId: string, id: string): Promise<boolean> {
  return (await deleteBlockRows(db, organizationId, [id])) > 0;
}
