// Orders a certificate step by step (RFC 8555 7.4). Each check of a host reads the state of the
// order and performs the next step. The row of the host stores the progress, so any daemon can
// continue, even after a crash.
//
//   order        | done                                            | then
//   -------------+-------------------------------------------------+------------------------------------
//   (none)       | order and challenge are stored, if CAA allows   | the challenge is answered
//   pending      | the challenge is answered, if not done yet      | polled in 2 s, then later;
//                |                                                 | `challenge-failed` after 10 minutes
//   ready        | the key is stored, the request is signed        | polled
//   processing   | as pending                                      |
//   valid        | the certificate is fetched and judged           | `active`, or the reason
//   invalid      | the reason is fetched                           | `challenge-failed`
import type { App } from '../../../../core/app.ts';
import { afterTrouble, hasCertificate, noOrder, refused, renewalOf } from '../outcome.ts';
import type { HostPatch, TrackingHostRow } from '../queries.ts';
import { type Authority, newKeyPem, withAuthority } from './acme.ts';
import type { AcmeOrder } from './acme-schema.ts';
import { AuthorityError } from './authority-error.ts';
import type { Issuer } from './caa.ts';
import { judgeIssued } from './certificate.ts';
import { keyContext } from './key-context.ts';

const firstPollMs = 2_000;
const longestPollMs = 30_000;
const longestOrderMs = 10 * 60_000;

interface OrderOptions {
  signal: AbortSignal;
  keep(change: HostPatch): Promise<void>;
}

interface BeginOptions extends OrderOptions {
  /**
   * Returns the columns to store if CAA forbids issuing, or if DNS did not answer. Null if CAA
   * allows it.
   */
  mayIssue(issuer: Issuer): Promise<HostPatch | null>;
}

/** Begins an order, unless CAA forbids it. Returns the columns to store. */
export function beginOrder(
  app: App,
  row: TrackingHostRow,
  { signal, keep, mayIssue }: BeginOptions,
): Promise<HostPatch> {
  return asked(app, row, signal, async (authority) => {
    const { challenge } = app.config.tracking.acme;
    const { accountUrl, caaIdentities: identities } = authority;
    const refusal = await mayIssue({ identities, challenge, accountUrl });
    if (refusal) return refusal;
    const order = await authority.beginOrder(row.hostname);
    const proof = await authority.challengeOf(order);
    const now = app.clock.now();
    const underWay: HostPatch = {
      order_url: order.url,
      order_since: now,
      order_key: null,
      challenge_url: proof?.url ?? null,
      challenge_token: proof?.token ?? null,
      challenge_value: proof?.value ?? null,
    };
    // Stores the challenge first: every daemon must be able to answer before the authority
    // validates.
    await keep(underWay);
    if (proof) await authority.answer(proof);
    const reason_message = 'the authority checks the host';
    return {
      ...underWay,
      challenge_url: null,
      ...(!hasCertificate(row, now) && {
        status: 'issuing' as const,
        reason_code: 'initializing' as const,
        reason_message,
      }),
      verification_errors: '[]',
      caa_blocked: 0,
      next_check_at: now + firstPollMs,
    };
  });
}

/** Performs the next step of the order in `row.order_url`. Returns the columns to store. */
export function continueOrder(
  app: App,
  row: TrackingHostRow,
  options: OrderOptions,
): Promise<HostPatch> {
  return asked(app, row, options.signal, async (authority) => {
    const order = await authority.findOrder(row.order_url ?? '');
    if (order.status === 'ready') return finalize(app, row, authority, order, options);
    if (order.status === 'valid') return fetchCertificate(app, row, authority, order);
    if (order.status === 'invalid') {
      return refused(app, row, 'challenge-failed', await authority.refusalOf(order));
    }
    const { challenge_url: url, challenge_token: token } = row;
    // The challenge was stored, but the process died before it told the authority.
    if (order.status === 'pending' && url !== null && token !== null) {
      await authority.answer({ url, token });
    }
    return { ...pollLater(app, row), challenge_url: null };
  });
}

/** Runs `work` with the authority. Turns an AuthorityError into columns to store. */
async function asked(
  app: App,
  row: TrackingHostRow,
  signal: AbortSignal,
  work: (authority: Authority) => Promise<HostPatch>,
): Promise<HostPatch> {
  try {
    return await withAuthority(app, signal, work);
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error;
    const { hostname } = row;
    app.log.warn(
      { hostname, trouble: error.trouble, why: error.message },
      'a certificate was refused for now',
    );
    return afterTrouble(app, row, error);
  }
}

function pollLater(app: App, row: TrackingHostRow): HostPatch {
  const now = app.clock.now();
  // If the clock was set back, the order seems younger: the limit comes later, but it does come.
  const ageMs = Math.max(0, now - (row.order_since ?? now));
  if (ageMs >= longestOrderMs) {
    return refused(app, row, 'challenge-failed', 'the authority did not decide within 10 minutes');
  }
  const waitMs = Math.min(longestPollMs, Math.max(firstPollMs, ageMs / 2));
  return { next_check_at: Math.round(now + waitMs) } satisfies HostPatch;
}

async function finalize(
  app: App,
  row: TrackingHostRow,
  authority: Authority,
  order: AcmeOrder,
  { keep }: OrderOptions,
): Promise<HostPatch> {
  const context = keyContext(row);
  const kept = row.order_key && app.secrets.decrypt(row.order_key, context).toString('utf8');
  const keyPem = kept ?? newKeyPem();
  const order_key = row.order_key ?? app.secrets.encrypt(keyPem, context);
  // Stores the key before the request, because a certificate without the key would be useless.
  await keep({ order_key });
  const after = await authority.finalize(
    { ...order, url: row.order_url ?? '' },
    row.hostname,
    keyPem,
  );
  const withKey = { ...row, order_key };
  if (after.status !== 'valid') return { order_key, ...pollLater(app, withKey) };
  return fetchCertificate(app, withKey, authority, after);
}

async function fetchCertificate(
  app: App,
  row: TrackingHostRow,
  authority: Authority,
  order: AcmeOrder,
): Promise<HostPatch> {
  const now = app.clock.now();
  if (row.order_key === null) {
    return refused(
      app,
      row,
      'challenge-failed',
      'the authority issued another certificate than the requested one',
    );
  }
  const chain = await authority.certificateOf(order);
  const keyPem = app.secrets.decrypt(row.order_key, keyContext(row)).toString('utf8');
  const finding = judgeIssued(chain, keyPem, row.hostname, now);
  if (finding.found !== 'valid') {
    const message = 'message' in finding ? finding.message : '';
    return refused(app, row, 'certificate-mismatch', message);
  }
  const { validity } = finding;
  const renewAt = renewalOf(app, validity);
  const { hostname } = row;
  app.log.info(
    { hostname, until: new Date(validity.until).toISOString() },
    'a certificate was issued',
  );
  return {
    ...noOrder,
    status: 'active',
    reason_code: null,
    reason_message: null,
    verification_errors: '[]',
    failures: 0,
    order_after: null,
    rate_limited_until: null,
    certificate: chain,
    certificate_key: row.order_key,
    certificate_since: now,
    certificate_expires_at: validity.until,
    certificate_renew_at: renewAt,
    next_check_at: Math.min(renewAt, now + 24 * 3600_000),
  };
}
