// SQL for searches of contacts (`q`): by the beginning of a word in a name, and of the first
// address. search.ts combines these queries.
import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { ContactRow, IdentityRow } from './queries.ts';
import { endOfPrefix } from './words.ts';

interface SearchTables {
  contacts: ContactRow;
  contact_identities: IdentityRow;
}

const own = ownTables<SearchTables>();

type Ids = RawBuilder<{ id: string }>;

async function idsOf(db: Db, query: Ids): Promise<string[]> {
  return (await query.execute(db)).rows.map(({ id }) => id);
}

/** Returns all ids, or null if there are more than `most`. Checks the number by the index alone. */
async function unlessMore(db: Db, query: Ids, most: number): Promise<string[] | null> {
  const [beyond] = await idsOf(db, sql`${query} limit 1 offset ${most}`);
  return beyond === undefined ? idsOf(db, query) : null;
}

/**
 * Returns the ids of contacts with a word that begins with `prefix`, in no order. A contact with
 * two such words occurs twice. Null for more than `most` ids.
 */
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

/** Returns the ids of contacts with exactly this word, newest first. */
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

/**
 * Returns the ids of contacts whose first address begins with `prefix`, in no order. Null for more
 * than `most` ids.
 */
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

/** Fields of a contact that a search compares. */
export type Named = Pick<ContactRow, 'id' | 'name' | 'display_name'> & { address: string | null };

const findNames = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('contacts')
    .select(['id', 'name', 'display_name'])
    .where('id', ...isOneOf(db, ids)),
);

const findFirstAddresses = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('contact_identities')
    .select(['contact_id', 'folded_identifier'])
    .where('contact_id', ...isOneOf(db, ids))
    .where('position', '=', 0),
);

/**
 * Finds the names and first addresses of contacts, in no order. Joins them in memory and not in
 * SQL: where statistics say that a table is empty, PostgreSQL reads the whole table for each row of
 * the joined table.
 */
export async function findNamed(db: Db, ids: readonly string[]): Promise<Named[]> {
  const [names, addresses] = [await findNames(db, ids), await findFirstAddresses(db, ids)];
  const addressOf = new Map(addresses.map((one) => [one.contact_id, one.folded_identifier]));
  return names.map((one) => ({ ...one, address: addressOf.get(one.id) ?? null }));
}
