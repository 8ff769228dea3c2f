// The begin of days where clocks change at midnight: some days have no midnight, some have two.
import { describe, expect, it } from 'vitest';
import { dayAfter, dayIn, startOfDayIn } from '../../../src/platform/runtime/calendar.ts';

describe('the begin of a day', () => {
  it.each([
    ['its midnight', 'Asia/Kathmandu', '2026-01-05', '2026-01-04T18:15:00.000Z'],
    ['the end of the skipped hour', 'America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
    ['the end of the skipped hour', 'Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z'],
    ['the first of two midnights', 'America/Havana', '2024-11-03', '2024-11-03T04:00:00.000Z'],
    [
      'midnight after a change the day before',
      'Europe/Berlin',
      '2026-03-30',
      '2026-03-29T22:00:00.000Z',
    ],
  ])('is %s: %s %s', (_how, zone, day, expected) => {
    const start = startOfDayIn(zone, day);
    expect(new Date(start).toISOString()).toBe(expected);
    expect([dayIn(zone, start - 1), dayIn(zone, start)]).toEqual([dayAfter(day, -1), day]);
  });
});
