// Packs made by hand: each broken or too large one is refused with its place, without its memory
// being taken and without a stall.
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBundle } from '../../../src/content/git/bundle.ts';
import { isRefName } from '../../../src/content/git/incoming.ts';
import { oidOf } from '../../../src/content/git/objects.ts';
import { packLimits, readPack } from '../../../src/content/git/pack-read.ts';
import { readPush } from '../../../src/content/git/smart-http.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { longestStallMs } from '../../support/work-time.ts';
import { entry, packOf, sizeBytes } from './packs.ts';

const noBases = async () => new Map();

const plain = (type: number, body: Buffer) => entry(type, body.length, deflateSync(body));
const blob = (text: string | Buffer) => plain(3, Buffer.from(text));

const deltaOf = (from: number, to: number, ...instructions: Buffer[]) =>
  Buffer.concat([sizeBytes(0, 7, from), sizeBytes(0, 7, to), ...instructions]);
/** Copies `length` bytes from the beginning of the base. */
const copy = (length: number) =>
  Buffer.of(0x80 | 0x10 | 0x20 | 0x40, length, length >> 8, length >> 16);
const refDelta = (base: string, delta: Buffer) =>
  entry(7, delta.length, Buffer.from(base, 'hex'), deflateSync(delta));

const refusalOf = (pack: Buffer) =>
  readPack(pack, noBases).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

describe('readPack', () => {
  it('reads plain objects and deltas of both kinds', async () => {
    const base = blob('hello world');
    const delta = deltaOf(11, 6, copy(5), Buffer.of(1, 0x21));
    const pack = packOf([
      base,
      entry(6, delta.length, Buffer.of(base.length), deflateSync(delta)),
      refDelta(oidOf('blob', Buffer.from('hello!')), deltaOf(6, 5, copy(5))),
    ]);
    const texts = [...(await readPack(pack, noBases)).values()].map(({ body }) => `${body}`);
    expect(new Set(texts)).toEqual(new Set(['hello', 'hello world', 'hello!']));
  });

  it('reads deltas of objects that the repository has', async () => {
    const body = Buffer.from('stored');
    const oid = oidOf('blob', body);
    const objects = await readPack(packOf([refDelta(oid, deltaOf(6, 3, copy(3)))]), async () => {
      return new Map([[oid, { type: 'blob' as const, body }]]);
    });
    expect([...objects.values()].map(({ body: text }) => `${text}`)).toEqual(['sto']);
  });

  it.each<[string, Buffer, string]>([
    ['no pack', Buffer.alloc(100, 'x'), 'is not a pack of version 2'],
    ['a count of 1,000,000 objects', packOf([blob('a')], 1_000_000), 'has 1000000 objects'],
    [
      'a wrong checksum',
      Buffer.concat([packOf([blob('a')]).subarray(0, -1), Buffer.of(0)]),
      'checksum',
    ],
    ['fewer objects than it says', packOf([blob('a')], 2), 'object 2: is cut off'],
    ['more bytes than its objects', packOf([blob('a'), blob('b')], 1), 'more bytes'],
    [
      'an object of 1 GB',
      packOf([entry(3, 2 ** 30, deflateSync(Buffer.alloc(1000)))]),
      'object 1: is larger',
    ],
    ['a size beyond all numbers', packOf([Buffer.alloc(40, 0xff)]), 'object 1: has a broken size'],
    [
      'a zlib bomb',
      packOf([entry(3, 10, deflateSync(Buffer.alloc(50_000_000)))]),
      'object 1: is not compressed data of its size',
    ],
    [
      'a delta bomb',
      packOf([
        blob(Buffer.alloc(65_536)),
        refDelta(
          oidOf('blob', Buffer.alloc(65_536)),
          deltaOf(65_536, 2 ** 30, ...Array.from({ length: 16_384 }, () => copy(65_536))),
        ),
      ]),
      'object 2: is larger than 1024 KB',
    ],
    [
      'a delta with more than it says',
      packOf([
        blob('abc'),
        refDelta(oidOf('blob', Buffer.from('abc')), deltaOf(3, 4, copy(3), copy(3))),
      ]),
      'object 2: has a delta beyond its bounds',
    ],
    [
      'a delta that reads behind its base',
      packOf([blob('abc'), refDelta(oidOf('blob', Buffer.from('abc')), deltaOf(3, 9, copy(9)))]),
      'object 2: has a delta beyond its bounds',
    ],
    [
      'a delta without a base',
      packOf([refDelta('1'.repeat(40), deltaOf(3, 3, copy(3)))]),
      `object 1: is a delta of ${'1'.repeat(40)}, which is missing`,
    ],
    [
      'a delta of itself',
      packOf([entry(6, 4, Buffer.of(0), deflateSync(deltaOf(3, 3, copy(3)).subarray(0, 4)))]),
      'object 1: is a delta of 12, which is missing',
    ],
    ['a tag', packOf([plain(4, Buffer.from('tag'))]), 'object 1: is a tag'],
    ['an unknown type', packOf([plain(5, Buffer.from('x'))]), 'object 1: has no known type'],
  ])('refuses %s', async (_what, pack, words) => {
    expect(await refusalOf(pack)).toContain(words);
  });

  it('refuses objects of more than 64 MB together', async () => {
    const entries = Array.from({ length: 70 }, (_, i) => blob(Buffer.alloc(1_000_000, i)));
    expect(await refusalOf(packOf(entries))).toContain('unpacks to more than 64 MB');
  });

  it('refuses a chain of deltas whose results grow beyond 64 MB', async () => {
    let body = Buffer.alloc(900_000);
    const entries = [blob(body)];
    for (let i = 0; i < 80; i++) {
      const next = Buffer.concat([body.subarray(0, 899_999), Buffer.of(i + 1)]);
      const delta = deltaOf(body.length, next.length, copy(899_999), Buffer.of(1, i + 1));
      entries.push(refDelta(oidOf('blob', body), delta));
      body = next;
    }
    expect(await refusalOf(packOf(entries))).toContain('unpacks to more than 64 MB');
  });

  it('survives 2,000 packs with flipped bytes', async () => {
    const random = seededRandom(33);
    const base = blob('hello world, hello world');
    const good = packOf([
      base,
      refDelta(oidOf('blob', Buffer.from('hello world, hello world')), deltaOf(24, 5, copy(5))),
    ]);
    for (let i = 0; i < 2_000; i++) {
      const bad = Buffer.from(good.subarray(0, -20));
      for (const byte of random.bytes(3)) bad[12 + (byte % (bad.length - 12))] = byte;
      const pack = Buffer.concat([bad, createHash('sha1').update(bad).digest()]);
      await readPack(pack, noBases).catch((error: Error) => {
        if (error.name !== 'Error' || !error.message.startsWith('pack, ')) throw error;
      });
    }
  });

  it('holds the event loop for less than 100 ms with the largest packs', async () => {
    const entries = Array.from({ length: packLimits.objects }, (_, i) =>
      blob(Buffer.alloc(12_000, `${i}`)),
    );
    const pack = packOf(entries);
    const reading = readPack(pack, noBases);
    expect(await longestStallMs(reading)).toBeLessThan(100);
    expect((await reading).size).toBeGreaterThan(4_900);
  });
});

describe('isRefName', () => {
  it.each(['refs/heads/../x', '../x', 'refs/heads/.x', 'refs/heads/a.lock', 'refs/heads/a b', 'x'])(
    'refuses %s',
    (name) => {
      expect(isRefName(name)).toBe(false);
    },
  );
  it.each(['HEAD', 'refs/heads/main', 'refs/tags/v1.0'])('accepts %s', (name) => {
    expect(isRefName(name)).toBe(true);
  });
});

describe('readBundle', () => {
  const oid = 'a'.repeat(40);
  it.each<[string, string, string]>([
    ['no bundle', 'hello', 'is not a git bundle of version 2'],
    ['a list without an end', `# v2 git bundle\n${oid} refs/heads/main\n`, 'does not end'],
    ['a ref named ../x', `# v2 git bundle\n${oid} ../x\n\nPACK`, 'malformed name ../x'],
    [
      'a bundle without main',
      `# v2 git bundle\n${oid} refs/heads/a\n\nPACK`,
      'has no refs/heads/main',
    ],
    ['10,000 refs', `# v2 git bundle\n${`${oid} refs/heads/a\n`.repeat(1_200)}\nPACK`, 'refs'],
  ])('refuses %s', (_what, text, words) => {
    expect(() => readBundle(Buffer.from(text))).toThrow(words);
  });
});

describe('readPush', () => {
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  const [from, to] = ['a'.repeat(40), 'b'.repeat(40)];
  it.each<[string, string, string]>([
    [
      'a ref named ../x',
      `${line(`${from} ${to} refs/heads/../x\0 report-status`)}0000`,
      'malformed',
    ],
    ['another branch', `${line(`${from} ${to} refs/heads/x`)}0000`, 'only refs/heads/main'],
    ['a deletion', `${line(`${from} ${'0'.repeat(40)} refs/heads/main`)}0000`, 'deleted'],
    ['a broken line', 'zzzz', 'broken line'],
    ['a line beyond its body', 'ffffabc', 'broken line'],
    ['no end of its commands', line(`${from} ${to} refs/heads/main`), 'no end'],
  ])('refuses %s', (_what, text, words) => {
    expect(() => readPush(Buffer.from(text))).toThrow(words);
  });
});
