// Large files are read on a thread: the same rows and errors, and only as much of the file in
// memory as the import is about to write.
import { describe, expect, it } from 'vitest';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { candidatesOf } from '../../../src/people/imports/known.ts';
import type { Candidate } from '../../../src/people/imports/merge.ts';
import type { LeftRow } from '../../../src/people/imports/row-reader.ts';
import { type ReadFile, type ReadWindow, readRows } from '../../../src/people/imports/rows.ts';
import { readFile } from '../../../src/people/imports/thread.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { eachApp } from '../../support/each-app.ts';
import { pieces } from './support.ts';

/**
 * A thousand contacts. Every seventh row has no valid address, every 499th another contact's
 * address.
 */
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

/** Large enough to be read on a thread. */
const large = csv(3_000);

const rowsIn = ({ batches, rejected }: ReadWindow) => [
  ...batches.flatMap(candidatesOf),
  ...rejected.first,
];

/** Collects all rows, and the error that ended them. */
async function rowsOf({ windows }: ReadFile) {
  const rows: (Candidate | LeftRow)[] = [];
  try {
    for await (const window of windows) rows.push(...rowsIn(window));
  } catch (fault) {
    return { rows, fault };
  }
  return { rows, fault: null };
}

const asCsv = { noun: 'contacts', as: 'csv', map: {} } as const;

describe('a large file', () => {
  it('has the same rows and final error as without a thread', async () => {
    const file = () => pieces(`${large}x@example.com,"never closed`, 10_000);
    const here = await rowsOf(await readRows(file(), asCsv));
    const there = await rowsOf(await readFile(file(), asCsv));
    expect(there.rows).toEqual(JSON.parse(JSON.stringify(here.rows)));
    expect(there.rows).toHaveLength(3_000);
    const inFile = there.rows.map(({ row }) => row).sort((a, b) => a - b);
    expect(inFile).toEqual(there.rows.map((_, at) => at + 1));
    expect(there.fault).toEqual(new ValidationError('Line 3335: a quotation mark is not closed'));
    expect(there.fault).toEqual(here.fault);
  });

  it('is rejected at its header', async () => {
    const nameless = large.replace('email,externalId', 'a,b');
    await expect(readFile(pieces(nameless, 10_000), { noun: 'contacts', map: {} })).rejects.toThrow(
      /no column email/,
    );
  });

  it('that is cut off fails with the error of its source', async () => {
    async function* cut() {
      yield* pieces(large, 10_000);
      throw new Error('the connection was closed');
    }
    const reading = readFile(cut(), asCsv).then(rowsOf);
    await expect(reading).rejects.toThrow('the connection was closed');
  });

  it('is read only as far as its rows are taken, and closed after the last', async () => {
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
    const { windows } = await readFile(endless(), asCsv);
    let taken = 0;
    let longest = 0;
    const most: number[] = [];
    for await (const window of windows) {
      taken += rowsIn(window).length * line.length;
      most.push(given - taken);
      longest = Math.max(longest, window.batches.map((batch) => batch.candidates).join().length);
      if (most.length === 3) break;
    }
    expect(isLetGo).toBe(true);
    // Two million characters, and one more read.
    expect(longest).toBeLessThan(2_000_000 + 600_000);
    // Two megabytes, and one piece at each end.
    expect(Math.max(...most)).toBeLessThan(2_097_152 + 262_144);
  });
});

describe('an import of a large file', () => {
  const test = eachApp();

  it('handles every row, and lists the rejected ones in the order of the file', async () => {
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
    // At most 500 in a transaction.
    expect(seen.every((total, at) => total - (seen[at - 1] ?? 0) <= 500)).toBe(true);
  });
});
