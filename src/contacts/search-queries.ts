// SQL on contacts by what they are searched for (`q`): beginnings of words of their names, and of first
// addresses. Which of them are found is search.ts.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Db, engineOf, idList, isOneOf, type ParameterOf, statement } from '../store/db.ts';
import type { ContactRow, IdentityRow } from './queries.ts';
import { endOfPrefix } from './words.ts';

interface SearchTables {
  contacts: ContactRow;
  contact_identities: IdentityRow;
}

type Ids = RawBuilder<{ id: string }>;

async function idsOf(db: Db, query: Ids): Promise<string[]> {
  return (await query.execute(db)).rows.map(({ id }) => id);
}

/** All of them, or null where there are more than `most`: which the index is asked first. */
async function unlessMore(db: Db, query: Ids, most: number): Promise<string[] | null> {
  const [beyond] = await idsOf(db, sql`${query} limit 1 offset ${most}`);
  return beyond === undefined ? idsOf(db, query) : null;
}

/** Contacts with a word that begins so, in no order, one twice that has two; null of more than `most`. */
export function idsOfWord(
  db: Db,
  organizationId: string,
  prefix: string,
  most: number,
): Promise<string[] | null> {
  const ids: Ids = sql`select contact_id as id from contact_words
    where organization_id = ${organizationId} and word >= ${prefix} and word < ${endOfPrefix(prefix)}`;
  return unlessMore(db, ids, most);
}

/** Contacts with this very word, the newest first. */
export function newestOfWord(
  db: Db,
  organizationId: string,
  word: string,
  limit: number,
): Promise<string[]> {
  return idsOf(
    db,
    sql`select contact_id as id from contact_words
      where organization_id = ${organizationId} and word = ${word}
      order by contact_id desc limit ${limit}`,
  );
}

/** Contacts whose first address begins so, in no order; null of more than `most`. */
export function idsOfAddress(
  db: Db,
  organizationId: string,
  prefix: string,
  most: number,
): Promise<string[] | null> {
  const bytewise = engineOf(db) === 'postgres' ? sql`collate "C"` : sql``;
  const address = sql`folded_identifier ${bytewise}`;
  const ids: Ids = sql`select contact_id as id from contact_identities
    where organization_id = ${organizationId} and position = 0
    and ${address} >= ${prefix} and ${address} < ${endOfPrefix(prefix)}`;
  return unlessMore(db, ids, most);
}

/** What a contact is found by. */
export type Named = Pick<ContactRow, 'id' | 'name' | 'display_name'> & { address: string | null };

// Joined, not asked for each: PostgreSQL, whose statistics may be of another time, would read all of them each time.
const namedOf = statement((db: Kysely<SearchTables>, parameter: ParameterOf<{ ids: unknown }>) =>
  db
    .selectFrom('contacts')
    .leftJoin('contact_identities', (join) =>
      join.onRef('contact_id', '=', 'contacts.id').on('position', '=', 0),
    )
    .select(['contacts.id', 'name', 'display_name', 'folded_identifier as address'])
    .where(isOneOf(db, 'contacts.id', parameter('ids'))),
);

/** Of these contacts, in no order. */
export function findNamed(db: Db, ids: readonly string[]): Promise<Named[]> {
  return namedOf(db, { ids: idList(db, ids) });
}
