// All SQL on `member_refusals`: refusals of addresses behind a recipient.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface MemberRefusalRow {
  organization_id: string;
  /** The folded address of the recipient, not the refused address behind it. */
  folded_address: string;
  delivery_id: string;
  refused_at: number;
}

interface MemberRefusalTables {
  member_refusals: MemberRefusalRow;
}

const own = ownTables<MemberRefusalTables>();

/** Inserts refusals. Skips a delivery that already has a row. */
export async function insertMemberRefusals(
  db: Db,
  rows: readonly MemberRefusalRow[],
): Promise<void> {
  await tables<MemberRefusalTables>(db)
    .insertInto('member_refusals')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the addresses among `foldedAddresses` with at least `least` refusals since `after`. */
export const selectRefused = own.all(
  (db, organizationId: string, foldedAddresses: readonly string[], after: number, least: number) =>
    db
      .selectFrom('member_refusals')
      .select('folded_address')
      .where('organization_id', '=', organizationId)
      .where('folded_address', ...isOneOf(db, foldedAddresses))
      .where('refused_at', '>', after)
      .groupBy('folded_address')
      .having(({ fn }) => fn.countAll(), '>=', least),
  (rows) => new Set(rows.map(({ folded_address }) => folded_address)),
);

/** Deletes up to `limit` refusals from before a time, oldest first. Returns their number. */
export async function deleteMemberRefusals(db: Db, before: number, limit: number): Promise<number> {
  const q = tables<MemberRefusalTables>(db);
  const old = await q
    .selectFrom('member_refusals')
    .select('delivery_id')
    .where('refused_at', '<', before)
    .orderBy('refused_at')
    .limit(limit)
    .execute();
  if (old.length === 0) return 0;
  const ids = old.map(({ delivery_id }) => delivery_id);
  await q
    .deleteFrom('member_refusals')
    .where('refused_at', '<', before)
    .where('delivery_id', ...isOneOf(db, ids))
    .execute();
  return old.length;
}
