// Merkle trees (RFC 9162, 2.1) whose nodes are stored in tiles of 256: a tile of level 0 has the
// hashes of 256 leaves, a tile of level 1 the roots of 256 full tiles below it, and so on. So an
// append writes a tile of each level, and a proof reads a few. Pure.
import { hash } from 'node:crypto';
import type { Hash } from '../history/events/leaf.ts';

/** Size of a hash in bytes (SHA-256). */
const hashBytes = 32;
/** Binary logarithm of the number of hashes in a full tile. */
const tileBits = 8;
export const tileSize = 2 ** tileBits;
/** Most levels of tiles: enough for 2^40 events. */
const mostLevels = 5;

/** Reused buffer for the bytes of a node: a 1, then the hashes of the two halves. */
const node = Buffer.alloc(1 + 2 * hashBytes, 1);

function nodeHash(left: Hash, right: Hash): Hash {
  node.write(left, 1, 'latin1');
  node.write(right, 1 + hashBytes, 'latin1');
  return hash('sha256', node, 'binary');
}

export function toHex(one: Hash): string {
  return Buffer.from(one, 'latin1').toString('hex');
}

export function fromHex(text: string): Hash {
  return Buffer.from(text, 'hex').toString('latin1');
}

/** Returns the largest power of two that is smaller than `count`. */
function splitOf(count: number): number {
  return 2 ** Math.ceil(Math.log2(count) - 1);
}

/**
 * Returns the root over these hashes, which are leaves or the roots of full trees of equal size.
 */
export function rootOver(hashes: readonly Hash[]): Hash {
  if (hashes.length === 0) return hash('sha256', '', 'binary');
  let level = hashes;
  // A last hash without a partner moves up unchanged, so only the right edge lacks full trees.
  while (level.length > 1) {
    const above: Hash[] = [];
    for (let at = 0; at + 1 < level.length; at += 2) {
      above.push(nodeHash(level[at] as Hash, level[at + 1] as Hash));
    }
    if (level.length % 2 === 1) above.push(level.at(-1) as Hash);
    level = above;
  }
  return level[0] as Hash;
}

/** Returns the hashes that lead from a hash of the list to the root, the lowest first. */
function pathOver(hashes: readonly Hash[], index: number): Hash[] {
  if (hashes.length <= 1) return [];
  const split = splitOf(hashes.length);
  const left = hashes.slice(0, split);
  const right = hashes.slice(split);
  return index < split
    ? [...pathOver(left, index), rootOver(right)]
    : [...pathOver(right, index - split), rootOver(left)];
}

/**
 * Returns the root that a path leads to from a leaf (RFC 9162, 2.1.3.2); null for a path whose
 * length does not fit this leaf in a tree of this size.
 */
export function rootOfPath(
  leaf: Hash,
  index: number,
  size: number,
  path: readonly Hash[],
): Hash | null {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return null;
  let at = index;
  let last = size - 1;
  let root = leaf;
  for (const next of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(next, root);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else root = nodeHash(root, next);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : null;
}

/**
 * Position of a tile in the Merkle tree: level 0 has the leaves, level 1 the roots of full tiles.
 */
export interface TilePlace {
  level: number;
  number: number;
}

/** Returns the hashes of a tile, in order. A tile that is not stored has none. */
export type ReadTile = (place: TilePlace) => readonly Hash[];

/**
 * Returns the number of hashes on a level of a tree with `size` leaves: the leaves on level 0, the
 * roots of full tiles above.
 */
function countOn(level: number, size: number): number {
  return Math.floor(size / tileSize ** level);
}

/**
 * Returns the positions of the last, unfinished tiles of a tree: a tile of each level with hashes.
 */
export function edgeOf(size: number): TilePlace[] {
  const places: TilePlace[] = [];
  for (let level = 0; level < mostLevels && countOn(level, size) > 0; level += 1) {
    places.push({ level, number: Math.floor(countOn(level, size) / tileSize) });
  }
  return places;
}

/** Returns the positions of the tiles that prove a leaf. */
export function tilesOfProof(index: number, size: number): TilePlace[] {
  return edgeOf(size).flatMap((edge) => {
    const number = Math.floor(index / tileSize ** (edge.level + 1));
    return number < edge.number ? [{ level: edge.level, number }, edge] : [edge];
  });
}

/** Returns the root of the tree; `read` has the tiles of `edgeOf`. */
export function rootOfTree(size: number, read: ReadTile): Hash {
  let right: Hash[] = [];
  for (const place of edgeOf(size)) {
    const hashes = [...read(place), ...right];
    right = hashes.length === 0 ? [] : [rootOver(hashes)];
  }
  return right[0] ?? rootOver([]);
}

/** Returns the path of a leaf to the root; `read` has the tiles of `tilesOfProof`. */
export function pathInTree(index: number, size: number, read: ReadTile): Hash[] {
  const path: Hash[] = [];
  /** Root of the leaves to the right of the full trees of a level. */
  let right: Hash[] = [];
  for (const edge of edgeOf(size)) {
    const at = Math.floor(index / tileSize ** edge.level);
    const number = Math.floor(at / tileSize);
    const edgeHashes = [...read(edge), ...right];
    const hashes = number < edge.number ? read({ level: edge.level, number }) : edgeHashes;
    // If the leaf is under `right`, `at` is the place of `right`, the last of `edgeHashes`.
    path.push(...pathOver(hashes, at - number * tileSize));
    right = edgeHashes.length === 0 ? [] : [rootOver(edgeHashes)];
  }
  return path;
}

/** A tile that an append changes, with all hashes. */
export interface GrownTile extends TilePlace {
  hashes: readonly Hash[];
}

/**
 * Returns the tiles that change when these leaves follow the `size` leaves of a tree, the lowest
 * first.
 */
export function append(size: number, leaves: readonly Hash[], read: ReadTile): GrownTile[] {
  const grown: GrownTile[] = [];
  let added = leaves;
  for (let level = 0; added.length > 0; level += 1) {
    const first = Math.floor(countOn(level, size) / tileSize);
    const stored = countOn(level, size) % tileSize === 0 ? [] : read({ level, number: first });
    const all = [...stored, ...added];
    const full: Hash[] = [];
    for (let at = 0; at < all.length; at += tileSize) {
      const hashes = all.slice(at, at + tileSize);
      grown.push({ level, number: first + at / tileSize, hashes });
      if (hashes.length === tileSize) full.push(rootOver(hashes));
    }
    added = full;
  }
  return grown;
}

/** Returns a tile as stored bytes. */
export function bytesOf(hashes: readonly Hash[]): Buffer {
  return Buffer.from(hashes.join(''), 'latin1');
}

/** Returns the hashes of a stored tile. */
export function hashesOf(stored: Uint8Array): Hash[] {
  const { buffer, byteOffset, byteLength } = stored;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
  return Array.from({ length: Math.floor(byteLength / hashBytes) }, (_, at) =>
    text.slice(at * hashBytes, (at + 1) * hashBytes),
  );
}
