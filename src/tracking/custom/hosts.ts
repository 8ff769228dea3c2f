// Custom tracking of a sending domain (specification 2.12): enabling it, showing it, looking
// again, disabling it. What a look finds is turn.ts, its schedule loop.ts.
//
//   status                | by                              | to
//   ----------------------+---------------------------------+-------------------------------------
//   (none), `disabled`    | enabled, the domain is verified | `pending`, looked at at once
//   `tearing-down`        | enabled with the same label     | `pending`; its certificate is kept
//   any but the last two  | disabled                        | `tearing-down` for a week: links go on
//   any but the last two  | looked at again                 | what turn.ts says
import type { Caller } from '../../api/route.ts';
import type { App } from '../../app.ts';
import { domains } from '../../domains/queries.ts';
import { ConflictError, ValidationError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { isoTime } from '../../runtime/clock.ts';
import { type Db, fromJson, isDuplicate } from '../../store/db.ts';
import { leaseOf, takeTurn } from './lease.ts';
import { noOrder } from './outcome.ts';
import {
  claimRestedHost,
  findHolder,
  findHostOfDomain,
  hostChanges,
  insertHost,
  type TrackingHostRow,
  updateHost,
} from './queries.ts';
import type { CustomTracking, EnableTracking } from './schema.ts';
import { recordsOf } from './target.ts';

const teardownMs = 7 * 24 * 3600_000;
/** Between two looks at a host (specification 8.3). */
const restMs = 30_000;
/** Of `_acme-challenge.` and a name together there are 253 at most. */
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

/** The state; `customTracking` is null where it was never enabled. @throws ResourceNotFoundError. */
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
        ? 'is the label of the return path, whose MX no CNAME can stand beside'
        : null;
  if (problem !== null) throw ValidationError.of('label', problem);
  return hostname;
}

/** Of two organizations with one domain name, only who is verified for it has its hosts. */
async function takeName(trx: Db, hostname: string, domainId: string): Promise<void> {
  const holder = await findHolder(trx, hostname);
  if (!holder || holder.domain_id === domainId) return;
  const domain = await domains.find(trx, holder.organization_id, holder.domain_id);
  if (domain?.status === 'verified') {
    throw new ConflictError(resource, `${hostname} is the tracking host of another organization`);
  }
  await updateHost(trx, holder.id, {
    ...noOrder,
    status: 'disabled',
    next_check_at: null,
    claimed_by: null,
    claimed_until: null,
    certificate: null,
    certificate_key: null,
    certificate_expires_at: null,
  });
}

function newHost(app: App, label: string, hostname: string) {
  const now = app.clock.now();
  return {
    ...noOrder,
    label,
    hostname,
    status: 'pending' as const,
    reason_code: 'initializing' as const,
    reason_message: 'it is looked at for the first time soon',
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
 * Makes `label` of a verified domain the host of its links; a daemon looks for its records at once.
 * @throws ResourceNotFoundError, ValidationError, ConflictError (not verified, enabled already, being
 *   torn down under another label, the name is another's).
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
      throw tornDown(there, 'until then only its own label can be enabled again');
    }
    await takeName(trx, hostname, id);
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
      peace_until: null,
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
    // Somebody else took the name in this moment.
    if (!isDuplicate(error)) throw error;
    throw new ConflictError(resource, `${label} is taken by another organization`);
  }
}

function alreadyEnabled({ hostname }: { hostname: string }): ConflictError {
  return new ConflictError(resource, `it is enabled already, as ${hostname}: disable that first`);
}

function tornDown({ hostname, teardown_at }: TrackingHostRow, what: string): ConflictError {
  const until = isoTime(teardown_at);
  return new ConflictError(resource, `${hostname} is being torn down until ${until}: ${what}`);
}

/** @throws ResourceNotFoundError, ConflictError: disabled, or being torn down. */
async function getEnabledHost(db: Db, organizationId: string, id: string) {
  const domain = await domains.get(db, organizationId, id);
  const row = await findHostOfDomain(db, id);
  if (row?.status === 'tearing-down') throw tornDown(row, 'nothing looks at it');
  if (!row || row.status === 'disabled') {
    throw new ConflictError(resource, `${domain.domain} has no custom tracking enabled`);
  }
  return { domain, row };
}

/**
 * Ends it: new mail has other links at once; those in sent mail go on working for a week.
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
 * Looks at the host now instead of at its time, unless any process did so in the last 30 seconds: then
 * the state is that of the last look. A certificate that is due is ordered by a daemon, soon after.
 * @throws ResourceNotFoundError, ConflictError (disabled, being torn down).
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
    // Who has just mended what was wrong does not wait; an authority that asked for peace gets it.
    const order_after = claimed.peace_until;
    await takeTurn(app, { ...claimed, order_after }, { holder, mayOrder: false });
  }
  const after = await getEnabledHost(app.store.db, organizationId, id);
  return present(app, after.row);
}
