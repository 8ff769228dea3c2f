// Limits of a plan (specification 8). Plans are data of the configuration, which this file reads.
// Rates are per second, caps per UTC day.
import type { Config } from '../../core/config/config.ts';
import { builtInPlans } from '../../core/config/schema.ts';
import { type Rate, rateOf } from './buckets.ts';

export type PlanLimits = Config['plans'][string];

/** Rates of the buckets of an organization and of a key (specification 8.1). */
export interface SendRates {
  readonly organization: Rate;
  readonly key: Rate;
}

/** The organization's bucket holds two seconds of the rate, a key's bucket a single second. */
const organizationBurstSeconds = 2;
const keyBurstSeconds = 1;

/** Returns the limits of a plan. A plan missing from the configuration has the limits of `free`. */
export function limitsOf({ plans }: Config, plan: string): PlanLimits {
  return plans[plan] ?? plans.free ?? builtInPlans.free;
}

/** Returns the rates of a plan; null for a plan without a rate limit. */
export function sendRatesOf({ ratePerSecond }: PlanLimits): SendRates | null {
  if (ratePerSecond === null) return null;
  return {
    organization: rateOf(ratePerSecond, organizationBurstSeconds),
    key: rateOf(ratePerSecond, keyBurstSeconds),
  };
}

const dayMs = 24 * 3_600_000;
const withoutPaymentMethod = 100;
const onFirstDay = 200;

/** A limit on the emails of a day. */
export interface DailyCap {
  reason: 'plan' | 'no-payment-method' | 'first-24-hours';
  emails: number;
  /** Time when the cap ends automatically, ms since 1970; null for never. */
  endsAtMs: number | null;
}

/** The columns of an organization on which the caps depend. */
export interface CappedOrganization {
  payment_method_on_file: number;
  created_at: number;
}

/** Returns all caps that apply now, the lowest first; empty if no cap applies. */
export function dailyCaps(
  { dailyEmails, trialCaps }: PlanLimits,
  organization: CappedOrganization,
  nowMs: number,
): DailyCap[] {
  const caps: DailyCap[] = [];
  if (dailyEmails !== null) caps.push({ reason: 'plan', emails: dailyEmails, endsAtMs: null });
  if (trialCaps && organization.payment_method_on_file === 0) {
    caps.push({ reason: 'no-payment-method', emails: withoutPaymentMethod, endsAtMs: null });
  }
  const firstDayEndsMs = organization.created_at + dayMs;
  if (trialCaps && nowMs < firstDayEndsMs) {
    caps.push({ reason: 'first-24-hours', emails: onFirstDay, endsAtMs: firstDayEndsMs });
  }
  return caps.sort((a, b) => a.emails - b.emails);
}

/** Returns the midnight (UTC) at the start of a day. */
export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}

/** Returns the midnight (UTC) when the quota of a day ends. */
export function endOfDay(timeMs: number): number {
  return startOfDay(timeMs) + dayMs;
}
