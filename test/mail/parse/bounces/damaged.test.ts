// Bounces cut and mutated: the readers never throw, and no damage makes a bounce hard. Digits stay,
// because another code is another reply.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBounce } from '../../../../src/mail/parse/bounce/bounce-report.ts';
import { readComplaint } from '../../../../src/mail/parse/bounce/complaint.ts';
import { parseMime } from '../../../../src/mail/parse/parse-mime.ts';
import { expected, fixture, fixtureNames } from './fixture.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env.TEST_RUNS ?? 150);

const hardOf = (name: string) =>
  (expected[name]?.bounce?.recipients ?? []).filter(({ isHard }) => isHard);

const softNames = fixtureNames.filter((name) => hardOf(name).length === 0);
const hardNames = fixtureNames.filter((name) => hardOf(name).length > 0);
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/**
 * Overwrites, removes and doubles spans, then cuts; digits stay digits, and nothing else becomes
 * one.
 */
function damage(names: string[]) {
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    kind: fc.constantFrom('overwrite', 'remove', 'double', 'swap'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    length: fc.integer({ min: 1, max: 200 }),
  });
  return fc
    .record({
      name: fc.constantFrom(...names),
      edits: fc.array(edit, { maxLength: 10 }),
      end: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: 1, freq: 2 }),
    })
    .map(({ name, edits, end }) => {
      let raw = Buffer.from(fixture(name));
      for (const { at, kind, bytes, length } of edits) {
        const start = Math.floor(at * raw.length);
        if (kind === 'overwrite') {
          for (const [offset, byte] of bytes.entries()) {
            const place = start + offset;
            if (place < raw.length && !isDigit(raw[place]) && !isDigit(byte)) raw[place] = byte;
          }
        } else if (kind === 'double') {
          const span = raw.subarray(start, start + length);
          raw = Buffer.concat([raw.subarray(0, start), span, raw.subarray(start)]);
        } else if (kind === 'swap') {
          const line = raw.indexOf(0x0a, start);
          const next = line < 0 ? -1 : raw.indexOf(0x0a, line + 1);
          if (next < 0) continue;
          const parts = [raw.subarray(0, start), raw.subarray(line + 1, next + 1)];
          raw = Buffer.concat([...parts, raw.subarray(start, line + 1), raw.subarray(next + 1)]);
        } else {
          raw = Buffer.concat([raw.subarray(0, start), raw.subarray(start + bytes.length)]);
        }
      }
      return { name, raw: raw.subarray(0, Math.ceil(raw.length * end)) };
    });
}

async function readHard(raw: Buffer) {
  const parsed = await parseMime(raw);
  readComplaint(parsed);
  const bounce = readBounce(parsed);
  expect(JSON.parse(JSON.stringify(bounce))).toEqual(bounce);
  return (bounce?.recipients ?? []).filter(({ isHard }) => isHard);
}

describe(`a damaged bounce (seed ${seed})`, () => {
  it('never becomes hard', async () => {
    await fc.assert(
      fc.asyncProperty(damage(softNames), async ({ name, raw }) => {
        expect(await readHard(raw), name).toEqual([]);
      }),
      { seed, numRuns },
    );
  });

  it('stays hard for at most the same recipients, with a blocking code', async () => {
    await fc.assert(
      fc.asyncProperty(damage(hardNames), async ({ name, raw }) => {
        const hard = await readHard(raw);
        const before = hardOf(name);
        for (const { errorCode, action } of hard) {
          expect(
            before.map((one) => one.errorCode),
            name,
          ).toContain(errorCode);
          expect(action).toBe('failed');
        }
      }),
      { seed, numRuns },
    );
  });

  it('blocks no new address when it is cut anywhere', async () => {
    for (const name of hardNames) {
      const raw = fixture(name);
      const codes = new Set(hardOf(name).map(({ email }) => email));
      for (let end = 0; end < raw.length; end += Math.ceil(raw.length / 40)) {
        for (const { email } of await readHard(raw.subarray(0, end))) {
          expect([...codes, null], `${name} cut at ${end}`).toContain(email);
        }
      }
    }
  });

  it('is not recognized in random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (bytes) => {
        expect(readBounce(await parseMime(Buffer.from(bytes)))).toBeNull();
      }),
      { seed, numRuns: 200 },
    );
  });
});
