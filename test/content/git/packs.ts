// Packs made by hand (gitformat-pack(5)): of a push as a git client makes it, or broken ones.
import { createHash } from 'node:crypto';
import type { PackedObject } from '../../../src/content/git/commit.ts';

const types = { commit: 1, tree: 2, blob: 3 };

/** Returns the type and size of an object, or the bytes of a size of a delta. */
export function sizeBytes(first: number, bits: number, size: number): Buffer {
  const bytes = [first | (size % 2 ** bits)];
  for (let rest = Math.floor(size / 2 ** bits); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

/** Returns an object of a pack: its type, its size and its compressed bytes. */
export const entry = (type: number, size: number, ...rest: Buffer[]) =>
  Buffer.concat([sizeBytes(type << 4, 4, size), ...rest]);

/** Returns a pack of these entries, which says that it has `count`. */
export function packOf(entries: readonly Buffer[], count = entries.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(count, 8);
  const pack = Buffer.concat([header, ...entries]);
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
}

/** Returns a pack of these objects. */
export function packOfObjects(objects: readonly PackedObject[]): Buffer {
  return packOf(objects.map(({ type, size, content }) => entry(types[type], size, content)));
}
