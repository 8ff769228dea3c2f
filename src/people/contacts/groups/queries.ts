// All SQL on `contact_groups` and `contact_group_members`. Rows only, no decisions. The row of a
// group holds the number of members, which a change updates at the very end of the transaction.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RowOf } from '../../../core/api/field-table.ts';
import { amongOf, type Db, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { contactGroupFields } from './schema.ts';

export type ContactGroupRow = RowOf<typeof contactGroupFields> & { member_count: number };

class MemberRow {
  group_id!: string;
  contact_id!: string;
}

interface GroupTables {
  contact_groups: ContactGroupRow;
  contact_group_members: MemberRow;
}

const own = ownTables<GroupTables>();

export const contactGroups = own.rowsOf('contact_groups', 'contact-group');

/** Locks groups until the transaction ends. Contacts must be locked before groups. */
export const lockGroups = own.lockerOf('contact_groups');

const addCount = own.run((db, row: { id: string; count: number }) =>
  db
    .updateTable('contact_groups')
    .set(({ eb }) => ({ member_count: eb('member_count', '+', row.count) }))
    .where('id', '=', row.id),
);

const memberCounts = own.counterBy('contact_groups', ['id'], ['count'], addCount);

const memberIds = own.all((db, groupId: string, ids: readonly string[]) =>
  db
    .selectFrom('contact_group_members')
    .select('contact_id')
    .where('group_id', '=', groupId)
    .where('contact_id', ...isOneOf(db, ids)),
);

const insertMembers = own.bulkInsert('contact_group_members', MemberRow);

/** Adds the contacts that are missing from a locked group. Returns their number. */
export async function addMembers(
  db: Db,
  groupId: string,
  contactIds: readonly string[],
): Promise<number> {
  const there = await memberIds(db, groupId, contactIds);
  const known = new Set(there.map(({ contact_id }) => contact_id));
  const rows = contactIds
    .filter((id) => !known.has(id))
    .map((id) => ({ group_id: groupId, contact_id: id }));
  await insertMembers(
    db,
    rows.sort((a, b) => (a.contact_id < b.contact_id ? -1 : 1)),
  );
  memberCounts.add(db, { id: groupId }, { count: rows.length });
  return rows.length;
}

/** Removes contacts from a locked group. Returns how many were members. */
export async function removeMembers(
  db: Db,
  groupId: string,
  contactIds: readonly string[],
): Promise<number> {
  const removed = await tables<GroupTables>(db)
    .deleteFrom('contact_group_members')
    .where('group_id', '=', groupId)
    .where('contact_id', ...isOneOf(db, contactIds))
    .returning('contact_id')
    .execute();
  memberCounts.add(db, { id: groupId }, { count: -removed.length });
  return removed.length;
}

const deleteMemberships = own.all((db, contactId: string) =>
  db.deleteFrom('contact_group_members').where('contact_id', '=', contactId).returning('group_id'),
);

/** Removes a contact from all groups, before the contact is deleted. */
export async function leaveGroups(db: Db, contactId: string): Promise<void> {
  for (const { group_id } of await deleteMemberships(db, contactId)) {
    memberCounts.add(db, { id: group_id }, { count: -1 });
  }
}

/** Returns the ids of a page of members, the newest contact first. */
export async function selectMemberIds(
  db: Db,
  groupId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const rows = await tables<GroupTables>(db)
    .selectFrom('contact_group_members')
    .select('contact_id')
    .where('group_id', '=', groupId)
    .orderBy('contact_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(({ contact_id }) => contact_id);
}

/** Returns the ids among `contactIds` of members that were added to any of the groups by hand. */
export const membersAmong = own.all(
  (db, groupIds: readonly string[], contactIds: readonly string[]) =>
    db
      .selectFrom('contact_group_members')
      .select('contact_id')
      .where('group_id', ...isOneOf(db, groupIds))
      .where('contact_id', ...isOneOf(db, contactIds)),
  (rows) => rows.map(({ contact_id }) => contact_id),
);

/** Fragment of a larger query: the ids in a range of members that were added by hand. */
export function memberIdsIn(
  groupId: string,
  { after, until }: { after: string; until: string },
): RawBuilder<unknown> {
  return sql`select contact_id as id from contact_group_members where group_id = ${groupId}
    and contact_id > ${after} and contact_id <= ${until}`;
}

/** Fragment of a larger query: whether a contact was added by hand to any of the groups. */
export function isMember(
  db: Db,
  groupIds: readonly string[],
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  return sql`exists (select 1 from contact_group_members one
    where ${amongOf(db, 'one.group_id', groupIds)} and one.contact_id = ${contactId})`;
}

/** Finds groups by id, in no order. */
export const findGroups = own.all((db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('contact_groups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', ...isOneOf(db, ids)),
);
