// The pace of a run under the limits of the plan, the daily quota and the warming of the domain.
// Pure functions. They do not foresee further mail of the organization, so a run can end later than
// forecast.
import type { RunWaitReason } from '../../run-ledger/schema.ts';

/** Number of messages that may go before `endsAt`, ms since 1970. */
export interface Allowance {
  left: number;
  endsAt: number;
}

/** Returns the allowance in force at a time. Each call has a later time than the call before. */
export type AllowanceAt = (time: number) => Allowance;

export interface Limits {
  /** Messages a second; null without a limit. */
  ratePerSecond: number | null;
  quotaAt: AllowanceAt;
  warmingAt: AllowanceAt;
}

type Limit = Extract<RunWaitReason, 'rate' | 'daily-quota' | 'warming'>;

/** Times of the first and the last message, ms since 1970; null if no message can ever leave. */
export interface Forecast {
  firstAt: number | null;
  lastAt: number | null;
  /** The limit that costs the most time; null if none does. */
  limitedBy: Limit | null;
}

/** Longest run that is forecast. */
const mostDays = 3_650;
const dayMs = 24 * 3_600_000;

/** An allowance without a limit. */
export const unlimited: AllowanceAt = () => ({ left: Infinity, endsAt: Infinity });

/** Counts the use of an allowance, until the next allowance is in force. */
function counted(allowanceAt: AllowanceAt) {
  let endsAt = -Infinity;
  let left = 0;
  return {
    at(time: number): Allowance {
      if (time >= endsAt) ({ left, endsAt } = allowanceAt(time));
      return { left, endsAt };
    },
    take(count: number): void {
      left -= count;
    },
  };
}

/** Forecasts when the first and the last of `count` messages leave, from `start` on. */
export function forecastOf(count: number, start: number, limits: Limits): Forecast {
  const { ratePerSecond, quotaAt, warmingAt } = limits;
  const stepMs = ratePerSecond === null ? 0 : 1_000 / ratePerSecond;
  const [quota, warming] = [counted(quotaAt), counted(warmingAt)];
  const costs: Record<Limit, number> = { rate: 0, 'daily-quota': 0, warming: 0 };
  const limitedBy = () => {
    const [most] = Object.entries(costs).sort(([, a], [, b]) => b - a) as [Limit, number][];
    return most && most[1] > 0 ? most[0] : null;
  };
  const end = start + mostDays * dayMs;
  let [time, rest, firstAt] = [start, count, null as number | null];
  while (rest > 0) {
    const allowed = { 'daily-quota': quota.at(time), warming: warming.at(time) };
    const spent = (['daily-quota', 'warming'] as const).find((limit) => allowed[limit].left <= 0);
    if (spent) {
      const until = allowed[spent].endsAt;
      costs[spent] += Math.min(until, end) - time;
      if (until >= end) return { firstAt, lastAt: null, limitedBy: limitedBy() };
      time = until;
      continue;
    }
    firstAt ??= time;
    const both = Object.values(allowed);
    const endsAt = Math.min(...both.map((one) => one.endsAt));
    const intoEnd = stepMs === 0 ? Infinity : Math.ceil((endsAt - time) / stepMs);
    const sent = Math.min(rest, intoEnd, ...both.map(({ left }) => left));
    quota.take(sent);
    warming.take(sent);
    rest -= sent;
    // No interval follows the last message.
    const passed = (rest === 0 ? sent - 1 : sent) * stepMs;
    costs.rate += passed;
    time += passed;
  }
  return { firstAt, lastAt: firstAt === null ? null : Math.round(time), limitedBy: limitedBy() };
}
