// What a plan allows (specification 8): plans are data of the configuration, this reads
// them. Rates are per second, caps per UTC day.
import type { Config } from '../config/config.ts';
import { builtInPlans } from '../config/schema.ts';
import { type Rate, rateOf } from './buckets.ts';

export type PlanLimits = Config['plans'][string];

/** Both buckets of specification 8.1, as rates. */
export interface SendRates {
  readonly organization: Rate;
  readonly key: Rate;
}

/** The organization's bucket holds two seconds of the rate, that of a key one. */
const organizationBurstSeconds = 2;
const keyBurstSeconds = 1;

/** The limits of a plan; of one that was taken out of the configuration, those of `free`. */
export function limitsOf({ plans }: Config, plan: string): PlanLimits {
  return plans[plan] ?? plans.free ?? builtInPlans.free;
}

/** Null where the plan knows no rate. */
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

/** What holds the emails of a day down. */
export interface DailyCap {
  reason: 'plan' | 'no-payment-method' | 'first-24-hours';
  emails: number;
  /** When it ends by itself, ms since 1970. */
  endsAtMs: number | null;
}

/** The organization as far as its caps depend on it. */
export interface CappedOrganization {
  payment_method_on_file: number;
  created_at: number;
}

/** Every cap that applies now, the one that binds first; empty for a plan without any. */
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

/** The midnight (UTC) that a time's day began with. */
export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}

/** The midnight at which the quota of a time's day turns. */
export function endOfDay(timeMs: number): number {
  return startOfDay(timeMs) + dayMs;
}
