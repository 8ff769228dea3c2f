// Packs made from stored objects (gitformat-pack(5)). The store has the compressed bytes that a
// pack needs, so making a pack only copies them.
import { createHash } from 'node:crypto';
import { InternalError } from '../../platform/errors.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { Db } from '../../platform/store/db.ts';
import type { ObjectType } from './objects.ts';
import { countAfter, selectAfter } from './queries.ts';

const packTypes: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };

/** Objects that are read at once: up to 16 MB. */
const objectsAtOnce = 32;

function packHeader(objects: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(objects, 8);
  return header;
}

/** Returns the header of an object: the type, and the size in groups of four and seven bits. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (packTypes[type] << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); ; rest = Math.floor(rest / 128)) {
    if (rest === 0) {
      bytes.push(byte);
      return Buffer.from(bytes);
    }
    bytes.push(byte | 128);
    byte = rest & 127;
  }
}

/** A range of the history of main: commits with a position above `after`, up to `to`. */
export interface Range {
  after: number;
  to: number;
}

/** Counts the objects of a range, and their bytes in a pack. */
export function measure(db: Db, repositoryId: string, { after, to }: Range) {
  return countAfter(db, repositoryId, after, to);
}

/** Yields the pack of a range of the history of main. */
export async function* packOf(
  db: Db,
  repositoryId: string,
  range: Range,
): AsyncGenerator<Buffer, void, undefined> {
  const digest = createHash('sha1');
  const hashed = (bytes: Buffer) => {
    digest.update(bytes);
    return bytes;
  };
  const { objects } = await measure(db, repositoryId, range);
  yield hashed(packHeader(objects));
  let last = { position: range.after, oid: 'g' };
  let written = 0;
  for (;;) {
    const rows = await selectAfter(db, repositoryId, last, range.to, objectsAtOnce);
    const parts = rows.flatMap(({ type, size, content }) => [entryHeader(type, size), content]);
    if (rows.length > 0) yield hashed(Buffer.concat(parts));
    written += rows.length;
    const end = rows.at(-1);
    if (!end || rows.length < objectsAtOnce) break;
    last = end;
    await sliceTurns();
  }
  if (written !== objects)
    throw new InternalError(`${repositoryId} was deleted meanwhile`, 'store');
  yield digest.digest();
}
