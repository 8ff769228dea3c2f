// Searches contacts by `q`: by the beginnings of all words in names, or by the beginning of the
// first address. Rare terms are searched completely. Frequent terms are searched among the newest
// contacts, which bounds the cost:
//
//   the rarest word begins a name of | examined                                       | found
//   ---------------------------------+------------------------------------------------+----------
//   5,000 contacts at most           | all of them                                    | all
//   more                             | the 5,000 newest of the filtered list; without | of these
//                                    | filters, the newest with the complete word, or |
//                                    | of all contacts if fewer have the word         |
//
// Frequent beginnings of addresses are searched the same way, and rare beginnings completely.

import { foldCase } from '../../platform/runtime/fold-case.ts';
import type { Db } from '../../platform/store/db.ts';
import { type ContactFilter, listContactIds } from './list-queries.ts';
import { findNamed, idsOfAddress, idsOfWord, type Named, newestOfWord } from './search-queries.ts';
import { wordsOf } from './words.ts';

/** Most contacts that a search examines for a frequent term. */
const mostMet = 5_000;

/**
 * A search matches if all `words` begin words of the names, or if the first address begins with
 * `prefix` (a text by `foldAddress`).
 */
export interface ContactSearch {
  words: readonly string[];
  prefix: string;
}

/**
 * Tells whether a contact matches. First searches for the words anywhere in the names, because most
 * contacts fail this cheap test.
 */
function isFound({ name, display_name, address }: Named, { words, prefix }: ContactSearch) {
  if (address?.startsWith(prefix)) return true;
  if (words.length === 0) return false;
  const names = foldCase(`${name ?? ''} ${display_name ?? ''}`);
  if (!words.every((word) => names.includes(word))) return false;
  const own = wordsOf(name, display_name);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

function isFiltered({ organizationId: _owner, ...others }: ContactFilter): boolean {
  return Object.values(others).some((value) => value !== undefined);
}

/**
 * Returns the ids of the newest contacts that pass the filter. Without a filter, and if few
 * addresses match (`hasRareAddress`), prefers contacts with the longest word, if `most` contacts
 * have the word.
 */
async function newest(
  db: Db,
  filter: ContactFilter,
  words: readonly string[],
  hasRareAddress: boolean,
  most: number,
): Promise<string[]> {
  const { organizationId } = filter;
  // The longest word is usually the rarest.
  const [word] = words.toSorted((a, b) => b.length - a.length);
  if (!isFiltered(filter) && hasRareAddress && word !== undefined) {
    const ids = await newestOfWord(db, organizationId, word, most);
    if (ids.length === most) return ids;
  }
  return listContactIds(db, filter, { limit: most, offset: 0 });
}

/**
 * Returns the ids of matches that also pass `filter`, newest first. For a frequent term, examines
 * only the `most` newest contacts.
 */
export async function searchContacts(
  db: Db,
  filter: ContactFilter,
  search: ContactSearch,
  most = mostMet,
): Promise<string[]> {
  const { organizationId } = filter;
  const { words, prefix } = search;
  const ofAddress = await idsOfAddress(db, organizationId, prefix, most);
  let rarest: string[] | null = null;
  for (const word of words) {
    const ids = await idsOfWord(db, organizationId, word, rarest?.length ?? most);
    rarest = ids ?? rarest;
  }
  const met = new Set(rarest);
  if (rarest === null || ofAddress === null) {
    for (const id of await newest(db, filter, words, ofAddress !== null, most)) met.add(id);
  }
  const named = await findNamed(db, [...met]);
  const found = new Set(named.filter((one) => isFound(one, search)).map(({ id }) => id));
  for (const id of ofAddress ?? []) found.add(id);
  // Ids grow with time.
  const ids = [...found].sort((a, b) => (a < b ? 1 : -1));
  if (!isFiltered(filter)) return ids;
  return listContactIds(db, { ...filter, ids }, { limit: ids.length, offset: 0 });
}
