// Packs made to hold up the reader: many short instructions of deltas, and commits with trees of
// many folders.

import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';
import { readPack } from '../../../src/content/git/pack-read.ts';
import { longestStallMs } from '../../support/work-time.ts';

const blob = 3;
const refDelta = 7;

function entry(type: number, body: Buffer, base = Buffer.alloc(0)): Buffer {
  const header = [(type << 4) | (body.length & 15)];
  for (let rest = body.length >> 4; rest > 0; rest >>= 7) {
    header[header.length - 1] = (header.at(-1) ?? 0) | 128;
    header.push(rest & 127);
  }
  return Buffer.concat([Buffer.from(header), base, deflateSync(body)]);
}

function packOf(entries: readonly Buffer[]): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(entries.length, 8);
  const pack = Buffer.concat([header, ...entries]);
  return Buffer.concat([pack, Buffer.from(hash('sha1', pack), 'hex')]);
}

function deltaSize(size: number): number[] {
  return [(size & 127) | 128, ((size >> 7) & 127) | 128, size >> 14];
}

/** A delta that copies the first byte of its base, again and again. */
function delta(baseBytes: number, copies: number): Buffer {
  const sizes = Buffer.from([...deltaSize(baseBytes), ...deltaSize(copies)]);
  return Buffer.concat([sizes, Buffer.from('\x90\x01'.repeat(copies), 'latin1')]);
}

describe('a pack', () => {
  it('with deltas of 500,000 instructions never stalls the event loop', async () => {
    const base = Buffer.from('a'.repeat(100));
    const id = Buffer.from(hash('sha1', Buffer.concat([Buffer.from('blob 100\0'), base])), 'hex');
    const deltas = [500_001, 500_002, 500_003, 500_004].map((copies) => delta(100, copies));
    const pack = packOf([entry(blob, base), ...deltas.map((one) => entry(refDelta, one, id))]);
    const reading = readPack(pack, async () => new Map());
    expect(await longestStallMs(reading)).toBeLessThan(50);
    expect([...(await reading).values()].map(({ body }) => body.length)).toEqual([
      100, 500_001, 500_002, 500_003, 500_004,
    ]);
  });

  it('copies from an offset of four bytes within the bounds of its base only', async () => {
    const base = Buffer.from('a'.repeat(100));
    const id = Buffer.from(hash('sha1', Buffer.concat([Buffer.from('blob 100\0'), base])), 'hex');
    const sizes = Buffer.from([...deltaSize(100), ...deltaSize(1)]);
    const far = Buffer.concat([sizes, Buffer.from([0x9f, 0xff, 0xff, 0xff, 0xff, 1])]);
    const pack = packOf([entry(blob, base), entry(refDelta, far, id)]);
    await expect(readPack(pack, async () => new Map())).rejects.toThrow('beyond its bounds');
  });
});
