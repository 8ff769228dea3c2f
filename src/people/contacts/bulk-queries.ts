// SQL on many contacts at once, for imports and exports. Rows only, no decisions. Avoids deadlocks
// on PostgreSQL: locks existing contacts in the order of their ids, then writes each table sorted
// by a single key.
import { type Kysely, sql } from 'kysely';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, engineOf, isOneOf, JsonList, packedList } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { columnsOf } from '../../platform/store/rows/bulk-insert.ts';
import { recordContacts } from './count-queries.ts';
import {
  addTags,
  ContactRow,
  type ContactTables,
  IdentityRow,
  moveWords,
  setIdentities,
  TagRow,
  WordRow,
} from './queries.ts';
import { wordsOf } from './words.ts';

const own = ownTables<ContactTables>();

/** A new contact, with the rows and values for all tables of contacts. */
export interface NewContact {
  row: ContactRow;
  identities: readonly IdentityRow[];
  tags: readonly string[];
}

/** An existing contact: `row` after the change, `before` before it. */
export interface ChangedContact extends NewContact {
  before: ContactRow;
  /** Identities after the change; null if they are unchanged. */
  newIdentities: readonly IdentityRow[] | null;
  newTags: readonly string[];
}

type Names = readonly string[] | JsonList;

const insertRows = own.bulkInsert('contacts', ContactRow);
const insertIdentities = own.bulkInsert('contact_identities', IdentityRow);

/**
 * Most contacts with the same text (a tag or a word) that are inserted as single rows. More ids are
 * passed as a list, which saves 3 µs for a contact with two tags and two words.
 */
const fewIds = 4;

/** Builds a select of rows that link a text to these contacts, for an insert. */
function linksTo(db: Kysely<ContactTables>, organizationId: string, text: string, ids: Names) {
  const list = packedList(db, ids);
  const each =
    engineOf(db) === 'postgres'
      ? sql`unnest(${list}::text[]) as one (value)`
      : sql`json_each(${list}) as one`;
  return sql`select ${organizationId}, ${text}, value from ${each}`;
}

/** Returns a function that links new contacts to texts (tags or words), text by text. */
function textInserter<Row>(
  insertRows: (db: Db, rows: readonly Row[]) => Promise<void>,
  rowOf: (organizationId: string, text: string, contactId: string) => Row,
  insertList: (db: Db, organizationId: string, text: string, ids: Names) => Promise<void>,
) {
  return async (db: Db, organizationId: string, found: readonly ContactsOfText[]) => {
    const few = found.filter(({ ids }) => ids.length <= fewIds);
    await insertRows(
      db,
      few.flatMap(({ text, ids }) => ids.map((id) => rowOf(organizationId, text, id))),
    );
    for (const { text, ids } of found) {
      if (ids.length > fewIds) await insertList(db, organizationId, text, ids);
    }
  };
}

const insertTags = textInserter<TagRow>(
  own.bulkInsert('contact_tags', TagRow),
  (organization_id, tag, contact_id) => ({ organization_id, tag, contact_id }),
  own.run((db, organizationId: string, tag: string, ids: Names) =>
    db
      .insertInto('contact_tags')
      .columns(columnsOf(TagRow))
      .expression(linksTo(db, organizationId, tag, ids)),
  ),
);
const insertWords = textInserter<WordRow>(
  own.bulkInsert('contact_words', WordRow),
  (organization_id, word, contact_id) => ({ organization_id, word, contact_id }),
  own.run((db, organizationId: string, word: string, ids: Names) =>
    db
      .insertInto('contact_words')
      .columns(columnsOf(WordRow))
      .expression(linksTo(db, organizationId, word, ids)),
  ),
);

/**
 * Sorts rows by a unique value, the order in which all transactions lock. `keyOf` is called often
 * and must be cheap.
 */
function sortedBy<T>(rows: T[], keyOf: (row: T) => string): T[] {
  return rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

interface ContactsOfText {
  text: string;
  ids: string[];
}

/**
 * Groups contact ids by text (tag or word), sorted by text as in the index. Ids keep their order.
 */
function byText(
  contacts: readonly NewContact[],
  textsOf: (contact: NewContact) => readonly string[],
): ContactsOfText[] {
  const found = new Map<string, ContactsOfText>();
  for (const contact of contacts) {
    for (const text of textsOf(contact)) {
      const one = found.get(text);
      if (one) one.ids.push(contact.row.id);
      else found.set(text, { text, ids: [contact.row.id] });
    }
  }
  return sortedBy([...found.values()], ({ text }) => text);
}

/**
 * Inserts new contacts of an organization, which the caller passes in the order of ids. Throws an
 * error that `isDuplicate` recognizes if an address or an external id was taken meanwhile.
 */
export async function insertContacts(db: Db, contacts: readonly NewContact[]): Promise<void> {
  const [first] = contacts;
  if (!first) return;
  const { organization_id } = first.row;
  const rows = contacts.map(({ row }) => row);
  const hasNames = rows.some(({ external_id }) => external_id !== null);
  await insertRows(db, hasNames ? sortedBy(rows, ({ external_id }) => external_id ?? '') : rows);
  const identities = contacts.flatMap((contact) => contact.identities);
  await insertIdentities(
    db,
    sortedBy(identities, (row) => row.folded_identifier),
  );
  const tagged = byText(contacts, ({ tags }) => tags.map(foldCase));
  await insertTags(db, organization_id, tagged);
  const worded = byText(contacts, ({ row }) => wordsOf(row.name, row.display_name));
  await insertWords(db, organization_id, worded);
  recordContacts(db, organization_id, '', contacts.length);
  for (const { text, ids } of tagged) recordContacts(db, organization_id, text, ids.length);
}

const updateRow = own.run((db, row: ContactRow) =>
  db
    .updateTable('contacts')
    .set({
      name: row.name,
      display_name: row.display_name,
      avatar: row.avatar,
      external_id: row.external_id,
      is_archived: row.is_archived,
      profile: row.profile,
      preferences: row.preferences,
      tags: row.tags,
      metadata: row.metadata,
      updated_at: row.updated_at,
    })
    .where('id', '=', row.id),
);

/** Updates contacts whose rows the transaction has locked. Throws as `insertContacts`. */
export async function updateContacts(db: Db, contacts: readonly ChangedContact[]): Promise<void> {
  for (const { row, before, newIdentities, newTags } of sortedBy(
    [...contacts],
    (one) => one.row.id,
  )) {
    await updateRow(db, row);
    await moveWords(db, before, row);
    if (newIdentities) await setIdentities(db, row.id, newIdentities);
    if (newTags.length > 0) await addTags(db, row, newTags);
  }
}

type Numbered = Pick<ContactRow, 'id'> & { external_id: string };

const externalIds = own.all((db, organizationId: string, externalIds: Names) =>
  db
    .selectFrom('contacts')
    .select(['id', 'external_id'])
    .where('organization_id', '=', organizationId)
    .where('external_id', ...isOneOf(db, externalIds))
    // Lets the planner use the partial index of external ids.
    .where('external_id', 'is not', null)
    .$narrowType<Numbered>(),
);

/** Finds the contacts with these external ids. */
export async function findByExternalIds(
  db: Db,
  organizationId: string,
  wanted: readonly string[],
): Promise<Numbered[]> {
  if (wanted.length === 0) return [];
  return externalIds(db, organizationId, wanted);
}

const idsOfAddresses = own.all((db, organizationId: string, addresses: Names) =>
  db
    .selectFrom('contact_identities')
    .select('contact_id as id')
    .where('organization_id', '=', organizationId)
    .where('folded_identifier', ...isOneOf(db, addresses)),
);

const noNames = '[]';

/**
 * Returns the ids of contacts with any of these addresses or external ids (JSON lists): each once,
 * sorted for locking.
 */
export async function idsOfNames(
  db: Db,
  organizationId: string,
  { addresses, externalIds: numbers }: { addresses: string; externalIds: string },
): Promise<string[]> {
  const ids = new Set<string>();
  if (addresses !== noNames) {
    const found = await idsOfAddresses(db, organizationId, new JsonList(addresses));
    for (const { id } of found) ids.add(id);
  }
  if (numbers !== noNames) {
    const found = await externalIds(db, organizationId, new JsonList(numbers));
    for (const { id } of found) ids.add(id);
  }
  return [...ids].sort();
}

/**
 * Returns the next contacts after `after`, oldest first. Walks over all contacts of an
 * organization.
 */
export async function selectContactsAfter(
  db: Db,
  organizationId: string,
  after: { created_at: number; id: string } | null,
  limit: number,
): Promise<ContactRow[]> {
  const { created_at: at, id } = after ?? { created_at: -1, id: '' };
  const { rows } = await sql<ContactRow>`select * from contacts
    where organization_id = ${organizationId} and (created_at, id) > (${at}, ${id})
    order by created_at, id limit ${limit}`.execute(db);
  return rows;
}
