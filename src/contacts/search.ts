// Contacts by `q`: whose names have words that begin so, all of them, or whose first address does. What is
// rare is found whole; of what is frequent the newest are met, so that a search costs no more than so many:
//
//   the rarest word begins a name of | looked at                                      | found
//   ---------------------------------+------------------------------------------------+----------
//   5,000 contacts at most           | all of them                                    | all
//   more                             | the 5,000 newest: of another filter, else of a | of these
//                                    | word that is whole, else of all contacts       |
//
// Addresses that so many begin with are met the same way, and rare ones found whole.
import type { Db } from '../store/db.ts';
import { type ContactFilter, listContactIds } from './list-queries.ts';
import { findNamed, idsOfAddress, idsOfWord, type Named, newestOfWord } from './search-queries.ts';
import { foldedName, wordsOf } from './words.ts';

/** Contacts that are looked at. */
const mostMet = 5_000;

/** Beginnings of words, all of them; or the beginning of the first address, by `foldAddress`. */
export interface ContactSearch {
  words: readonly string[];
  prefix: string;
}

/** Asked of many: most of them lack a word anywhere in their names. */
function isFound({ name, display_name, address }: Named, { words, prefix }: ContactSearch) {
  if (address?.startsWith(prefix)) return true;
  const names = foldedName(`${name ?? ''} ${display_name ?? ''}`);
  if (!words.every((word) => names.includes(word))) return false;
  const own = wordsOf(name, display_name);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

function isFiltered({ organizationId: _owner, ...others }: ContactFilter): boolean {
  return Object.values(others).some((value) => value !== undefined);
}

/** The newest of those that the other filters leave, or that have one of the words. */
async function newest(
  db: Db,
  filter: ContactFilter,
  words: readonly string[],
  hasRareAddress: boolean,
): Promise<string[]> {
  const { organizationId } = filter;
  // The longest is the rarest as a rule.
  const [word] = words.toSorted((a, b) => b.length - a.length);
  if (!isFiltered(filter) && hasRareAddress && word !== undefined) {
    const ids = await newestOfWord(db, organizationId, word, mostMet);
    if (ids.length === mostMet) return ids;
  }
  return listContactIds(db, filter, { limit: mostMet, offset: 0 });
}

/** The ids of what is found, the newest first; `filter`: what else is asked. */
export async function searchContacts(
  db: Db,
  filter: ContactFilter,
  search: ContactSearch,
): Promise<string[]> {
  const { organizationId } = filter;
  const { words, prefix } = search;
  const ofAddress = await idsOfAddress(db, organizationId, prefix, mostMet);
  let rarest: string[] | null = null;
  for (const word of words) {
    const ids = await idsOfWord(db, organizationId, word, rarest?.length ?? mostMet);
    rarest = ids ?? rarest;
  }
  const met = new Set(rarest);
  if (rarest === null || ofAddress === null) {
    for (const id of await newest(db, filter, words, ofAddress !== null)) met.add(id);
  }
  const named = await findNamed(db, [...met]);
  const found = new Set(named.filter((one) => isFound(one, search)).map(({ id }) => id));
  for (const id of ofAddress ?? []) found.add(id);
  // Ids grow.
  const ids = [...found].sort((a, b) => (a < b ? 1 : -1));
  if (!isFiltered(filter)) return ids;
  return listContactIds(db, { ...filter, ids }, { limit: ids.length, offset: 0 });
}
