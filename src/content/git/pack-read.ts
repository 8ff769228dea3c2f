// Reads a pack (gitformat-pack(5)) from a client that may be hostile: every size is checked before
// memory is allocated, and the work runs in slices, so that the event loop never waits for a whole
// pack.
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { MalformedRequestError, ValidationError } from '../../platform/errors.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import { type ObjectType, oidOf } from './objects.ts';

export const packLimits = {
  bytes: 16 * 1024 * 1024,
  objects: 5_000,
  /** Most uncompressed bytes of an object. */
  objectBytes: 1024 * 1024,
  /** Most uncompressed bytes of all objects, deltas and results of deltas together. */
  allBytes: 64 * 1024 * 1024,
} as const;

/** An object of a pack. */
export interface ReadObject {
  type: ObjectType;
  body: Buffer;
  /** The compressed body in the pack; undefined for the result of a delta. */
  content?: Buffer;
}

/** Finds objects outside of the pack that are bases of deltas in the pack. */
export type FindBases = (oids: readonly string[]) => Promise<ReadonlyMap<string, ReadObject>>;

interface Delta {
  /** Number of the object in the pack, from 1. */
  number: number;
  offset: number;
  /** Object that the delta changes: the offset in the pack, or the id. */
  base: number | string;
  instructions: Buffer;
}

const typeOf: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob' };
const [offsetDelta, refDelta] = [6, 7];

/** Bytes to hash before the event loop may run again. */
const sliceBytes = 512 * 1024;

function broken(place: string, problem: string): ValidationError {
  return ValidationError.of(`pack, ${place}`, problem);
}

class PackReader {
  readonly #pack: Buffer;
  readonly #end: number;
  #at = 12;
  #all = 0;

  constructor(pack: Buffer) {
    this.#pack = pack;
    this.#end = pack.length - 20;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  get offset(): number {
    return this.#at;
  }

  #byte(place: string): number {
    if (this.#at >= this.#end) throw broken(place, 'is cut off');
    return this.#pack[this.#at++] ?? 0;
  }

  /** Counts `size` uncompressed bytes of an object. @throws ValidationError above a limit */
  take(place: string, size: number): void {
    if (size > packLimits.objectBytes) {
      throw broken(place, `is larger than ${packLimits.objectBytes / 1024} KB`);
    }
    this.#all += size;
    if (this.#all > packLimits.allBytes) {
      throw broken(place, `the pack unpacks to more than ${packLimits.allBytes / 1024 / 1024} MB`);
    }
  }

  header(place: string): { type: number; size: number } {
    let byte = this.#byte(place);
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    for (let shift = 4; byte & 128; shift += 7) {
      if (shift > 32) throw broken(place, 'has a broken size');
      byte = this.#byte(place);
      size += (byte & 127) * 2 ** shift;
    }
    return { type, size };
  }

  baseOffset(place: string, offset: number): number {
    let byte = this.#byte(place);
    let distance = byte & 127;
    while (byte & 128) {
      byte = this.#byte(place);
      distance = (distance + 1) * 128 + (byte & 127);
      if (distance > offset) throw broken(place, 'has a base before the pack');
    }
    return offset - distance;
  }

  baseOid(place: string): string {
    const from = this.#at;
    this.#at += 20;
    if (this.#at > this.#end) throw broken(place, 'is cut off');
    return this.#pack.toString('hex', from, this.#at);
  }

  /** Inflates a body of this size; returns the body and the compressed bytes. */
  inflate(place: string, size: number): { body: Buffer; content: Buffer } {
    this.take(place, size);
    // A valid body compresses to hardly more bytes than it has; reading more would only cost time.
    const most = Math.min(this.#end, this.#at + 2 * size + 1_024);
    const input = this.#pack.subarray(this.#at, most);
    try {
      const options = { info: true, maxOutputLength: Math.max(1, size), chunkSize: size + 64 };
      const { buffer, engine } = inflateSync(input, options) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      if (buffer.length !== size) throw broken(place, 'has another size than it says');
      const content = input.subarray(0, engine.bytesWritten);
      this.#at += engine.bytesWritten;
      return { body: buffer, content };
    } catch (error) {
      if (error instanceof ValidationError) throw error;
      throw broken(place, 'is not compressed data of its size');
    }
  }
}

/** Reads a size of a delta: seven bits in each byte, the lowest first. */
function deltaSize(delta: Buffer, from: number): { size: number; at: number } {
  let [size, at] = [0, from];
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = delta[at++] ?? 0;
    size += (byte & 127) * 2 ** shift;
    if (!(byte & 128)) return { size, at };
  }
  return { size: Number.POSITIVE_INFINITY, at };
}

/** Most bytes for which a loop beats a call of `copy`: a delta can have 500,000 instructions. */
const shortCopy = 32;

/**
 * Bytes of a delta to read before the event loop may run again: 15 ms while V8 has not yet compiled
 * the loop.
 */
const deltaSliceBytes = 65_536;

/** Applies the instructions of a delta. Calls `take` with the size of the result beforehand. */
async function applyDelta(
  place: string,
  base: Buffer,
  delta: Buffer,
  take: (size: number) => void,
): Promise<Buffer> {
  const from = deltaSize(delta, 0);
  if (from.size !== base.length) throw broken(place, 'is a delta of a base of another size');
  const to = deltaSize(delta, from.at);
  take(to.size);
  const result = Buffer.allocUnsafe(to.size);
  let written = 0;
  let at = to.at;
  const next = () => {
    const byte = delta[at++];
    if (byte === undefined) throw broken(place, 'has a delta that is cut off');
    return byte;
  };
  let turn = at + deltaSliceBytes;
  while (at < delta.length) {
    if (at > turn) {
      turn = at + deltaSliceBytes;
      await sliceTurns();
    }
    const code = next();
    let source = delta;
    let start = at;
    let length = code;
    if (code & 128) {
      source = base;
      start = 0;
      length = 0;
      for (let i = 0; i < 4; i++) if (code & (1 << i)) start |= next() << (8 * i);
      for (let i = 0; i < 3; i++) if (code & (16 << i)) length |= next() << (8 * i);
      // Converts the four bytes to an unsigned number.
      start >>>= 0;
      if (length === 0) length = 0x10000;
    } else {
      at += code;
    }
    if (length === 0 || start + length > source.length || written + length > to.size) {
      throw broken(place, 'has a delta beyond its bounds');
    }
    if (length > shortCopy) source.copy(result, written, start, start + length);
    else for (let i = 0; i < length; i++) result[written + i] = source[start + i] ?? 0;
    written += length;
  }
  if (written !== to.size) throw broken(place, 'has a delta with another result than it says');
  return result;
}

async function checkDigest(pack: Buffer): Promise<void> {
  const digest = createHash('sha1');
  const end = pack.length - 20;
  for (let at = 0; at < end; at += sliceBytes) {
    digest.update(pack.subarray(at, Math.min(end, at + sliceBytes)));
    await sliceTurns();
  }
  if (!digest.digest().equals(pack.subarray(end))) throw broken('its end', 'has a wrong checksum');
}

/**
 * Returns the objects of a pack by id.
 * @throws ValidationError for a broken or too large pack; MalformedRequestError (413) for too many
 * bytes
 */
export async function readPack(
  pack: Buffer,
  findBases: FindBases,
): Promise<Map<string, ReadObject>> {
  if (pack.length > packLimits.bytes) {
    const text = `The pack is larger than ${packLimits.bytes / 1024 / 1024} MB`;
    throw new MalformedRequestError(text, 413);
  }
  const isPack = pack.toString('latin1', 0, 8) === 'PACK\0\0\0\u0002';
  if (pack.length < 32 || !isPack) throw broken('its beginning', 'is not a pack of version 2');
  const count = pack.readUInt32BE(8);
  if (count > packLimits.objects) {
    throw broken(
      'its beginning',
      `has ${count} objects, at most ${packLimits.objects} are taken at once: push in parts`,
    );
  }
  await checkDigest(pack);
  const unpacked = new Unpacked(new PackReader(pack));
  for (let number = 1; number <= count; number++) await unpacked.read(number);
  if (!unpacked.reader.isAtEnd) throw broken('its end', 'has more bytes than its objects');
  await unpacked.resolve(findBases);
  return unpacked.objects;
}

/** The objects of a pack, and the deltas whose base is still missing. */
class Unpacked {
  readonly objects = new Map<string, ReadObject>();
  readonly reader: PackReader;
  readonly #waiting = new Map<number | string, Delta[]>();
  #found: { offset: number; oid: string; object: ReadObject }[] = [];

  constructor(reader: PackReader) {
    this.reader = reader;
  }

  /** Reads the next object of the pack; `number` counts objects from 1. */
  async read(number: number): Promise<void> {
    const { reader } = this;
    const place = `object ${number}`;
    const { offset } = reader;
    const { type, size } = reader.header(place);
    const plain = typeOf[type];
    if (plain) {
      const object = { type: plain, ...reader.inflate(place, size) };
      this.#add(offset, object);
    } else if (type === offsetDelta || type === refDelta) {
      const base = type === refDelta ? reader.baseOid(place) : reader.baseOffset(place, offset);
      const { body: instructions } = reader.inflate(place, size);
      const waiting = this.#waiting.get(base) ?? [];
      waiting.push({ number, offset, base, instructions });
      this.#waiting.set(base, waiting);
    } else {
      throw broken(place, type === 4 ? 'is a tag: only commits are kept' : 'has no known type');
    }
    await sliceTurns();
  }

  /** Resolves all deltas: first on bases within the pack, then on bases from `findBases`. */
  async resolve(findBases: FindBases): Promise<void> {
    await this.#resolveFound();
    const missing = [...this.#waiting.keys()].filter((base) => typeof base === 'string');
    if (missing.length > 0) {
      for (const [oid, object] of await findBases(missing)) {
        this.#found.push({ offset: -1, oid, object });
      }
      await this.#resolveFound();
    }
    for (const [delta] of this.#waiting.values()) {
      throw broken(`object ${delta?.number}`, `is a delta of ${delta?.base}, which is missing`);
    }
  }

  async #resolveFound(): Promise<void> {
    for (let next = this.#found.pop(); next; next = this.#found.pop()) {
      for (const base of [next.offset, next.oid]) {
        const deltas = this.#waiting.get(base) ?? [];
        this.#waiting.delete(base);
        for (const { number, offset, instructions } of deltas) {
          const place = `object ${number}`;
          const take = (size: number) => this.reader.take(place, size);
          const body = await applyDelta(place, next.object.body, instructions, take);
          this.#add(offset, { type: next.object.type, body });
          await sliceTurns();
        }
      }
    }
  }

  #add(offset: number, object: ReadObject): void {
    const oid = oidOf(object.type, object.body);
    this.objects.set(oid, object);
    this.#found.push({ offset, oid, object });
  }
}
