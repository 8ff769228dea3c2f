// What a document is found by: its words one place after the other, as both engines keep them. What
// `from:`, `subject:` and `has:` ask stands behind the text, each word with the mark of its field; no word
// of a text begins with one. PostgreSQL bounds places (16,383), places of a word (256) and the whole of it
// (1 MB), so these bounds hold on both engines.
import { addressesIn, folded, wordsOf } from './words.ts';

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
const mostCharacters = 200_000;
const mostWords = 8_000;
const mostOfSubject = 500;
const mostOfFrom = 200;
const mostAddresses = 100;
const mostPerWord = 255;
/** Of all words together: each has three bytes at most, which is well below the megabyte. */
const mostWordCharacters = 200_000;

/** A place that no phrase goes across. */
export const gap = '';

/** The words by their places; `gap` where nothing is found. */
export function placesOf({ subject, from, text, hasAttachment }: FullTextDocument): string[] {
  const head = folded(subject.slice(0, mostOfSubject * 10));
  const senders = from.map((one) => folded(one.slice(0, mostOfFrom * 10)));
  const body = folded(text.slice(0, mostCharacters));
  const subjectWords = wordsOf(head, mostOfSubject);
  const fromWords = senders.map((one) => wordsOf(one, mostOfFrom));
  const places = new Places();
  places.add(subjectWords);
  for (const words of fromWords) places.add(words);
  places.add(wordsOf(body, mostWords));
  places.add(subjectWords, marks.subject);
  for (const words of fromWords) places.add(words, marks.from);
  const written = senders.flatMap((one) => [...addressesIn(one, mostAddresses)]);
  const named = [head, body].flatMap((one) => [...addressesIn(one, mostAddresses)]);
  places.addSet(written, marks.from + marks.address);
  places.addSet([...written, ...named], marks.address);
  if (hasAttachment) places.add([attachmentWord]);
  return places.all;
}

class Places {
  readonly all: string[] = [];
  readonly #times = new Map<string, { count: number }>();
  #characters = 0;

  /** One after the other, apart from what was there before. */
  add(words: readonly string[], mark = ''): void {
    if (words.length === 0) return;
    if (this.all.length > 0) this.all.push(gap);
    for (const word of words) this.all.push(this.#bounded(mark === '' ? word : mark + word));
  }

  /** Each once, in no order. */
  addSet(words: readonly string[], mark: string): void {
    for (const word of new Set(words)) this.add([word], mark);
  }

  #bounded(word: string): string {
    const times = this.#times.get(word);
    if (times) return ++times.count > mostPerWord ? gap : word;
    if (this.#characters + word.length > mostWordCharacters) return gap;
    this.#characters += word.length;
    this.#times.set(word, { count: 1 });
    return word;
  }
}
