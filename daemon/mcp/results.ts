// Results for an agent: cut to a part of the agent's context, mail from outside marked, invisible
// characters replaced by visible signs. Fixed rules set the marks, not a model.
import { hidesWords } from '../../src/mail/mime/html/hidden-words.ts';
import { misleading, plainly } from '../../src/platform/runtime/signs.ts';

/** Most characters of a result. */
const mostCharacters = 40_000;
/** Most characters of a single text in a result. */
const longestText = 12_000;
const mostMessages = 100;

export type Suspicion = 'hidden-text' | 'zero-width' | 'direction' | 'controls';

/** Returns the ids of the messages in a value, at most 100. */
export function messageIdsIn(value: unknown): string[] {
  const ids = new Set<string>();
  const look = (one: unknown) => {
    if (typeof one !== 'object' || one === null || ids.size >= mostMessages) return;
    if ('id' in one && typeof one.id === 'string' && one.id.startsWith('msg_')) ids.add(one.id);
    for (const part of Object.values(one)) look(part);
  };
  look(value);
  return [...ids];
}

/** Returns the kinds of deception in a text: invisible characters, text direction, controls. */
function suspicionsIn(text: string): Suspicion[] {
  const found: Suspicion[] = [];
  if (/[\u200B-\u200D\u2060-\u2064\uFEFF\u00AD\u{E0000}-\u{E007F}]/u.test(text)) {
    if (text.search(misleading) >= 0) found.push('zero-width');
  }
  if (/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/u.test(text)) found.push('direction');
  if (/(?![\n\r\t])\p{Cc}/u.test(text)) found.push('controls');
  return found;
}

export interface Shown {
  value: unknown;
  suspicious: Suspicion[];
}

/**
 * Returns a value for an agent, with visible signs for invisible characters, long texts cut, and
 * the kinds of deception found. A message with an id in `hidden` gets the mark of hidden HTML text
 * even if the value lacks the HTML.
 */
export function shown(value: unknown, hidden: ReadonlySet<string>): Shown {
  const suspicious = new Set<Suspicion>();
  let left = mostCharacters;
  const show = (one: unknown): unknown => {
    if (typeof one === 'string') {
      for (const found of suspicionsIn(one)) suspicious.add(found);
      if (/<[a-z!/]/i.test(one)) {
        const part = one.slice(0, Math.min(longestText, left));
        if (hidesWords(part)) suspicious.add('hidden-text');
        left -= part.length;
      }
      return cut(plainly(one));
    }
    if (Array.isArray(one)) return one.map(show);
    if (typeof one !== 'object' || one === null) return one;
    const parts = Object.entries(one).map(([name, part]) => [plainly(name), show(part)]);
    if (!('id' in one && hidden.has(String(one.id)))) return Object.fromEntries(parts);
    suspicious.add('hidden-text');
    return { ...Object.fromEntries(parts), suspicious: ['hidden-text'] };
  };
  return { value: show(value), suspicious: [...suspicious].sort() };
}

function cut(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText)}… (${text.length - longestText} more characters are cut)`;
}

interface List {
  items: unknown[];
  nextCursor?: string | null;
  pagination?: { page: number; totalPages: number };
}

/** Returns whether a value is a page of a list. */
export function isList(value: unknown): value is List {
  return typeof value === 'object' && value !== null && Array.isArray((value as List).items);
}

/** Position in a list: the page of the API, and the number of items already returned from it. */
export interface ListPlace {
  page: string | null;
  skip: number;
}

/** Decodes a cursor; the begin of the list without a cursor. @throws TypeError if malformed */
export function placeOf(cursor: unknown): ListPlace {
  if (cursor === undefined) return { page: null, skip: 0 };
  try {
    const [page, skip] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString());
    if ((page === null || typeof page === 'string') && Number.isInteger(skip) && skip >= 0) {
      return { page, skip };
    }
  } catch {
    // Falls through to the error below.
  }
  throw new TypeError('cursor: expected nextCursor of the part before');
}

function cursorTo({ page, skip }: ListPlace): string {
  return Buffer.from(JSON.stringify([page, skip])).toString('base64url');
}

/**
 * Returns the items from `place` on that fit into a result, at least the first item. `nextCursor`
 * leads to the rest; null at the end of the list.
 */
export function fitting(
  list: List,
  place: ListPlace,
): { items: unknown[]; nextCursor: string | null } {
  const items: unknown[] = [];
  let characters = 0;
  for (const item of list.items.slice(place.skip)) {
    characters += JSON.stringify(item).length;
    if (items.length > 0 && characters > mostCharacters) {
      return { items, nextCursor: cursorTo({ ...place, skip: place.skip + items.length }) };
    }
    items.push(item);
  }
  return { items, nextCursor: nextPage(list) };
}

function nextPage({ nextCursor, pagination }: List): string | null {
  if (typeof nextCursor === 'string') return cursorTo({ page: nextCursor, skip: 0 });
  if (!pagination || pagination.page >= pagination.totalPages) return null;
  return cursorTo({ page: String(pagination.page + 1), skip: 0 });
}

/** Returns a value as JSON, cut after 160,000 characters. */
export function boundedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 4 * mostCharacters ? text : `${text.slice(0, 4 * mostCharacters)}… (cut)`;
}
