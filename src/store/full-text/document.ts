// What a document is found by: its words one place after the other, as both engines keep them. It runs in
// the parse worker (src/mime/parse), as hostile text costs up to a second. What `from:`, `subject:` and `has:` ask stands behind the text, each word with the mark of its field; no word
// of a text begins with one. PostgreSQL bounds places (16,383), places of a word (256) and the whole of it
// (1 MB), so these bounds hold on both engines.
import { scanAscii } from './scan-ascii.ts';
import { addressesIn, folded, isAscii, wordsOf } from './words.ts';

export interface FullTextDocument {
  subject: string;
  /** Address and name of who wrote it. */
  from: readonly string[];
  text: string;
  hasAttachment: boolean;
}

/** The mark of a field, before each of its words. */
export const marks = { from: '<', subject: '#', address: '@', has: '+' } as const;
export const attachmentWord = `${marks.has}attachment`;

/** Looked at of a text: the rest is not found. */
export const mostCharacters = 200_000;
const mostWords = 8_000;
const mostOfSubject = 500;
const mostOfFrom = 200;
const mostAddresses = 100;
const mostPerWord = 255;
/** Of all words together: each has three bytes at most, which is well below the megabyte. */
const mostWordCharacters = 200_000;

/** A place that no phrase goes across. */
export const gap = '';

/** The places of a document as one text: a space before each word; a gap is a space alone. */
export type DocumentWords = string;

/** The words by their places; `gap` where nothing is found. */
export function placesOf(document: FullTextDocument): string[] {
  const places = new Places();
  const body = addHead(places, document);
  places.add(wordsOf(body, mostWords));
  addMarked(places, document, body);
  return places.all;
}

/** Joins the places of a document. Reads a text in ASCII byte by byte, at a quarter of the time. */
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

/** The places that `wordsOfDocument` joined. */
export function placesOfWords(words: DocumentWords): string[] {
  return words.split(' ').slice(1);
}

const headOf = ({ subject }: FullTextDocument) => folded(subject.slice(0, mostOfSubject * 10));
const sendersOf = ({ from }: FullTextDocument) =>
  from.map((one) => folded(one.slice(0, mostOfFrom * 10)));

/** What stands before the text; returns the text, folded. */
function addHead(places: Places, document: FullTextDocument): string {
  places.add(wordsOf(headOf(document), mostOfSubject));
  for (const one of sendersOf(document)) places.add(wordsOf(one, mostOfFrom));
  return folded(document.text.slice(0, mostCharacters));
}

/** What stands behind it. */
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
  /** How often each word was taken. */
  readonly times = new Map<string, { count: number }>();
  /** Something stands before what is added next. */
  isBegun: boolean = false;
  #characters = 0;

  /** How many characters new words may have yet. */
  get room(): number {
    return mostWordCharacters - this.#characters;
  }

  /** New words of so many characters stand elsewhere. */
  took(characters: number): void {
    this.#characters += characters;
  }

  /** One after the other, apart from what was there before. */
  add(words: readonly string[], mark = ''): void {
    if (words.length === 0) return;
    if (this.isBegun) this.all.push(gap);
    this.isBegun = true;
    for (const word of words) this.all.push(this.#bounded(mark === '' ? word : mark + word));
  }

  /** Each once, in no order. */
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
