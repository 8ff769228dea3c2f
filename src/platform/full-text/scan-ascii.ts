// Splits a folded ASCII text into words, and joins the words for the full-text index. Hot, so words
// are compared by their bytes instead of as strings. The result equals the word-by-word result of
// document.ts for the same text.
import { wordCharacters } from './words.ts';

/** Limits of a scan, which document.ts sets. */
export interface ScanBounds {
  /** Most words to read. */
  words: number;
  /** Most positions to write for a word. */
  perWord: number;
  /** Most characters of all new words together. */
  characters: number;
}

export interface Scanned {
  /**
   * The words, each after a space. A word beyond `perWord` or `characters` leaves only the space.
   */
  text: string;
  /** Number of characters of all new words together. */
  characters: number;
}

/** Slots of the hash table: at least twice the most words of a text. */
const slots = 16_384;
/** Most collisions in a text; more mean an attack on the hash. */
const mostCollisions = 4 * slots;
const space = 0x20;
const isOfWord = new Uint8Array(256);
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') {
  isOfWord[character.charCodeAt(0)] = 1;
}

/**
 * Number of the last text. All texts share a hash table of words: `stamps` has the number of the
 * text that last used a slot.
 */
let lastStamp = 0;
const stamps = new Float64Array(slots);
const starts = new Int32Array(slots);
const lengths = new Uint8Array(slots);
const counts = new Uint16Array(slots);
let bytes = Buffer.alloc(0);
let out = Buffer.alloc(0);

/** Enlarges the buffers for a text (with an extra byte that ends the last word) and the result. */
function makeRoom(text: string, words: number): void {
  if (bytes.length <= text.length) bytes = Buffer.alloc(text.length * 2 + 1);
  const most = Math.min(words, text.length / 2 + 1) * (1 + wordCharacters);
  const needed = Math.min(most, text.length * 2 + 1);
  if (out.length < needed) out = Buffer.alloc(Math.ceil(needed * 1.5));
}

/**
 * Splits a text into words. `known` has the counts of earlier words of the document. Returns null
 * if too many words collide in the hash table.
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
