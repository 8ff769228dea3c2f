// Splits a document into searchable words by position, as SQLite and PostgreSQL index them. Runs in
// the parse worker (src/mail/parse), because hostile text takes up to a second. Words for `from:`,
// `subject:` and `has:` follow the text, each with a mark of the field in front, which no word of a
// text has. PostgreSQL limits positions (16,383), positions of a word (256) and a whole tsvector (1
// MB). The same limits apply to SQLite, so that both engines find the same messages.
import { scanAscii } from './scan-ascii.ts';
import { addressesIn, folded, isAscii, wordsOf } from './words.ts';

export interface FullTextDocument {
  subject: string;
  /** Addresses and names of the senders. */
  from: readonly string[];
  text: string;
  hasAttachment: boolean;
}

/** Marks in front of the words of a field. */
export const marks = { from: '<', subject: '#', address: '@', has: '+' } as const;
export const attachmentWord = `${marks.has}attachment`;

/** Most characters of a text that are indexed; the rest is ignored. */
export const mostCharacters = 200_000;
const mostWords = 8_000;
const mostOfSubject = 500;
const mostOfFrom = 200;
const mostAddresses = 100;
const mostPerWord = 255;
/**
 * Most characters of all distinct words together. With at most three bytes a character, the words
 * stay below 1 MB.
 */
const mostWordCharacters = 200_000;

/** Placeholder for a position that no word and no phrase matches. */
export const gap = '';

/** Words of a document by position, joined: each after a space. A space without a word is a gap. */
export type DocumentWords = string;

/** Returns the words by position, with `gap` at positions where nothing can match. */
export function placesOf(document: FullTextDocument): string[] {
  const places = new Places();
  const body = addHead(places, document);
  places.add(wordsOf(body, mostWords));
  addMarked(places, document, body);
  return places.all;
}

/**
 * Returns the words of a document by position, joined. An ASCII text is scanned by bytes, which
 * takes a quarter of the time.
 */
export function wordsOfDocument(document: FullTextDocument): DocumentWords {
  const places = new Places();
  const body = addHead(places, document);
  const isBehind = places.all.length > 0;
  const bound = { words: mostWords, perWord: mostPerWord, characters: places.room };
  const scanned = isAscii(body) ? scanAscii(body, bound, places.times) : null;
  if (!scanned) return joined(placesOf(document));
  places.took(scanned.characters);
  const before = places.all.splice(0);
  if (isBehind && scanned.text !== '') before.push(gap);
  places.isBegun ||= scanned.text !== '';
  addMarked(places, document, body);
  return joined(before) + scanned.text + joined(places.all);
}

const joined = (places: readonly string[]): DocumentWords =>
  places.length === 0 ? '' : ` ${places.join(' ')}`;

/** Splits the result of `wordsOfDocument` into words by position. */
export function placesOfWords(words: DocumentWords): string[] {
  return words.split(' ').slice(1);
}

const headOf = ({ subject }: FullTextDocument) => folded(subject.slice(0, mostOfSubject * 10));
const sendersOf = ({ from }: FullTextDocument) =>
  from.map((one) => folded(one.slice(0, mostOfFrom * 10)));

/** Adds the words of subject and senders, which precede the text. Returns the folded text. */
function addHead(places: Places, document: FullTextDocument): string {
  places.add(wordsOf(headOf(document), mostOfSubject));
  for (const one of sendersOf(document)) places.add(wordsOf(one, mostOfFrom));
  return folded(document.text.slice(0, mostCharacters));
}

/** Adds the words with marks, which follow the text. */
function addMarked(places: Places, document: FullTextDocument, body: string): void {
  const head = headOf(document);
  const senders = sendersOf(document);
  places.add(wordsOf(head, mostOfSubject), marks.subject);
  for (const one of senders) places.add(wordsOf(one, mostOfFrom), marks.from);
  const written = senders.flatMap((one) => [...addressesIn(one, mostAddresses)]);
  const named = [head, body].flatMap((one) => [...addressesIn(one, mostAddresses)]);
  places.addSet(written, marks.from + marks.address);
  places.addSet([...written, ...named], marks.address);
  if (document.hasAttachment) places.add([attachmentWord]);
}

class Places {
  readonly all: string[] = [];
  /** Number of positions of each word so far. */
  readonly times = new Map<string, { count: number }>();
  /** Whether words were added before, so that a gap must precede further words. */
  isBegun: boolean = false;
  #characters = 0;

  /** Characters left for new words. */
  get room(): number {
    return mostWordCharacters - this.#characters;
  }

  /** Counts the characters of new words that `scanAscii` added. */
  took(characters: number): void {
    this.#characters += characters;
  }

  /** Adds consecutive words, with a gap before them. */
  add(words: readonly string[], mark = ''): void {
    if (words.length === 0) return;
    if (this.isBegun) this.all.push(gap);
    this.isBegun = true;
    for (const word of words) this.all.push(this.#bounded(mark === '' ? word : mark + word));
  }

  /** Adds each distinct word once, with gaps between them. */
  addSet(words: readonly string[], mark: string): void {
    for (const word of new Set(words)) this.add([word], mark);
  }

  #bounded(word: string): string {
    const times = this.times.get(word);
    if (times) return ++times.count > mostPerWord ? gap : word;
    if (word.length > this.room) return gap;
    this.#characters += word.length;
    this.times.set(word, { count: 1 });
    return word;
  }
}
