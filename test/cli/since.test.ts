// Times in the forms that people type.
import { expect, it } from 'vitest';
import { timeAhead, timeFrom } from '../../commands/base/input/since.ts';
import { UsageError } from '../../commands/base/output/failure.ts';

const now = Date.UTC(2026, 0, 5, 12);

it.each([
  ['90s', '2026-01-05T11:58:30.000Z', '2026-01-05T12:01:30.000Z'],
  ['10m', '2026-01-05T11:50:00.000Z', '2026-01-05T12:10:00.000Z'],
  ['1h', '2026-01-05T11:00:00.000Z', '2026-01-05T13:00:00.000Z'],
  ['7d', '2025-12-29T12:00:00.000Z', '2026-01-12T12:00:00.000Z'],
  ['2026-02-03', '2026-02-03T00:00:00.000Z', '2026-02-03T00:00:00.000Z'],
])('%s is a time before or after now, or a date', (text, ago, ahead) => {
  expect(timeFrom('--since', text, now)).toBe(ago);
  expect(timeAhead('--until', text, now)).toBe(ahead);
});

it.each(['', 'soon', '10', '1y', '-1h', '1.5h'])(
  '%j is not a time, and its error names the flag',
  (text) => {
    expect(() => timeFrom('--since', text, now)).toThrow(UsageError);
    expect(() => timeAhead('--until', text, now)).toThrow(/^--until: expected such as 90s/);
  },
);

it('a missing time stays undefined', () => {
  expect(timeFrom('--since', undefined, now)).toBeUndefined();
});
