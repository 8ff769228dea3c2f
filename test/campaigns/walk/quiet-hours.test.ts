// The end of quiet hours by zone, over midnight, and on days on which the clocks change.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfQuietHours } from '../../../src/campaigns/walk/prepare-page.ts';
import { minuteIn } from '../../../src/platform/runtime/calendar.ts';

const night = { start: '22:00', end: '07:00' };
const noon = { start: '12:00', end: '13:30' };

/** Returns the end as ISO time. */
function endAt(hours: typeof night, zone: string, now: string): string | null {
  const end = endOfQuietHours(hours, zone, Date.parse(now));
  return end === null ? null : new Date(end).toISOString();
}

describe('the end of quiet hours', () => {
  it.each([
    ['before them', night, 'Europe/Berlin', '2026-01-05T20:59:59Z', null],
    ['at their start', night, 'Europe/Berlin', '2026-01-05T21:00:00Z', '2026-01-06T06:00:00.000Z'],
    ['after midnight', night, 'Europe/Berlin', '2026-01-06T05:59:59Z', '2026-01-06T06:00:00.000Z'],
    ['at their end', night, 'Europe/Berlin', '2026-01-06T06:00:00Z', null],
    ['in New York', night, 'America/New_York', '2026-01-06T04:00:00Z', '2026-01-06T12:00:00.000Z'],
    ['in Kathmandu', night, 'Asia/Kathmandu', '2026-01-05T17:00:00Z', '2026-01-06T01:15:00.000Z'],
    ['within a day', noon, 'Asia/Kathmandu', '2026-01-05T06:30:00Z', '2026-01-05T07:45:00.000Z'],
    ['of no length', { start: '08:00', end: '08:00' }, 'UTC', '2026-01-05T08:00:00Z', null],
  ])('%s', (_when, hours, zone, now, expected) => {
    expect(endAt(hours, zone, now)).toBe(expected);
  });

  it.each([
    ['clocks go forward', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T05:00:00.000Z'],
    ['clocks go back', 'Europe/Berlin', '2026-10-24T23:00:00Z', '2026-10-25T06:00:00.000Z'],
    ['clocks go forward', 'America/New_York', '2026-03-08T04:00:00Z', '2026-03-08T11:00:00.000Z'],
    ['clocks go back', 'America/New_York', '2026-11-01T04:00:00Z', '2026-11-01T12:00:00.000Z'],
  ])('is the same time of day after %s in %s', (_change, zone, now, expected) => {
    expect(endAt(night, zone, now)).toBe(expected);
  });

  it('is the change of clocks if they skip it', () => {
    const hours = { start: '22:00', end: '02:30' };
    const end = endAt(hours, 'Europe/Berlin', '2026-03-28T23:00:00Z');
    expect(end).toBe('2026-03-29T01:00:00.000Z');
  });

  it('is the first of two such times of day', () => {
    const hours = { start: '22:00', end: '02:30' };
    const end = (now: string) => endAt(hours, 'Europe/Berlin', now);
    expect(end('2026-10-24T23:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(end('2026-10-25T01:15:00Z')).toBe(null);
  });

  it('is at most 24 hours away', () => {
    const hours = { start: '03:00', end: '02:59' };
    const now = '2026-10-24T01:00:00Z';
    expect(endAt(hours, 'Europe/Berlin', now)).toBe('2026-10-25T00:59:00.000Z');
    const longest = { start: '00:01', end: '00:00' };
    const from = '2026-10-24T22:01:00Z';
    expect(endAt(longest, 'Europe/Berlin', from)).toBe('2026-10-25T22:01:00.000Z');
  });

  it('is outside of them in any zone at any time', () => {
    const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia'];
    const minute = fc.integer({ min: 0, max: 1_439 });
    const start = Date.UTC(2026, 0, 1);
    const time = fc.integer({ min: start, max: start + 730 * 86_400_000 });
    const asText = (of: number) =>
      `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`;
    fc.assert(
      fc.property(fc.constantFrom(...zones), minute, minute, time, (zone, from, to, now) => {
        const end = endOfQuietHours({ start: asText(from), end: asText(to) }, zone, now);
        if (end === null) return;
        expect(end).toBeGreaterThan(now);
        expect(end - now).toBeLessThanOrEqual(86_400_000);
        const at = minuteIn(zone, end);
        const isWithin = from < to ? from <= at && at < to : at >= from || at < to;
        if (end - now < 86_400_000) expect(isWithin).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});
