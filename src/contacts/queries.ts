// All SQL on contacts, their identities and tags. Rows only, no decisions. What they are counted by is
// count-queries.ts.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { bulkInsert, type Db, engineOf, idList, isOneOf, statement, tables } from '../store/db.ts';
import { rowsOf } from '../store/rows.ts';
import { noteContact } from './count-queries.ts';

export interface ContactRow {
  id: string;
  organization_id: string;
  name: string | null;
  display_name: string | null;
  avatar: string | null;
  external_id: string | null;
  is_archived: number;
  /** JSON, each null where nothing is known. */
  profile: string | null;
  preferences: string | null;
  tags: string | null;
  metadata: string | null;
  created_at: number;
  updated_at: number;
}

export interface IdentityRow {
  organization_id: string;
  folded_identifier: string;
  id: string;
  contact_id: string;
  /** From 0, which is the first email. */
  position: number;
  /** In the normal form of src/net/address.ts, case as given. */
  identifier: string;
  /** Since when mail of that address has proved it. */
  verified_at: number | null;
}

interface ContactTables {
  contacts: ContactRow;
  contact_identities: IdentityRow;
  contact_tags: { organization_id: string; tag: string; contact_id: string };
}

export interface ContactFilter {
  tag?: string | undefined;
  foldedEmail?: string | undefined;
  externalId?: string | undefined;
}

/** By an id, and what any change does. */
export const contacts = rowsOf<ContactRow>('contacts', 'contact');

function conditions(
  organizationId: string,
  { tag, foldedEmail, externalId }: ContactFilter,
): RawBuilder<SqlBool>[] {
  const own = sql`organization_id = ${organizationId}`;
  return [
    sql<SqlBool>`${own}`,
    ...(externalId === undefined ? [] : [sql<SqlBool>`external_id = ${externalId}`]),
    ...(foldedEmail === undefined
      ? []
      : [
          sql<SqlBool>`id = (select contact_id from contact_identities
            where ${own} and folded_identifier = ${foldedEmail})`,
        ]),
    ...(tag === undefined
      ? []
      : [
          sql<SqlBool>`exists (select 1 from contact_tags where contact_tags.${own}
            and tag = ${tag} and contact_id = contacts.id)`,
        ]),
  ];
}

/** The newest first; of a tag they are read in the order of its index. */
export async function selectContacts(
  db: Db,
  organizationId: string,
  filter: ContactFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<ContactRow[]> {
  const { tag, foldedEmail, externalId } = filter;
  const isByTag = tag !== undefined && foldedEmail === undefined && externalId === undefined;
  if (!isByTag) {
    const where = sql.join(conditions(organizationId, filter), sql` and `);
    const { rows } = await sql<ContactRow>`select * from contacts where ${where}
      order by created_at desc, id desc limit ${limit} offset ${offset}`.execute(db);
    return rows;
  }
  const found = await tables<ContactTables>(db)
    .selectFrom('contact_tags')
    .select('contact_id')
    .where('organization_id', '=', organizationId)
    .where('tag', '=', tag)
    .orderBy('contact_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const ids = found.map((row) => row.contact_id);
  return (await findContactRows(db, organizationId, ids)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** How many match a filter by email or external id: one at most. */
export async function countContacts(
  db: Db,
  organizationId: string,
  filter: ContactFilter,
): Promise<number> {
  return (await selectContacts(db, organizationId, filter, { limit: 1, offset: 0 })).length;
}

const byIds = statement<ContactTables, { organizationId: string; ids: unknown }, ContactRow>(
  (db, parameter) => {
    const rows = db
      .selectFrom('contacts')
      .selectAll()
      .where(isOneOf(db, 'id', parameter('ids')))
      // Not to be found by it.
      .where(sql<string>`organization_id || ''`, '=', parameter('organizationId'))
      .orderBy('id');
    // Nobody forgets one while a message to it is being stored.
    return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
  },
);

/** Hot: asked for sends that name contacts. On PostgreSQL none is deleted until the transaction ends. */
export function findContactRows(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<ContactRow[]> {
  return byIds(db, { organizationId, ids: idList(db, ids) });
}

const identitiesOf = statement<ContactTables, { ids: unknown }, IdentityRow>((db, parameter) =>
  db
    .selectFrom('contact_identities')
    .selectAll()
    .where(isOneOf(db, 'contact_id', parameter('ids')))
    .orderBy('contact_id')
    .orderBy('position'),
);

/** The identities of these contacts, by contact, the first email first. */
export function findIdentities(db: Db, contactIds: readonly string[]): Promise<IdentityRow[]> {
  return identitiesOf(db, { ids: idList(db, contactIds) });
}

const identitiesNamed = statement<
  ContactTables,
  { organizationId: string; addresses: unknown },
  IdentityRow
>((db, parameter) =>
  db
    .selectFrom('contact_identities')
    .selectAll()
    .where('organization_id', '=', parameter('organizationId'))
    .where(isOneOf(db, 'folded_identifier', parameter('addresses'))),
);

/** The identities with these addresses, each by `foldAddress`. */
export function findIdentitiesNamed(
  db: Db,
  organizationId: string,
  foldedAddresses: readonly string[],
): Promise<IdentityRow[]> {
  return identitiesNamed(db, { organizationId, addresses: idList(db, foldedAddresses) });
}

const insertIdentityRows = bulkInsert<ContactTables>('contact_identities', [
  ...['organization_id', 'folded_identifier', 'id', 'contact_id', 'position', 'identifier'],
  'verified_at',
]);

const insertTagRows = bulkInsert<ContactTables>('contact_tags', [
  ...['organization_id', 'tag', 'contact_id'],
]);

/** Throws what `isDuplicate` knows where an address or the external id is another contact's. */
export async function insertContact(
  db: Db,
  row: ContactRow,
  identities: readonly IdentityRow[],
  tags: readonly string[],
): Promise<void> {
  await contacts.insert(db, row);
  noteContact(db, row.organization_id, [''], 1);
  await setIdentities(db, row.id, identities);
  await addTags(db, row, tags);
}

/** The identities of a contact from now on. Throws as `insertContact`. */
export async function setIdentities(
  db: Db,
  contactId: string,
  identities: readonly IdentityRow[],
): Promise<void> {
  await tables<ContactTables>(db)
    .deleteFrom('contact_identities')
    .where('contact_id', '=', contactId)
    .execute();
  const key = ({ folded_identifier }: IdentityRow) => folded_identifier;
  await insertIdentityRows(
    db,
    identities.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
  );
}

type Owned = Pick<ContactRow, 'id' | 'organization_id'>;

/** Tags that the contact lacks. */
export async function addTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  await insertTagRows(
    db,
    tags.toSorted().map((tag) => ({ organization_id, tag, contact_id: id })),
  );
  noteContact(db, organization_id, tags, 1);
}

/** Tags that the contact has. */
export async function removeTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  await tables<ContactTables>(db)
    .deleteFrom('contact_tags')
    .where('organization_id', '=', organization_id)
    .where(isOneOf(db, 'tag', idList(db, tags)))
    .where('contact_id', '=', id)
    .execute();
  noteContact(db, organization_id, tags, -1);
}

/** Takes the contact away with its identities and tags. @throws ResourceNotFoundError. */
export async function deleteContactRow(
  db: Db,
  organizationId: string,
  id: string,
  tags: readonly string[],
): Promise<void> {
  await removeTags(db, { id, organization_id: organizationId }, tags);
  await contacts.remove(db, organizationId, id);
  noteContact(db, organizationId, [''], -1);
}
