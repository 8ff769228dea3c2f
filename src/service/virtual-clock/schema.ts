// The body of `POST /dev/clock` and the answer.
import { z } from 'zod';
import { instant } from '../../core/api/resource-schema.ts';

/**
 * Longest advance, in days. The clock stops at each due time on the way, so a longer advance is
 * probably a typing error.
 */
export const mostDays = 3_660;

const dayMs = 86_400_000;
const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: dayMs } as const;
type Unit = keyof typeof unitsMs;

/** Returns the milliseconds of a duration such as `3d`; the schema has checked the form. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * unitsMs[text.slice(-1) as Unit];
}

const duration = z
  .string()
  .regex(/^\d{1,9}[smhd]$/, { error: 'expected such as 90s, 10m, 24h or 3d' })
  .refine((text) => durationMs(text) <= mostDays * dayMs, {
    error: `must be at most ${mostDays} days`,
  });

export const clockInput = z
  .strictObject({
    advance: duration.optional().meta({ description: 'Time to pass, such as `3d`' }),
    to: instant.optional().meta({ description: 'Time to reach' }),
    follow: z.literal(true).optional().meta({ description: 'Continues at the pace of real time' }),
  })
  .refine((input) => Object.keys(input).length === 1, {
    error: 'expected exactly one of advance, to and follow',
  });

export const clockOutput = z.object({ now: z.string(), mode: z.literal('virtual') });

export type ClockState = z.output<typeof clockOutput>;
