// SQL on many contacts at once, for imports and exports. Rows only, no decisions. Avoids deadlocks on
// PostgreSQL: locks existing contacts in the order of their ids, then writes each table sorted by one key.
import { sql } from 'kysely';
import {
  bulkInsert,
  change,
  type Db,
  engineOf,
  idList,
  idListOfJson,
  isOneOf,
  statement,
} from '../../platform/store/db.ts';
import { noteContacts } from './count-queries.ts';
import { addTags, type ContactRow, type IdentityRow, moveWords, setIdentities } from './queries.ts';
import { wordsOf } from './words.ts';

interface ContactTables {
  contacts: ContactRow;
  contact_identities: IdentityRow;
  contact_tags: { organization_id: string; tag: string; contact_id: string };
  contact_words: { organization_id: string; word: string; contact_id: string };
}

/** New contact with all its rows. */
export interface NewContact {
  row: ContactRow;
  identities: readonly IdentityRow[];
  tags: readonly string[];
}

/** Existing contact with its changes. */
export interface ChangedContact extends NewContact {
  before: ContactRow;
  /** Null if the identities are unchanged. */
  newIdentities: readonly IdentityRow[] | null;
  newTags: readonly string[];
}

const insertRows = bulkInsert<ContactTables>('contacts', [
  ...['id', 'organization_id', 'name', 'display_name', 'avatar', 'external_id', 'is_archived'],
  ...['profile', 'preferences', 'tags', 'metadata', 'created_at', 'updated_at'],
]);
const insertIdentities = bulkInsert<ContactTables>('contact_identities', [
  ...['organization_id', 'folded_identifier', 'id', 'contact_id', 'position', 'identifier'],
]);
type TextTable = 'contact_tags' | 'contact_words';

/**
 * Most contacts of a text that get single rows. More ids go as one list: 3 µs a contact less with two tags,
 * two words.
 */
const fewIds = 4;

/** Returns a function that links new contacts to texts (tags or words), text by text. */
function textInserter(
  table: TextTable,
  column: 'tag' | 'word',
  insertRows: ReturnType<typeof bulkInsert>,
) {
  const insertList = change<ContactTables, { organizationId: string; text: string; ids: unknown }>(
    (db, parameter) => {
      const ids = parameter('ids');
      const each =
        engineOf(db) === 'postgres'
          ? sql`unnest(${ids}::text[]) as one (value)`
          : sql`json_each(${ids}) as one`;
      const rows = sql`select ${parameter('organizationId')}, ${parameter('text')}, value from ${each}`;
      return db
        .insertInto(table)
        .columns(['organization_id', column, 'contact_id'] as never)
        .expression(rows as never);
    },
  );
  return async (db: Db, organizationId: string, found: readonly ContactsOfText[]) => {
    const few = found.filter(({ ids }) => ids.length <= fewIds);
    await insertRows(
      db,
      few.flatMap(({ text, ids }) =>
        ids.map((id) => ({ organization_id: organizationId, [column]: text, contact_id: id })),
      ),
    );
    for (const { text, ids } of found) {
      if (ids.length > fewIds) await insertList(db, { organizationId, text, ids: idList(db, ids) });
    }
  };
}

const tagRows = ['organization_id', 'tag', 'contact_id'];
const wordRows = ['organization_id', 'word', 'contact_id'];
const insertTags = textInserter(
  'contact_tags',
  'tag',
  bulkInsert<ContactTables>('contact_tags', tagRows),
);
const insertWords = textInserter(
  'contact_words',
  'word',
  bulkInsert<ContactTables>('contact_words', wordRows),
);

/** Sorts by the key in which transactions take unique values. `keyOf` is called often and must be cheap. */
function sortedBy<T>(rows: T[], keyOf: (row: T) => string): T[] {
  return rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

interface ContactsOfText {
  text: string;
  ids: string[];
}

/** Groups contacts by text, in the order of the index. Ids within a text grow. */
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
 * Inserts new contacts of one organization, in the order of their ids. Throws an error that `isDuplicate`
 * recognizes if an address or an external id was taken meanwhile.
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
  const tagged = byText(contacts, ({ tags }) => tags);
  await insertTags(db, organization_id, tagged);
  const worded = byText(contacts, ({ row }) => wordsOf(row.name, row.display_name));
  await insertWords(db, organization_id, worded);
  noteContacts(db, organization_id, '', contacts.length);
  for (const { text, ids } of tagged) noteContacts(db, organization_id, text, ids.length);
}

const updateRow = change<ContactTables, ContactRow>((db, parameter) =>
  db
    .updateTable('contacts')
    .set({
      name: parameter('name'),
      display_name: parameter('display_name'),
      avatar: parameter('avatar'),
      external_id: parameter('external_id'),
      is_archived: parameter('is_archived'),
      profile: parameter('profile'),
      preferences: parameter('preferences'),
      tags: parameter('tags'),
      metadata: parameter('metadata'),
      updated_at: parameter('updated_at'),
    })
    .where('id', '=', parameter('id')),
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

const externalIds = statement<
  ContactTables,
  { organizationId: string; externalIds: unknown },
  Numbered
>((db, parameter) =>
  db
    .selectFrom('contacts')
    .select(['id', 'external_id'])
    .where('organization_id', '=', parameter('organizationId'))
    .where(isOneOf(db, 'external_id', parameter('externalIds')))
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
  return externalIds(db, { organizationId, externalIds: idList(db, wanted) });
}

const idsOfAddresses = statement<
  ContactTables,
  { organizationId: string; addresses: unknown },
  { id: string }
>((db, parameter) =>
  db
    .selectFrom('contact_identities')
    .select('contact_id as id')
    .where('organization_id', '=', parameter('organizationId'))
    .where(isOneOf(db, 'folded_identifier', parameter('addresses'))),
);

const noNames = '[]';

/**
 * Returns the ids of contacts with one of these addresses or external ids (JSON lists), each once and sorted,
 * in the order of locking.
 */
export async function idsOfNames(
  db: Db,
  organizationId: string,
  { addresses, externalIds: numbers }: { addresses: string; externalIds: string },
): Promise<string[]> {
  const ids = new Set<string>();
  if (addresses !== noNames) {
    const packed = idListOfJson(db, addresses);
    for (const { id } of await idsOfAddresses(db, { organizationId, addresses: packed })) {
      ids.add(id);
    }
  }
  if (numbers !== noNames) {
    const packed = idListOfJson(db, numbers);
    for (const { id } of await externalIds(db, { organizationId, externalIds: packed })) {
      ids.add(id);
    }
  }
  return [...ids].sort();
}

/** Returns the next contacts after `after`, oldest first. Walks over all contacts of an organization. */
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
