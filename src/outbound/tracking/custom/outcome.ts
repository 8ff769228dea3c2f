// Effects of an authority's answer on a tracking host: the state of the certificate, and the
// back-off after a refusal. Pure: returns columns to change.
import type { App } from '../../../core/app.ts';
import type { AuthorityError } from './certificates/authority-error.ts';
import type { HostPatch, TrackingHostRow } from './queries.ts';
import type { ReasonCode } from './schema.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/**
 * Back-off after each failure, because authorities limit failures per hour. The last delay repeats.
 */
const waitsMs = [5 * minuteMs, 30 * minuteMs, 2 * hourMs, 6 * hourMs, 24 * hourMs];
const jitter = 0.1;

/** Columns of a host without an order. */
export const noOrder = {
  order_url: null,
  order_since: null,
  order_key: null,
  challenge_url: null,
  challenge_token: null,
  challenge_value: null,
} satisfies HostPatch;

/** Varies a duration by up to a tenth, so that hosts that began together spread out. */
export function spread({ random }: Pick<App, 'random'>, ms: number): number {
  return Math.round(ms * (1 - jitter + 2 * jitter * random.float()));
}

/** Returns the earlier time. A null `other` is ignored. */
export function soonest(at: number, other: number | null): number {
  return other === null ? at : Math.min(at, other);
}

/** Tells whether the row has a certificate that is still valid. */
export function hasCertificate(row: TrackingHostRow, now: number): boolean {
  return row.certificate !== null && (row.certificate_expires_at ?? 0) > now;
}

export function isRenewalDue({ certificate_renew_at: at }: TrackingHostRow, now: number): boolean {
  return at === null || at <= now;
}

/**
 * Returns the time of renewal: two thirds of the lifetime, and up to a fiftieth more. At least five
 * minutes from now, even for a certificate that is issued late.
 */
export function renewalOf(app: App, { from, until }: { from: number; until: number }): number {
  const at = Math.round(from + (until - from) * (2 / 3 + 0.02 * app.random.float()));
  return Math.max(at, app.clock.now() + 5 * minuteMs);
}

/**
 * Returns the columns of a host after a certificate was refused. The next try is not before
 * `retryAt`.
 */
export function refused(
  app: App,
  row: TrackingHostRow,
  code: ReasonCode,
  message: string,
  retryAt: number | null = null,
): HostPatch {
  const now = app.clock.now();
  const waitMs = waitsMs[Math.min(row.failures, waitsMs.length - 1)] ?? hourMs;
  const after = Math.max(now + spread(app, waitMs), retryAt ?? 0);
  const isServed = hasCertificate(row, now);
  const hasEnded = row.certificate !== null && !isServed && code !== 'rate-limited';
  return {
    ...noOrder,
    status: isServed ? 'active' : 'failed',
    reason_code: hasEnded ? 'expired' : code,
    reason_message: hasEnded ? `the certificate expired; renewing it failed: ${message}` : message,
    verification_errors: JSON.stringify([message]),
    failures: row.failures + 1,
    order_after: after,
    rate_limited_until: retryAt,
    next_check_at: isServed ? soonest(after, row.certificate_expires_at) : after,
  };
}

/** Maps a failure of the authority to the columns of a host. */
export function afterTrouble(app: App, row: TrackingHostRow, error: AuthorityError): HostPatch {
  const { trouble, problem, message, retryAt } = error;
  if (problem === 'caa') {
    return { ...refused(app, row, 'caa-forbids', message, retryAt), caa_blocked: 1 };
  }
  const code = trouble === 'rate-limited' ? 'rate-limited' : 'challenge-failed';
  return refused(app, row, code, message, retryAt);
}
