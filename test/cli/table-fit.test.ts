// Tables for a person: they fit the width of the terminal, ids are whole, headings are words, times
// are local.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { fittedTable } from '../../commands/base/output/format.ts';
import {
  displayWidth,
  fittingWidths,
  headingOf,
  localTime,
  shortenedTo,
  wrappedTo,
} from '../../commands/base/output/table-fit.ts';
import { commandClass } from '../docs/write.ts';
import { repository } from '../support/cli.ts';

const id = 'msg_06dq2k0qz8h3v5m1r9t4w7xy';
const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = 'Europe/Berlin';
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

describe('a table for a person', () => {
  const row = {
    id,
    status: 'delivered',
    who: '→ a.very.long.name.indeed@a-long-domain.example.com',
    subject: 'Your order of last Monday is on its way to you 📦📦📦 日本語',
    createdAt: '2026-01-05T12:00:00.123Z',
  };
  const fields = ['id', 'status', 'who', 'subject', 'createdAt'];

  it.each([40, 60, 80, 120, 300])('has no line longer than %d columns', (width) => {
    const lines = fittedTable([row, { ...row, id: 'x' }], fields, width).split('\n');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  it.each([10, 30, 40, 60, 80, 120, 300])('shows ids and times whole at %d columns', (width) => {
    const shown = fittedTable([{ ...row, other: `${id}, ${id}` }], [...fields, 'other'], width);
    expect(shown.split(id)).toHaveLength(4);
    expect(shown).toContain('2026-01-05 13:00:00');
  });

  it('moves the columns without room to a second line of the row', () => {
    const second = { ...row, id: 'msg_06dq2k0qz8h3v5m1r9t4w7xz', who: '→ b@c.test', subject: null };
    const lines = fittedTable([row, second], ['id', 'status', 'who', 'createdAt', 'subject'], 80);
    expect(lines.split('\n')).toEqual([
      'ID                            Status',
      expect.stringMatching(/^ {2}Who +Created$/),
      '  Subject',
      `${id}  delivered`,
      `  ${row.who}  2026-01-05 13:00:00`,
      `  ${row.subject}`,
      'msg_06dq2k0qz8h3v5m1r9t4w7xz  delivered',
      expect.stringMatching(/^ {2}→ b@c.test +2026-01-05 13:00:00$/),
    ]);
  });

  it('changes no value that fits', () => {
    expect(fittedTable([row], fields, 300)).toContain(`${id}  delivered  ${row.who}`);
  });
});

/** Commands that list resources, with their columns. */
const lists = (
  await Promise.all(
    listCommandIds().map(async (id) => {
      const { columns }: { flags?: object; columns?: string[] } = await commandClass(id);
      return columns ? [[id, columns] as const] : [];
    }),
  )
).flat();
const isUncut = (name: string) => /(?:^id|Id|At|date|timestamp)$/.test(name);

/** Returns a row of a list in which every column of text has an address of that length. */
function rowOf(columns: readonly string[], length: number): [Record<string, unknown>, string[]] {
  const addresses: string[] = [];
  const row: Record<string, unknown> = {};
  for (const [at, column] of columns.entries()) {
    const name = `${'abcdefghij'[at]}${'x'.repeat(length - 13)}@example.com`;
    if (!isUncut(column)) addresses.push(name);
    const value = isUncut(column) ? (/(?:^id|Id)$/.test(column) ? id : row.createdAt) : name;
    const path = column.split('.');
    const last = path.pop() ?? '';
    let under = row;
    for (const part of path) {
      under[part] ??= {};
      under = under[part] as Record<string, unknown>;
    }
    under[last] = value ?? null;
  }
  return [row, addresses];
}

describe('the table of every list', () => {
  it('is cut by the function that fits it alone', () => {
    expect(lists.length).toBeGreaterThan(25);
    const cuts = globSync('commands/**/*.ts', { cwd: repository }).filter((file) =>
      /\bshortenedTo\(/.test(readFileSync(join(repository, file), 'utf8')),
    );
    expect(cuts.sort()).toEqual([
      'commands/base/output/format.ts',
      'commands/base/output/table-fit.ts',
    ]);
  });

  it.each(lists)('shows addresses whole at 80 columns: %s', (_id, columns) => {
    for (const length of [20, 24, 25, 40, 64, 78]) {
      const [row, addresses] = rowOf(columns, length);
      const lines = fittedTable([row], columns, 80).split('\n');
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(80);
      const found = addresses.filter((one) => lines.some((line) => line.includes(one)));
      expect(found).toEqual(addresses);
    }
  });

  it.each(lists)('wraps an address that is wider than a line: %s', (_id, columns) => {
    const [row, addresses] = rowOf(columns, 254);
    const shown = fittedTable([row], columns, 80).replaceAll(/\n */g, '');
    expect(addresses.filter((one) => !shown.includes(one))).toEqual([]);
  });
});

describe('the parts of a table', () => {
  it.each([
    ['a b c', 3, ['a b', 'c']],
    ['abcdefg', 3, ['abc', 'def', 'g']],
    ['a bcdef', 3, ['a', 'bcd', 'ef']],
    ['', 3, ['']],
  ])('wrap %j to %d columns as %j', (text, width, lines) => {
    expect(wrappedTo(text, width)).toEqual(lines);
  });

  it.each([
    ['abcdefghij', 7, 'abc…hij'],
    ['abcdefghij', 6, 'abc…ij'],
    ['abc', 3, 'abc'],
    ['日本語日本語', 7, '日…語'],
  ])('shorten %s to %d columns as %s', (text, width, short) => {
    expect(shortenedTo(text, width)).toBe(short);
  });

  it('take room from the widest column first', () => {
    expect(fittingWidths([10, 30, 20], 44)).toEqual([10, 15, 15]);
    expect(fittingWidths([10, 10], 80)).toEqual([10, 10]);
    expect(fittingWidths([28, 30, 20], 60, new Set([0]))).toEqual([28, 14, 14]);
  });

  it.each([
    ['createdAt', 'Created'],
    ['from.email', 'From'],
    ['nextRetryAt', 'Next retry'],
    ['errorCode', 'Error code'],
    ['id', 'ID'],
    ['attemptCount', 'Tries'],
  ])('name the column %s %s', (field, heading) => {
    expect(headingOf(field)).toBe(heading);
  });

  it('show a timestamp in local time to the second, and leave other text unchanged', () => {
    expect(localTime('2026-01-05T12:00:00.123Z')).toBe('2026-01-05 13:00:00');
    expect(localTime('Hello 2026-01-05T12:00:00Z')).toBe('Hello 2026-01-05T12:00:00Z');
  });
});
