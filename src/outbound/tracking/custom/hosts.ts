// Custom tracking of a sending domain (specification 2.12): enable, show, recheck, disable. turn.ts
// checks a host, loop.ts schedules the checks.
//
//   status                | by                              | to
//   ----------------------+---------------------------------+-------------------------------------
//   (none), `disabled`    | enabled, the domain is verified | `pending`, checked at once
//   `tearing-down`        | enabled with the same label     | `pending`; its certificate is kept
//   any enabled status    | disabled                        | `tearing-down` for a week: links still work
//   any enabled status    | rechecked                       | as in turn.ts

import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { byService, record } from '../../../history/events/record.ts';
import type { ReleaseName } from '../../../identity/domains/hooks.ts';
import { domains } from '../../../identity/domains/queries.ts';
import { ConflictError, ValidationError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { type Db, fromJson, isDuplicate } from '../../../platform/store/db.ts';
import { leaseOf, runTurn } from './lease.ts';
import { noOrder } from './outcome.ts';
import {
  claimRestedHost,
  findHostOfDomain,
  hostChanges,
  insertHost,
  type TrackingHostRow,
  updateHost,
} from './queries.ts';
import type { CustomTracking, EnableTracking } from './schema.ts';
import { recordsOf } from './target.ts';

const teardownMs = 7 * 24 * 3600_000;
/** Least time in ms between a check of a host and a recheck (specification 8.3). */
const restMs = 30_000;
/** Longest host name: `_acme-challenge.` must still fit into the 253 characters of a name. */
const longestHostname = 237;
const resource = 'custom-tracking';

function isEnabled({ status }: TrackingHostRow): boolean {
  return status !== 'tearing-down' && status !== 'disabled';
}

type SslStatus = NonNullable<CustomTracking['customTracking']>['sslStatus'];

function sslStatusOf(row: TrackingHostRow, now: number): SslStatus {
  const { certificate_expires_at: expiresAt, status, reason_code } = row;
  if (expiresAt !== null) return expiresAt > now ? 'active' : 'expired';
  if (status === 'issuing') return 'pending';
  return status === 'failed' && reason_code !== 'dns-missing' ? 'failed' : 'none';
}

function present(app: App, row: TrackingHostRow | undefined): CustomTracking {
  if (!row) return { enabled: false, customTracking: null };
  const { reason_code: code, reason_message } = row;
  return {
    enabled: isEnabled(row),
    customTracking: {
      status: row.status,
      label: row.label,
      hostname: row.hostname,
      region: app.config.tracking.region,
      sslStatus: sslStatusOf(row, app.clock.now()),
      certificate: {
        reason: code === null ? null : { code, message: reason_message ?? '' },
        expiresAt: isoTime(row.certificate_expires_at),
        lastCheckedAt: isoTime(row.last_checked_at),
        nextCheckAt: isEnabled(row) ? isoTime(row.next_check_at) : null,
      },
      dnsRecords: recordsOf(app.config, row),
      caaBlocked: row.caa_blocked === 1,
      verificationErrors: fromJson<string[]>(row.verification_errors),
      teardownScheduledAt: isoTime(row.status === 'tearing-down' ? row.teardown_at : null),
    },
  };
}

/**
 * Returns the custom tracking of a domain. `customTracking` is null if it was never enabled.
 * @throws ResourceNotFoundError.
 */
export async function getTracking(app: App, caller: Caller, id: string): Promise<CustomTracking> {
  const { db } = app.store;
  await domains.get(db, caller.organizationId, id);
  return present(app, await findHostOfDomain(db, id));
}

function hostnameOf(
  label: string,
  { domain, return_path }: { domain: string; return_path: string },
) {
  const hostname = `${label}.${domain}`;
  const problem =
    hostname.length > longestHostname
      ? `makes a name of more than ${longestHostname} characters`
      : hostname === return_path
        ? 'is the label of the return path, whose MX allows no CNAME beside it'
        : null;
  if (problem !== null) throw ValidationError.of('label', problem);
  return hostname;
}

function newHost(app: App, label: string, hostname: string) {
  const now = app.clock.now();
  return {
    ...noOrder,
    label,
    hostname,
    status: 'pending' as const,
    reason_code: 'initializing' as const,
    reason_message: 'the first check follows soon',
    caa_blocked: 0,
    verification_errors: '[]',
    failures: 0,
    enabled_at: now,
    missing_since: null,
    last_checked_at: null,
    next_check_at: now,
    claimed_by: null,
    claimed_until: null,
    teardown_at: null,
    order_after: null,
    updated_at: now,
  };
}

const noCertificate = {
  certificate: null,
  certificate_key: null,
  certificate_since: null,
  certificate_expires_at: null,
  certificate_renew_at: null,
};

/**
 * Makes `label` of a verified domain the host of the domain's links. A daemon checks the DNS
 * records at once.
 * @throws ResourceNotFoundError, ValidationError, ConflictError (not verified, enabled already, in
 * teardown under a different label, name taken).
 */
export async function enableTracking(
  app: App,
  caller: Caller,
  id: string,
  { label }: EnableTracking,
): Promise<CustomTracking> {
  const { organizationId } = caller;
  const enable = async (trx: Db) => {
    const domain = await domains.get(trx, organizationId, id);
    const hostname = hostnameOf(label, domain);
    if (domain.status !== 'verified') {
      throw new ConflictError('domain', `${domain.domain} is not verified: verify it first`);
    }
    const there = await findHostOfDomain(trx, id);
    if (there && isEnabled(there)) throw alreadyEnabled(there);
    if (there?.status === 'tearing-down' && there.hostname !== hostname) {
      throw tornDown(there, 'until then only the same label can be enabled again');
    }
    const fresh = newHost(app, label, hostname);
    const row = there ? await updateHost(trx, there.id, fresh) : await made(trx, fresh);
    hostChanges.note(trx);
    const details = { domain: domain.domain, hostname };
    await record(app, trx, caller, { subject: id, action: 'tracking.enabled', details });
    return row;
  };
  const made = async (trx: Db, fresh: ReturnType<typeof newHost>) => {
    const row: TrackingHostRow = {
      ...fresh,
      ...noCertificate,
      rate_limited_until: null,
      id: app.newId('trackingHost'),
      organization_id: organizationId,
      domain_id: id,
      created_at: fresh.updated_at,
    };
    if (await insertHost(trx, row)) return row;
    throw alreadyEnabled(fresh);
  };
  try {
    return present(app, await app.store.write(enable));
  } catch (error) {
    // A concurrent request has taken the name.
    if (!isDuplicate(error)) throw error;
    throw new ConflictError(resource, `${label} is used by another organization`);
  }
}

function alreadyEnabled({ hostname }: { hostname: string }): ConflictError {
  return new ConflictError(resource, `it is already enabled, as ${hostname}: disable that first`);
}

function tornDown({ hostname, teardown_at }: TrackingHostRow, what: string): ConflictError {
  const until = isoTime(teardown_at);
  return new ConflictError(resource, `${hostname} is being torn down until ${until}: ${what}`);
}

/** @throws ResourceNotFoundError, ConflictError: disabled, or in teardown. */
async function getEnabledHost(db: Db, organizationId: string, id: string) {
  const domain = await domains.get(db, organizationId, id);
  const row = await findHostOfDomain(db, id);
  if (row?.status === 'tearing-down') throw tornDown(row, 'it is not checked');
  if (!row || row.status === 'disabled') {
    throw new ConflictError(resource, `${domain.domain} has no custom tracking enabled`);
  }
  return { domain, row };
}

/**
 * Disables the custom tracking host of a domain. New mail stops using it at once. Links in sent
 * mail work for a further week.
 * @throws ResourceNotFoundError, ConflictError (not enabled).
 */
export async function disableTracking(
  app: App,
  caller: Caller,
  id: string,
): Promise<CustomTracking> {
  const disabled = await app.store.write(async (trx) => {
    const { domain, row } = await getEnabledHost(trx, caller.organizationId, id);
    const now = app.clock.now();
    const after = await updateHost(trx, row.id, {
      ...noOrder,
      status: 'tearing-down',
      reason_code: null,
      reason_message: null,
      verification_errors: '[]',
      teardown_at: now + teardownMs,
      next_check_at: now + teardownMs,
      claimed_by: null,
      claimed_until: null,
      updated_at: now,
    });
    hostChanges.note(trx);
    const details = { domain: domain.domain, hostname: row.hostname };
    await record(app, trx, caller, { subject: id, action: 'tracking.disabled', details });
    return after;
  });
  return present(app, disabled);
}

/**
 * Disables the hosts of domains with a name that a different organization has verified: the name
 * points to that organization now.
 */
export const releaseHosts: ReleaseName = async (app, { domain, formerIds }) => {
  for (const domainId of formerIds) {
    await app.store.write(async (trx) => {
      const row = await findHostOfDomain(trx, domainId);
      if (!row || row.status === 'disabled') return;
      await updateHost(trx, row.id, {
        ...noOrder,
        ...noCertificate,
        status: 'disabled',
        next_check_at: null,
        claimed_by: null,
        claimed_until: null,
        updated_at: app.clock.now(),
      });
      hostChanges.note(trx);
      const details = { domain, hostname: row.hostname };
      const change = { subject: domainId, action: 'tracking.disabled', details } as const;
      await record(app, trx, byService(row.organization_id), change);
    });
  }
};

/**
 * Checks the host now, unless a process is checking it or did so in the last 30 seconds: then
 * returns the stored state. If a certificate is due, a daemon orders it soon after.
 * @throws ResourceNotFoundError, ConflictError (disabled, in teardown).
 */
export async function recheckTracking(
  app: App,
  caller: Caller,
  id: string,
): Promise<CustomTracking> {
  const { organizationId } = caller;
  const { row } = await getEnabledHost(app.store.db, organizationId, id);
  const holder = app.newId('worker');
  const lease = leaseOf(app, holder);
  const claimed = await app.store.write((trx) => claimRestedHost(trx, row.id, lease, restMs));
  if (claimed) {
    // Ignores the back-off for a repaired host, but not a rate limit of the authority.
    const order_after = claimed.rate_limited_until;
    await runTurn(app, { ...claimed, order_after }, { holder, mayOrder: false });
  }
  const after = await getEnabledHost(app.store.db, organizationId, id);
  return present(app, after.row);
}
