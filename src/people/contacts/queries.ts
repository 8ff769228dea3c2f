// All SQL on contacts, their identities and tags. Rows only, no decisions. Counters are in
// count-queries.ts.
import { type RawBuilder, sql } from 'kysely';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { recordContacts } from './count-queries.ts';
import { leaveGroups } from './groups/queries.ts';
import { wordsOf } from './words.ts';

export class ContactRow {
  id!: string;
  organization_id!: string;
  name!: string | null;
  display_name!: string | null;
  avatar!: string | null;
  external_id!: string | null;
  is_archived!: number;
  /** JSON of the profile. This and the next three JSON columns are null without a value. */
  profile!: string | null;
  preferences!: string | null;
  tags!: string | null;
  metadata!: string | null;
  created_at!: number;
  updated_at!: number;
}

export class IdentityRow {
  organization_id!: string;
  folded_identifier!: string;
  id!: string;
  contact_id!: string;
  /** Position from 0, the first email. */
  position!: number;
  /** Address in the normal form of src/platform/net/address.ts, case as given. */
  identifier!: string;
  /**
   * Time at which ownership of the address was proved, ms since 1970: by a click in mail to the
   * address, or by mail from the address that passed DMARC. Null without a proof.
   */
  verified_at!: number | null;
}

export class TagRow {
  organization_id!: string;
  /** Folded, like every tag except in `contacts.tags`. */
  tag!: string;
  contact_id!: string;
}

export class WordRow {
  organization_id!: string;
  word!: string;
  contact_id!: string;
}

export interface ContactTables {
  contacts: ContactRow;
  contact_identities: IdentityRow;
  contact_tags: TagRow;
  contact_words: WordRow;
}

const own = ownTables<ContactTables>();

/** Common reads and changes by id. */
export const contacts = own.rowsOf('contacts', 'contact');

/** Finds the contact with this external id. */
export async function findByExternalId(
  db: Db,
  organizationId: string,
  externalId: string,
): Promise<ContactRow | undefined> {
  return tables<ContactTables>(db)
    .selectFrom('contacts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
}

/**
 * Finds contacts in the order of their ids. On PostgreSQL locks them against deletion until the
 * transaction ends.
 */
export const findContactRows = own.all((db, organizationId: string, ids: readonly string[]) => {
  const rows = db
    .selectFrom('contacts')
    .selectAll()
    .where('id', ...isOneOf(db, ids))
    // The expression keeps the planner from the index of organizations.
    .where(sql<string>`organization_id || ''`, '=', organizationId)
    .orderBy('id');
  // Keeps contacts from deletion while a message to them is being stored.
  return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
});

/** Finds contacts with their first email for sends. Locks them as `findContactRows`. Hot. */
export const findAddressed = own.all((db, organizationId: string, ids: readonly string[]) => {
  const rows = db
    .selectFrom('contacts')
    .select(({ selectFrom }) => [
      'id',
      'name',
      selectFrom('contact_identities')
        .select('identifier')
        .whereRef('contact_id', '=', 'contacts.id')
        .where('position', '=', 0)
        .as('email'),
    ])
    .where('id', ...isOneOf(db, ids))
    // The expression keeps the planner from the index of organizations.
    .where(sql<string>`organization_id || ''`, '=', organizationId)
    .orderBy('id');
  // Keeps contacts from deletion while a message to them is being stored.
  return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
});

/** Finds contacts with their first address for a run. Locks them as `findContactRows`. */
export const findForRun = own.all((db, organizationId: string, ids: readonly string[]) => {
  const rows = db
    .selectFrom('contacts')
    .select(({ selectFrom }) => {
      const first = (column: 'identifier' | 'folded_identifier') =>
        selectFrom('contact_identities')
          .select(column)
          .whereRef('contact_id', '=', 'contacts.id')
          .where('position', '=', 0);
      return [
        ...(['id', 'name', 'is_archived', 'profile', 'preferences', 'tags', 'updated_at'] as const),
        first('identifier').as('email'),
        first('folded_identifier').as('folded_email'),
      ];
    })
    .where('id', ...isOneOf(db, ids))
    // The expression keeps the planner from the index of organizations.
    .where(sql<string>`organization_id || ''`, '=', organizationId)
    .orderBy('id');
  // Keeps contacts from deletion while a message to them is being stored.
  return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
});

/** A contact with the first address, for the decision of a run. */
export type ForRunRow = Awaited<ReturnType<typeof findForRun>>[number];

/** Returns the ids among `ids` of contacts of the organization. */
export const findKnownIds = own.all(
  (db, organizationId: string, ids: readonly string[]) =>
    db
      .selectFrom('contacts')
      .select('id')
      .where('id', ...isOneOf(db, ids))
      // The expression keeps the planner from the index of organizations.
      .where(sql<string>`organization_id || ''`, '=', organizationId),
  (rows) => rows.map(({ id }) => id),
);

/** Returns the highest id of a contact, the newest; null without contacts. */
export const findLastId = own.first(
  (db, organizationId: string) =>
    db
      .selectFrom('contacts')
      .select('id')
      .where('organization_id', '=', organizationId)
      .orderBy('id', 'desc')
      .limit(1),
  (row) => row?.id ?? null,
);

/**
 * Skips `distance` contacts after the id `after`, and returns the id of the next contact up to
 * `until`. Undefined if there are fewer contacts.
 */
export const findIdFurther = own.first(
  (db, organizationId: string, after: string, until: string, distance: number) =>
    db
      .selectFrom('contacts')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '>', after)
      .where('id', '<=', until)
      .orderBy('id')
      .limit(1)
      .offset(distance),
  (row) => row?.id,
);

/** Fragment of a larger query: the ids of the contacts with a tag within a range. */
export function taggedIdsIn(
  organizationId: string,
  tag: string,
  { after, until }: { after: string; until: string },
): RawBuilder<unknown> {
  return sql`select contact_id as id from contact_tags where organization_id = ${organizationId}
    and tag = ${foldCase(tag)} and contact_id > ${after} and contact_id <= ${until}`;
}

/**
 * Locks contacts until the transaction ends. The lock also waits for concurrent `findContactRows`,
 * and makes them wait.
 */
export const lockContacts = own.lockerOf('contacts');

/** Finds the identities of these contacts, by contact, the first email first. */
export const findIdentities = own.all((db, contactIds: readonly string[]) =>
  db
    .selectFrom('contact_identities')
    .selectAll()
    .where('contact_id', ...isOneOf(db, contactIds))
    .orderBy('contact_id')
    .orderBy('position'),
);

/** Finds the identities with these addresses, each by `foldAddress`. */
export const findIdentitiesNamed = own.all(
  (db, organizationId: string, foldedAddresses: readonly string[]) =>
    db
      .selectFrom('contact_identities')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('folded_identifier', ...isOneOf(db, foldedAddresses)),
);

const verifyOne = own.all((db, organizationId: string, address: string, now: number) =>
  db
    .updateTable('contact_identities')
    .set({ verified_at: now })
    .where('organization_id', '=', organizationId)
    .where('folded_identifier', '=', address)
    .where('verified_at', 'is', null)
    .returning('contact_id'),
);

/** Marks identities of an organization as verified. Returns the changed contacts. */
export async function verifyIdentities(
  db: Db,
  identities: readonly IdentityRow[],
  now: number,
): Promise<ContactRow[]> {
  const [owner] = identities;
  if (!owner) return [];
  const { organization_id: organizationId } = owner;
  const ids = [...new Set(identities.map(({ contact_id }) => contact_id))].sort();
  await lockContacts(db, ids);
  const changed = new Set<string>();
  for (const { folded_identifier: address } of identities) {
    const rows = await verifyOne(db, organizationId, address, now);
    for (const { contact_id } of rows) changed.add(contact_id);
  }
  const rows: ContactRow[] = [];
  for (const id of [...changed].sort()) {
    rows.push(await contacts.update(db, organizationId, id, { updated_at: now }));
  }
  return rows;
}

const insertIdentityRows = own.bulkInsert('contact_identities', IdentityRow);

const insertTagRows = own.bulkInsert('contact_tags', TagRow);

type Owned = Pick<ContactRow, 'id' | 'organization_id'>;

const insertWordRows = own.bulkInsert('contact_words', WordRow);

const byWord = (a: { word: string }, b: { word: string }) => (a.word < b.word ? -1 : 1);

type Named = Owned & Pick<ContactRow, 'name' | 'display_name'>;

/**
 * Updates the index of words from the names in `had` (null: new contact) to the names in `has`
 * (null: deleted contact).
 */
export async function moveWords(db: Db, had: Named | null, has: Named | null): Promise<void> {
  const owner = has ?? had;
  if (!owner) return;
  const { id, organization_id } = owner;
  const before = had ? wordsOf(had.name, had.display_name) : [];
  const after = has ? wordsOf(has.name, has.display_name) : [];
  const lost = before.filter((word) => !after.includes(word));
  if (lost.length > 0) {
    await tables<ContactTables>(db)
      .deleteFrom('contact_words')
      .where('organization_id', '=', organization_id)
      .where('word', ...isOneOf(db, lost))
      .where('contact_id', '=', id)
      .execute();
  }
  const found = after.filter((word) => !before.includes(word));
  await insertWordRows(
    db,
    found.map((word) => ({ organization_id, word, contact_id: id })).sort(byWord),
  );
}

/**
 * Inserts a contact. Throws an error that `isDuplicate` recognizes if an existing contact has an
 * address or the external id.
 */
export async function insertContact(
  db: Db,
  row: ContactRow,
  identities: readonly IdentityRow[],
  tags: readonly string[],
): Promise<void> {
  await contacts.insert(db, row);
  recordContacts(db, row.organization_id, '', 1);
  await setIdentities(db, row.id, identities);
  await addTags(db, row, tags);
  await moveWords(db, null, row);
}

/** Replaces the identities of a contact. Throws as `insertContact`. */
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

/** Adds tags to index and counters. The caller passes only tags that the contact lacks. */
export async function addTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  const folded = tags.map(foldCase).sort();
  await insertTagRows(
    db,
    folded.map((tag) => ({ organization_id, tag, contact_id: id })),
  );
  for (const tag of folded) recordContacts(db, organization_id, tag, 1);
}

/** Removes tags from index and counters. The caller passes only tags that the contact has. */
export async function removeTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  const folded = tags.map(foldCase);
  await tables<ContactTables>(db)
    .deleteFrom('contact_tags')
    .where('organization_id', '=', organization_id)
    .where('tag', ...isOneOf(db, folded))
    .where('contact_id', '=', id)
    .execute();
  for (const tag of folded) recordContacts(db, organization_id, tag, -1);
}

/** Deletes a contact. `tags`: all tags of the contact. @throws ResourceNotFoundError. */
export async function deleteContactRow(
  db: Db,
  organizationId: string,
  id: string,
  tags: readonly string[],
): Promise<void> {
  await leaveGroups(db, id);
  await removeTags(db, { id, organization_id: organizationId }, tags);
  await moveWords(db, await contacts.remove(db, organizationId, id), null);
  recordContacts(db, organizationId, '', -1);
}
