// All SQL on `persons` and `members`. Rows only, no decisions.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface PersonRow {
  id: string;
  /** Normal form of address.ts. */
  email: string;
  created_at: number;
  last_signed_in_at: number | null;
  oidc_issuer: string | null;
  oidc_client: string | null;
  oidc_subject: string | null;
  bound_at: number | null;
  /** Time at which the operator allowed a mailed link to add a passkey. */
  new_start_at: number | null;
  /** Requested new address, until the person proves it; null without a request. */
  new_email: string | null;
  /** Address before the last change of address; `moved_at` is the time of the change. */
  former_email: string | null;
  moved_at: number | null;
}

export type MemberStatus = 'invited' | 'active' | 'disabled';

export interface MemberRow {
  id: string;
  organization_id: string;
  /** Null while invited. */
  person_id: string | null;
  email: string;
  name: string | null;
  role: string;
  status: MemberStatus;
  /** Member or key that invited; null for the operator. */
  invited_by: string | null;
  invitation_hash: string | null;
  /** Encrypted token; the link is put into the mail only at delivery. Null without a mail. */
  invitation_token: string | null;
  invitation_message_id: string | null;
  expires_at: number | null;
  accepted_at: number | null;
  last_seen_at: number | null;
  created_at: number;
  updated_at: number;
}

interface MemberTables {
  persons: PersonRow;
  members: MemberRow;
}

const own = ownTables<MemberTables>();

export const members = own.rowsOf('members', 'member');

export const findMembers = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

/** Locks persons, in the order of ids. */
export const lockPersons = own.lockerOf('persons');

export const findPerson = own.first((db, id: string) =>
  db.selectFrom('persons').selectAll().where('id', '=', id),
);

export const findPersons = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('persons')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

export const findPersonByEmail = own.first((db, email: string) =>
  db.selectFrom('persons').selectAll().where('email', '=', email),
);

/** Finds the person of a subject at a provider. */
export const findPersonByBinding = own.first(
  (db, binding: { issuer: string; clientId: string; subject: string }) =>
    db
      .selectFrom('persons')
      .selectAll()
      .where('oidc_issuer', '=', binding.issuer)
      .where('oidc_client', '=', binding.clientId)
      .where('oidc_subject', '=', binding.subject),
);

/** Returns persons that are bound to an issuer, at most `limit`. */
export const selectBoundPersons = own.all((db, issuer: string, limit: number) =>
  db
    .selectFrom('persons')
    .selectAll()
    .where('oidc_issuer', '=', issuer)
    .orderBy('oidc_client')
    .orderBy('oidc_subject')
    .limit(limit),
);

/** Inserts a person. Returns false if a person has the address already. */
export async function insertPerson(db: Db, row: PersonRow): Promise<boolean> {
  const inserted = await tables<MemberTables>(db)
    .insertInto('persons')
    .values(row)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Columns of a person that change. */
export type PersonChanges = Partial<Omit<PersonRow, 'id' | 'created_at'>>;

/** Changes a person, and locks the row until the transaction ends. */
export async function updatePerson(db: Db, id: string, change: PersonChanges): Promise<void> {
  await tables<MemberTables>(db).updateTable('persons').set(change).where('id', '=', id).execute();
}

export const deletePerson = own.run((db, id: string) =>
  db.deleteFrom('persons').where('id', '=', id),
);

/** Returns the member rows of a person, oldest first. */
export const selectPlaces = own.all((db, personId: string) =>
  db.selectFrom('members').selectAll().where('person_id', '=', personId).orderBy('id'),
);

/** Finds the member row of a person in an organization, of any status. */
export const findPlace = own.first(
  (db, { personId, organizationId }: { personId: string; organizationId: string }) =>
    db
      .selectFrom('members')
      .selectAll()
      .where('person_id', '=', personId)
      .where('organization_id', '=', organizationId),
);

/** Finds the row of an address in an organization, of any status. */
export const findMemberByEmail = own.first((db, organizationId: string, email: string) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('email', '=', email),
);

/** Finds the newest invitation of an address, of all organizations. */
export const findInvitedByEmail = own.first((db, email: string) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('email', '=', email)
    .where('status', '=', 'invited')
    .orderBy('id', 'desc')
    .limit(1),
);

/** Finds an invitation by the hash of the last token. */
export const findInvitation = own.first((db, hash: string) =>
  db.selectFrom('members').selectAll().where('invitation_hash', '=', hash),
);

/** Finds the invitation by the id of the mailed message. */
export const findInvitationOfMail = own.first((db, messageId: string) =>
  db.selectFrom('members').selectAll().where('invitation_message_id', '=', messageId),
);

/** Sets the address in all member rows of a person. */
export const moveAddress = own.run((db, personId: string, email: string) =>
  db.updateTable('members').set({ email }).where('person_id', '=', personId),
);

export const touchMember = own.run((db, id: string, now: number) =>
  db.updateTable('members').set({ last_seen_at: now }).where('id', '=', id),
);

/** Ends the open invitations that a member or key made. */
export const endInvitationsBy = own.run(
  (db, of: { organizationId: string; inviter: string; now: number }) =>
    db
      .updateTable('members')
      .set({ invitation_hash: null, invitation_token: null, expires_at: of.now })
      .where('organization_id', '=', of.organizationId)
      .where('status', '=', 'invited')
      .where('invited_by', '=', of.inviter)
      .where('expires_at', '>', of.now),
);

/** Counts the open invitations of an organization, without the member `except`. */
export const countOpenInvitations = own.first(
  (db, organizationId: string, { except, now }: { except: string; now: number }) =>
    db
      .selectFrom('members')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'invited')
      .where('expires_at', '>', now)
      .where('id', '<>', except),
  (row) => Number(row?.count ?? 0),
);

/** Tells whether there is any person. */
export const hasPersons = own.first(
  (db) => db.selectFrom('persons').select('id').limit(1),
  (row) => row !== undefined,
);

/** Returns up to `most` active members of all organizations, oldest first. */
export const selectActiveMembers = own.all((db, most: number) =>
  db.selectFrom('members').selectAll().where('status', '=', 'active').orderBy('id').limit(most),
);

/** Returns up to `most` active owners of an organization; with two, neither is the last. */
export const selectActiveOwners = own.all((db, organizationId: string, most: number) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .where('role', '=', 'owner')
    .orderBy('id')
    .limit(most),
);

/** SQL that lists the messages with the link of an invitation. */
export const invitationMails =
  'select invitation_message_id from members where invitation_message_id is not null';

/**
 * Active members of a restored store. `at` is the same in each row: the latest visit or change of
 * any member, active or not, in ms since 1970.
 */
export const activeOfRestored = {
  table: 'members',
  sql: `select email, role, organization_id as organization,
      (select max(max(updated_at, coalesce(last_seen_at, 0))) from members) as at
    from members where status = 'active' order by organization_id, email limit 1000`,
};

/** A row of `activeOfRestored`; `at` is equal in all rows. */
export interface RestoredMember {
  email: string;
  role: string;
  organization: string;
  at: number;
}
