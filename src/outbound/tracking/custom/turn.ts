// Checks a tracking host and performs the next step. Never waits for DNS or the authority inside a
// transaction: the results are returned as columns to change.
//
//   status                    | result                                         | to
//   --------------------------+------------------------------------------------+---------------------
//   any enabled status        | no record that leads here                      | `verifying`, `dns-missing`
//   `verifying`               | no record for a week                           | `failed`, checked daily
//   `pending`                 | DNS did not answer                             | `verifying`
//   any further               | DNS did not answer                             | the same
//   `pending`, `verifying`, … | the record; an order begins                    | `issuing`
//   any                       | CAA forbids, the authority refuses or is away  | `failed` with its reason
//   `issuing`                 | the certificate                                | `active`
//   `active`                  | two thirds of its life are over                | the same, an order begins
//   `active`                  | renewing fails                                 | the same, until it ends
//   `active`                  | the certificate ended                          | `failed`, `expired`
//   `tearing-down`            | a week is over                                 | `disabled`, its key deleted
//
// Without ACME, a proxy has the certificate: `issuing` until it presents a certificate of the host.
import type { App } from '../../../core/app.ts';
import { DnsError } from '../../../platform/net/dns.ts';
import { caaProblem, type Issuer, relevantCaa } from './certificates/caa.ts';
import { type CertificateFinding, inspectShown } from './certificates/certificate.ts';
import { checkDns, type DnsFinding, withFreshDns } from './check-dns.ts';
import { hasCertificate, isRenewalDue, noOrder, refused, soonest, spread } from './outcome.ts';
import type { HostPatch, TrackingHostRow } from './queries.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const failsAfterMs = 7 * dayMs;
const unansweredMs = 5 * minuteMs;

export interface TurnOptions {
  /** Aborts look-ups and requests. */
  signal: AbortSignal;
  /** Allows a new order. Only a daemon may order, because it answers the challenge. */
  mayOrder: boolean;
  /** Stores columns before the check continues. Rejects if the lease is lost. */
  keep(change: HostPatch): Promise<void>;
}

/** Loads the module for orders on first use: it imports an HTTP client, which no command needs. */
const orders = () => import('./certificates/order.ts');

/** Checks a host and returns the columns to change. */
export async function checkHost(
  app: App,
  row: TrackingHostRow,
  options: TurnOptions,
): Promise<HostPatch> {
  const now = app.clock.now();
  if (row.status === 'tearing-down') return tornDown(row, now);
  if (row.order_url !== null) {
    if (!options.mayOrder) return { last_checked_at: now };
    const { continueOrder } = await orders();
    return continueOrder(app, row, options);
  }
  return withFreshDns(app, options.signal, async (dns) => {
    const found = await checkDns(app, dns, row);
    if (found.found !== 'yes') return { ...withoutRecord(app, row, found), last_checked_at: now };
    const seen = { ...row, missing_since: null };
    const patch = app.config.tracking.acme.enabled
      ? await orderIfDue(app, seen, options)
      : withProxy(app, seen, await inspectShown(app, dns, row.hostname, options.signal));
    return { missing_since: null, ...patch, last_checked_at: now };
  });
}

function tornDown(row: TrackingHostRow, now: number): HostPatch {
  if (row.teardown_at !== null && row.teardown_at > now) return { next_check_at: row.teardown_at };
  return {
    ...noOrder,
    status: 'disabled',
    reason_code: null,
    reason_message: null,
    verification_errors: '[]',
    next_check_at: null,
    certificate: null,
    certificate_key: null,
    certificate_since: null,
    certificate_expires_at: null,
    certificate_renew_at: null,
  };
}

function withoutRecord(
  app: App,
  row: TrackingHostRow,
  found: Exclude<DnsFinding, { found: 'yes' }>,
): HostPatch {
  const now = app.clock.now();
  const verification_errors = JSON.stringify([found.message]);
  if (found.found === 'unknown') {
    const status = row.status === 'pending' ? 'verifying' : row.status;
    const next_check_at = soonest(now + spread(app, unansweredMs), expiryOf(row, now));
    return { status, verification_errors, next_check_at };
  }
  const since = row.missing_since ?? now;
  const lasted = now - since;
  const isFailed = lasted >= failsAfterMs;
  const waitMs = isFailed ? dayMs : Math.max(minuteMs, Math.min(lasted, hourMs));
  return {
    status: isFailed ? 'failed' : 'verifying',
    reason_code: 'dns-missing',
    reason_message: found.message,
    verification_errors,
    missing_since: since,
    next_check_at: now + spread(app, waitMs),
  };
}

function expiryOf({ certificate_expires_at: at }: TrackingHostRow, now: number): number | null {
  return at !== null && at > now ? at : null;
}

/** Returns the columns for a certificate that a proxy in front of the service presents. */
function withProxy(app: App, row: TrackingHostRow, finding: CertificateFinding): HostPatch {
  const now = app.clock.now();
  const daily = now + spread(app, dayMs);
  const said = (message: string) => ({
    reason_message: message,
    verification_errors: JSON.stringify([message]),
  });
  switch (finding.found) {
    case 'valid':
      return {
        status: 'active',
        reason_code: null,
        reason_message: null,
        verification_errors: '[]',
        caa_blocked: 0,
        certificate_expires_at: finding.validity.until,
        next_check_at: soonest(daily, finding.validity.until),
      };
    case 'none': {
      // An active host stays active until the known certificate expires, even if repeated checks
      // get no certificate from the proxy.
      const isActive = row.status === 'active' && expiryOf(row, now) !== null;
      return {
        ...said(finding.message),
        status: isActive ? 'active' : 'issuing',
        reason_code: 'initializing',
        next_check_at: now + spread(app, unansweredMs),
      };
    }
    case 'expired':
    case 'mismatch':
      return {
        ...said(finding.message),
        status: 'failed',
        reason_code: finding.found === 'expired' ? 'expired' : 'certificate-mismatch',
        certificate_expires_at: finding.found === 'expired' ? finding.validity.until : null,
        next_check_at: now + spread(app, hourMs),
      };
  }
}

/**
 * Orders a certificate if it is due. The caller has found the DNS record. Returns the columns to
 * store.
 */
async function orderIfDue(
  app: App,
  row: TrackingHostRow,
  options: TurnOptions,
): Promise<HostPatch> {
  const now = app.clock.now();
  const isServed = hasCertificate(row, now);
  if (isServed && !isRenewalDue(row, now)) {
    return {
      status: 'active',
      reason_code: null,
      reason_message: null,
      verification_errors: '[]',
      caa_blocked: 0,
      next_check_at: soonest(now + spread(app, dayMs), row.certificate_renew_at),
    };
  }
  const after = row.order_after;
  if (after !== null && after > now) return waitingForAuthority(row, after, now);
  if (!options.mayOrder) {
    const status = isServed ? 'active' : 'issuing';
    const reason = { reason_code: 'initializing' as const, reason_message: beginning };
    return { ...(isServed ? {} : reason), status, order_after: null, next_check_at: now };
  }
  const { beginOrder } = await orders();
  return beginOrder(app, row, {
    ...options,
    mayIssue: (issuer) => caaOf(app, row, issuer, options.signal),
  });
}

const beginning = 'a daemon will order a certificate soon';

/** Returns the columns of a host that must wait after a failure before the next order. */
function waitingForAuthority(row: TrackingHostRow, after: number, now: number): HostPatch {
  const { reason_code: code, reason_message } = row;
  if (hasCertificate(row, now)) {
    const next_check_at = soonest(after, row.certificate_expires_at);
    // Clears the reason: the record was missing and has been found again.
    const isOver = code === 'dns-missing';
    const cleared = { reason_code: null, reason_message: null, verification_errors: '[]' };
    return { ...(isOver && cleared), status: 'active', next_check_at };
  }
  const failed = { status: 'failed' as const, next_check_at: after };
  if (row.certificate !== null && code !== 'rate-limited' && code !== 'expired') {
    const message = `the certificate expired; renewing it failed: ${reason_message ?? ''}`;
    return { ...failed, reason_code: 'expired', reason_message: message };
  }
  if (code !== 'dns-missing') return failed;
  if (row.rate_limited_until !== null && row.rate_limited_until > now) {
    const message = `the authority allows no order until ${new Date(row.rate_limited_until).toISOString()}`;
    return { ...failed, reason_code: 'rate-limited', reason_message: message };
  }
  const message = 'the last order failed: the next one follows at its time, or by a recheck';
  return { ...failed, reason_code: 'challenge-failed', reason_message: message };
}

/**
 * Returns the columns to store if CAA forbids issuing, or if DNS did not answer. Null if the
 * authority may issue.
 */
function caaOf(
  app: App,
  row: TrackingHostRow,
  issuer: Issuer,
  signal: AbortSignal,
): Promise<HostPatch | null> {
  return withFreshDns(app, signal, async (dns) => {
    try {
      const { name, records } = await relevantCaa(dns, row.hostname);
      const problem = caaProblem(records, issuer);
      if (problem === null) return null;
      const message = `the CAA record of ${name} ${problem}`;
      return { ...refused(app, row, 'caa-forbids', message), caa_blocked: 1 };
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      // Without an answer about CAA, no authority may issue (RFC 8659 3).
      return withoutRecord(app, row, { found: 'unknown', message: error.message });
    }
  });
}
