// Packs of commits for a push, as a git client makes them (gitformat-pack(5)).
import { createHash } from 'node:crypto';
import type { PackedObject } from '../../../src/content/git/commit.ts';
import { packTypes } from '../../../src/content/git/pack-write.ts';

function entryOf({ type, size, content }: PackedObject): Buffer {
  const bytes = [(packTypes[type] << 4) | (size % 16)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
    bytes.push(rest % 128);
  }
  return Buffer.concat([Buffer.from(bytes), content]);
}

/** Returns a pack of these objects. */
export function packOfObjects(objects: readonly PackedObject[]): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(objects.length, 8);
  const pack = Buffer.concat([header, ...objects.map(entryOf)]);
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
}
