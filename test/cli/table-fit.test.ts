// Tables for a person: they fit the width of the terminal, ids are whole, headings are words, times
// are local.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fittedTable } from '../../commands/base/output/format.ts';
import {
  displayWidth,
  fittingWidths,
  headingOf,
  localTime,
  shortenedTo,
} from '../../commands/base/output/table-fit.ts';

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
      expect.stringMatching(/^ID +Status +Who +Created$/),
      '  Subject',
      expect.stringMatching(/^msg_\w{24} {2}delivered {2}→ a\S*.*…\S*com {2}2026-01-05 13:00:00$/),
      `  ${row.subject}`,
      expect.stringMatching(/^msg_\w{24} {2}delivered {2}→ b@c.test +2026-01-05 13:00:00$/),
    ]);
  });

  it('changes no value that fits', () => {
    expect(fittedTable([row], fields, 300)).toContain(`${id}  delivered  ${row.who}`);
  });
});

describe('the parts of a table', () => {
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
