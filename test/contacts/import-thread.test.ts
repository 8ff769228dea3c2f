// Large files are read on a thread: the same rows, the same faults, and no more of the file in memory than the
// import is about to take.
import { describe, expect, it } from 'vitest';
import { importContacts } from '../../src/contacts/import.ts';
import { type CheckedRow, type ReadFile, readRows } from '../../src/contacts/import-rows.ts';
import { readFile } from '../../src/contacts/import-thread.ts';
import { ValidationError } from '../../src/errors.ts';
import { pieces } from '../blocks/import-support.ts';
import { eachApp } from '../support/each-app.ts';

/** Of a thousand people. Every seventh row is no address, every 499th another person under the same address. */
const isNobody = (i: number) => i % 7 === 3;
const isOther = (i: number) => i > 3_000 && i % 499 === 5;

function csv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const email = isNobody(i) ? 'nobody' : `Üser${i % 1_000}@example.com`;
    const id = isOther(i) ? `y${i}` : `x${i % 1_000}`;
    const note = i % 9 === 4 ? `"N\n${i}"` : `Note ${i} ${'of somebody '.repeat(4)}`;
    return `${email},${id},${note},"vip,t${i % 5}",${i % 11 === 5 ? 'unsubscribed' : ''},"{""age"":${i}}"`;
  });
  return `email,externalId,note,tags,status,metadata\n${lines.join('\n')}\n`;
}

/** More than what is read without a thread. */
const large = csv(3_000);

/** All rows, and the fault that ended them. */
async function rowsOf({ parts }: ReadFile) {
  const rows: CheckedRow[] = [];
  const characters: number[] = [];
  try {
    for await (const part of parts) {
      rows.push(...part.rows);
      characters.push(part.characters);
    }
  } catch (fault) {
    return { rows, characters, fault };
  }
  return { rows, characters, fault: null };
}

describe('a large file', () => {
  it('has the rows, and the fault at its end, that it has without a thread', async () => {
    const file = () => pieces(`${large}x@example.com,"never closed`, 10_000);
    const here = await rowsOf(await readRows(file(), 'csv'));
    const there = await rowsOf(await readFile(file(), 'csv'));
    expect(there.rows).toEqual(JSON.parse(JSON.stringify(here.rows)));
    expect(there.rows).toHaveLength(3_000);
    expect(there.fault).toEqual(new ValidationError('Line 3335: a quotation mark is not closed'));
    expect(there.fault).toEqual(here.fault);
    // A thread knows how long they are.
    expect([Math.min(...there.characters) > 0, Math.max(...here.characters)]).toEqual([true, 0]);
  });

  it('is refused at its header', async () => {
    const nameless = large.replace('email,externalId', 'a,b');
    await expect(readFile(pieces(nameless, 10_000))).rejects.toThrow(/no column email/);
  });

  it('that is cut off fails with what cut it off', async () => {
    async function* cut() {
      yield* pieces(large, 10_000);
      throw new Error('the connection was closed');
    }
    const reading = readFile(cut(), 'csv').then(rowsOf);
    await expect(reading).rejects.toThrow('the connection was closed');
  });

  it('is read no further than its rows are taken, and let go with the last that is', async () => {
    const line = `u@example.com,${'x'.repeat(985)}\n`;
    let given = 0;
    let isLetGo = false;
    async function* endless() {
      try {
        yield Buffer.from('email,note\n');
        for (;;) {
          given += 64_000;
          yield Buffer.from(line.repeat(64_000 / line.length));
        }
      } finally {
        isLetGo = true;
      }
    }
    const { parts } = await readFile(endless(), 'csv');
    let taken = 0;
    const most: number[] = [];
    for await (const { rows } of parts) {
      taken += rows.length * line.length;
      most.push(given - taken);
      if (most.length === 12) break;
    }
    expect(isLetGo).toBe(true);
    // One megabyte, and the pieces at both of its ends.
    expect(Math.max(...most)).toBeLessThan(1_048_576 + 262_144);
  });
});

describe('an import of a large file', () => {
  const test = eachApp();

  it('goes by windows: all rows, the rejected ones in the order of the file', async () => {
    const { app, caller } = test;
    const seen: number[] = [];
    const report = await importContacts(app, caller, pieces(csv(5_600), 64_000), {
      dryRun: false,
      onBatch: ({ created, updated, unchanged }) => seen.push(created + updated + unchanged),
    });
    const rows = Array.from({ length: 5_600 }, (_, i) => i);
    const rejected = rows.filter((i) => isNobody(i) || isOther(i));
    expect(report.rows.map(({ row }) => row)).toEqual(rejected.map((i) => i + 1));
    expect([report.created, report.rejected]).toEqual([1_000, rejected.length]);
    expect(report.updated + report.unchanged).toBe(5_600 - 1_000 - rejected.length);
    // 500 to a transaction.
    expect(seen.every((total, at) => total - (seen[at - 1] ?? 0) <= 500)).toBe(true);
  });
});
