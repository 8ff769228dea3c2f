// All SQL on `group_confirmations`: contacts that were asked to confirm a group. Rows only, no decisions.
// Writers lock the contacts first, so that a row changes in one transaction at a time.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export class ConfirmationRow {
  group_id!: string;
  contact_id!: string;
  organization_id!: string;
  status!: 'pending' | 'confirmed' | 'removed';
  /** Mails with a link so far. */
  mails!: number;
  /** Time of the last mail. */
  mailed_at!: number | null;
  /** End of the link in the last mail. */
  expires_at!: number | null;
  /** Time of the next mail; null for none. */
  due_at!: number | null;
  confirmed_at!: number | null;
  created_at!: number;
}

interface ConfirmationTables {
  group_confirmations: ConfirmationRow;
}

const own = ownTables<ConfirmationTables>();

/** Returns the contacts, among these, whose consent to the mail of a group is still missing. */
export const pendingAmong = own.all(
  (db, groupId: string, contactIds: readonly string[]) =>
    db
      .selectFrom('group_confirmations')
      .select('contact_id')
      .where('group_id', '=', groupId)
      .where('contact_id', ...isOneOf(db, contactIds))
      .where('status', '<>', 'confirmed'),
  (rows) => new Set(rows.map(({ contact_id }) => contact_id)),
);

/** For queries on other tables: the condition of `pendingAmong` on one contact. */
export function isPending(groupId: string, contactId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from group_confirmations
    where group_id = ${groupId} and contact_id = ${contactId} and status <> 'confirmed')`;
}

/** For queries on other tables: the contacts of `pendingAmong` within a range of ids. */
export function pendingIdsIn(
  groupId: string,
  { after, until }: { after: string; until: string },
): RawBuilder<unknown> {
  return sql`select contact_id as id from group_confirmations where group_id = ${groupId}
    and status <> 'confirmed' and contact_id > ${after} and contact_id <= ${until}`;
}
