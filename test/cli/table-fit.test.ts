// Tables for a person: they fit the width of the terminal, headings are words, times are local.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fittedTable } from '../../commands/base/format.ts';
import {
  displayWidth,
  fittingWidths,
  headingOf,
  localTime,
  shortenedTo,
} from '../../commands/base/table-fit.ts';

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

  it.each([40, 60, 80, 120, 300])('fits %d columns, and no line wraps', (width) => {
    const lines = fittedTable([row, { ...row, id: 'x' }], fields, width).split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  it('at 80 columns shows status and time whole, and the ends of what is long', () => {
    const [head = '', first = ''] = fittedTable([row], fields, 80).split('\n');
    expect(head).toMatch(/^ID +Status +Who +Subject +Created$/);
    expect(first).toMatch(
      /^msg_\w+…\w+w7xy +delivered +→ a\S*…\S*com +Your.*….*語 +2026-01-05 13:00:00$/,
    );
  });

  it('leaves alone what fits', () => {
    expect(fittedTable([row], fields, 300)).toContain(`${id}  delivered  ${row.who}`);
  });
});

describe('its parts', () => {
  it.each([
    ['abcdefghij', 7, 'abc…hij'],
    ['abcdefghij', 6, 'abc…ij'],
    ['abc', 3, 'abc'],
    ['日本語日本語', 7, '日…語'],
  ])('%s in %d columns is %s', (text, width, short) => {
    expect(shortenedTo(text, width)).toBe(short);
  });

  it('the widest column makes way first', () => {
    expect(fittingWidths([10, 30, 20], 44)).toEqual([10, 15, 15]);
    expect(fittingWidths([10, 10], 80)).toEqual([10, 10]);
  });

  it.each([
    ['createdAt', 'Created'],
    ['from.email', 'From'],
    ['nextRetryAt', 'Next retry'],
    ['errorCode', 'Error code'],
    ['id', 'ID'],
    ['attemptCount', 'Tries'],
  ])('%s is called %s', (field, heading) => {
    expect(headingOf(field)).toBe(heading);
  });

  it('a time is that of this machine, to the second; other text stays', () => {
    expect(localTime('2026-01-05T12:00:00.123Z')).toBe('2026-01-05 13:00:00');
    expect(localTime('Hello 2026-01-05T12:00:00Z')).toBe('Hello 2026-01-05T12:00:00Z');
  });
});
