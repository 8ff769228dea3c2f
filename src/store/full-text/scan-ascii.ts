// The words of a folded text in ASCII, one behind the other as FTS5 takes them apart again: the hot part of
// indexing. Words are told apart by their bytes, so that no string is made of each; what comes out is what
// document.ts makes of the same text word by word.
import { wordCharacters } from './words.ts';

/** What document.ts bounds. */
export interface ScanBounds {
  /** Words read, and how often one of them is written. */
  words: number;
  perWord: number;
  /** Of all new words together. */
  characters: number;
}

export interface Scanned {
  /** Each word behind a space; beyond a bound the space stands alone. */
  text: string;
  /** Of the new words. */
  characters: number;
}

/** At least twice the words of a text. */
const slots = 16_384;
/** A text whose words fall upon each other more often is made for that. */
const mostCollisions = 4 * slots;
const space = 0x20;
const isOfWord = new Uint8Array(256);
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') {
  isOfWord[character.charCodeAt(0)] = 1;
}

/** A hash table of the words of one text. The next uses it anew: the stamp of a slot says whose it is. */
let lastStamp = 0;
const stamps = new Float64Array(slots);
const starts = new Int32Array(slots);
const lengths = new Uint8Array(slots);
const counts = new Uint16Array(slots);
let bytes = Buffer.alloc(0);
let out = Buffer.alloc(0);

/** Room for the text with one byte behind it, which ends its last word, and for all words of it. */
function makeRoom(text: string, words: number): void {
  if (bytes.length <= text.length) bytes = Buffer.alloc(text.length * 2 + 1);
  const most = Math.min(words, text.length / 2 + 1) * (1 + wordCharacters);
  const needed = Math.min(most, text.length * 2 + 1);
  if (out.length < needed) out = Buffer.alloc(Math.ceil(needed * 1.5));
}

/**
 * `known`: words before the text, and how often each was taken. Null where the text has too many words of
 * one hash.
 */
export function scanAscii(
  text: string,
  bounds: ScanBounds,
  known: ReadonlyMap<string, { count: number }>,
): Scanned | null {
  makeRoom(text, bounds.words);
  const [source, target] = [bytes, out];
  const length = source.write(text, 0, 'latin1');
  source[length] = 0;
  const stamp = ++lastStamp;
  let { characters: room, words: left } = bounds;
  let collisions = 0;
  let end = 0;
  let at = 0;
  for (; left > 0; left--) {
    while (at < length && isOfWord[source[at] ?? 0] === 0) at += 1;
    if (at >= length) break;
    const start = at;
    let hash = 0;
    for (let byte = source[at] ?? 0; isOfWord[byte] === 1; byte = source[++at] ?? 0) {
      if (at - start < wordCharacters) hash = Math.imul(hash ^ byte, 0x01000193);
    }
    const size = Math.min(at - start, wordCharacters);
    let slot = (hash ^ (hash >>> 15)) & (slots - 1);
    while (stamps[slot] === stamp && !isWordOf(slot, start, size)) {
      if (++collisions > mostCollisions) return null;
      slot = (slot + 1) & (slots - 1);
    }
    target[end++] = space;
    if (stamps[slot] !== stamp) {
      const before = known.get(text.slice(start, start + size))?.count;
      if (before === undefined && size > room) continue;
      if (before === undefined) room -= size;
      stamps[slot] = stamp;
      starts[slot] = start;
      lengths[slot] = size;
      counts[slot] = before ?? 0;
    }
    const count = (counts[slot] ?? 0) + 1;
    counts[slot] = count;
    if (count > bounds.perWord) continue;
    for (let i = 0; i < size; i++) target[end + i] = source[start + i] ?? 0;
    end += size;
  }
  return { text: target.toString('latin1', 0, end), characters: bounds.characters - room };
}

function isWordOf(slot: number, start: number, size: number): boolean {
  if (lengths[slot] !== size) return false;
  const other = starts[slot] ?? 0;
  for (let i = 0; i < size; i++) if (bytes[other + i] !== bytes[start + i]) return false;
  return true;
}
