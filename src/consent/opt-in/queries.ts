// All SQL on `group_confirmations`: contacts of double opt-in groups. Rows only, no decisions.
// Writers lock the contacts first, so that a row changes in a single transaction at a time.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** Statuses of members. A row with the status `removed` only keeps the number of mails. */
export const memberStatuses = ['pending', 'confirmed'] as const;
export type MemberStatus = (typeof memberStatuses)[number];

/** Reasons why a due mail waits; campaign runs have the same reasons. */
export const confirmationWaits = ['rate', 'daily-quota'] as const;
export type ConfirmationWait = (typeof confirmationWaits)[number];

export class ConfirmationRow {
  group_id!: string;
  contact_id!: string;
  organization_id!: string;
  status!: MemberStatus | 'removed';
  /** Number of mails with a link so far. */
  mails!: number;
  /** Time of the last mail. */
  mailed_at!: number | null;
  /** Expiry of the link in the last mail. */
  expires_at!: number | null;
  /** Time of the next mail; null if no mail is due. */
  due_at!: number | null;
  /** Time of the last confirmation, even if a removal ended it. */
  confirmed_at!: number | null;
  created_at!: number;
  /** Key that asked for the due mail; null for the operator, and for a person on a page. */
  key_id!: string | null;
  /** Reason why the due mail waits; null if it does not wait. */
  wait_reason!: ConfirmationWait | null;
  /**
   * Texts of the next mail as JSON, from the time of the request; null without a mail, and in rows
   * of earlier versions.
   */
  texts!: string | null;
}

interface ConfirmationTables {
  group_confirmations: ConfirmationRow;
}

const own = ownTables<ConfirmationTables>();

/** Makes mails due now that are dated after `latest`, because a clock ran ahead. */
export const bringConfirmationsToPresent = own.toPresent('group_confirmations', 'due_at');

/** Returns the contacts in `contactIds` with a row in the group that is not confirmed. */
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

/** Returns the SQL condition that a contact is in `pendingAmong`. */
export function isPending(groupId: string, contactId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from group_confirmations
    where group_id = ${groupId} and contact_id = ${contactId} and status <> 'confirmed')`;
}

/** Returns SQL for the contacts of `pendingAmong` in a range of ids. */
export function pendingIdsIn(
  groupId: string,
  { after, until }: { after: string; until: string },
): RawBuilder<unknown> {
  return sql`select contact_id as id from group_confirmations where group_id = ${groupId}
    and status <> 'confirmed' and contact_id > ${after} and contact_id <= ${until}`;
}

/** Finds the rows of these contacts in a group. */
export const findConfirmations = own.all((db, groupId: string, contactIds: readonly string[]) =>
  db
    .selectFrom('group_confirmations')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('contact_id', ...isOneOf(db, contactIds)),
);

/** Inserts rows, sorted by contact, for contacts that have no row in the group. */
export const insertConfirmations = own.bulkInsert('group_confirmations', ConfirmationRow);

/** Writes status, mails, times, key, wait and texts of a row. */
export const updateConfirmation = own.run((db, row: ConfirmationRow) =>
  db
    .updateTable('group_confirmations')
    .set({
      status: row.status,
      mails: row.mails,
      mailed_at: row.mailed_at,
      expires_at: row.expires_at,
      due_at: row.due_at,
      confirmed_at: row.confirmed_at,
      key_id: row.key_id,
      wait_reason: row.wait_reason,
      texts: row.texts,
    })
    .where('group_id', '=', row.group_id)
    .where('contact_id', '=', row.contact_id),
);

interface MembersPage {
  status?: MemberStatus;
  before?: string;
  within: RawBuilder<SqlBool> | undefined;
  limit: number;
}

/** Returns the next members of a group, the newest contact first. */
export async function selectMembers(
  db: Db,
  groupId: string,
  { status, before, within, limit }: MembersPage,
): Promise<ConfirmationRow[]> {
  let query = tables<ConfirmationTables>(db)
    .selectFrom('group_confirmations')
    .selectAll()
    .where('group_id', '=', groupId);
  query =
    status === undefined
      ? query.where('status', '<>', 'removed')
      : query.where('status', '=', status);
  if (before !== undefined) query = query.where('contact_id', '<', before);
  if (within !== undefined) {
    for (const condition of [...inTime(db), within]) query = query.where(condition);
  }
  return query.orderBy('contact_id', 'desc').limit(limit).execute();
}

/** Removes members from a group. Returns the number of removed members. */
export const removeMembers = own.change((db, groupId: string, contactIds: readonly string[]) =>
  db
    .updateTable('group_confirmations')
    .set({ status: 'removed', due_at: null })
    .where('group_id', '=', groupId)
    .where('contact_id', ...isOneOf(db, contactIds))
    .where('status', '<>', 'removed'),
);

/**
 * Deletes rows of a group that is being deleted, in the order of contacts. Returns their number.
 */
export const deleteConfirmations = own.change((db, groupId: string, limit: number) =>
  db
    .deleteFrom('group_confirmations')
    .where('group_id', '=', groupId)
    .where('contact_id', 'in', (from) =>
      from
        .selectFrom('group_confirmations')
        .select('contact_id')
        .where('group_id', '=', groupId)
        .orderBy('contact_id')
        .limit(limit),
    ),
);

export interface DueOrganization {
  organization_id: string;
  /** Due time of the first mail. */
  due_at: number;
}

/**
 * Returns the organizations with confirmations to mail, at most `limit` by id after `after`. Takes
 * two index reads for each organization, however many rows are due.
 */
export const findDueOrganizations = own.all((db, after: string, limit: number) => {
  const next = (id: unknown) => sql`(select organization_id from group_confirmations
    where due_at is not null and organization_id > ${id} order by organization_id limit 1)`;
  const due = sql<DueOrganization>`
    with recursive found (id, place) as (
      select ${next(after)}, 1
      union all
      select ${next(sql`found.id`)}, place + 1 from found
        where found.id is not null and place < ${limit})
    select found.id as organization_id, (select min(due_at) from group_confirmations
      where organization_id = found.id and due_at is not null) as due_at
    from found where found.id is not null`;
  return { compile: () => due.compile(db) };
});

/** Returns group and contact of the due confirmations of an organization, the first due first. */
export const findDue = own.all((db, organizationId: string, now: number, limit: number) =>
  db
    .selectFrom('group_confirmations')
    .select(['group_id', 'contact_id'])
    .where('organization_id', '=', organizationId)
    .where('due_at', '<=', now)
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(limit),
);
