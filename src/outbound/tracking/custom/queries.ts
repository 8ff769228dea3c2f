// All SQL on `tracking_hosts`, `tracking_host_changes` and `acme_accounts`. Rows only, no
// decisions.
import { type Db, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { ReasonCode, TrackingStatus } from './schema.ts';

export interface TrackingHostRow {
  id: string;
  organization_id: string;
  domain_id: string;
  label: string;
  hostname: string;
  status: TrackingStatus;
  reason_code: ReasonCode | null;
  reason_message: string | null;
  caa_blocked: number;
  /** JSON: a list of texts. */
  verification_errors: string;
  /** Consecutive failures of the authority. */
  failures: number;
  enabled_at: number;
  /** Time since which the DNS record is missing; null while it is found. */
  missing_since: number | null;
  last_checked_at: number | null;
  /** Time of the next check; null for none. */
  next_check_at: number | null;
  claimed_by: string | null;
  claimed_until: number | null;
  teardown_at: number | null;
  order_url: string | null;
  order_since: number | null;
  /** Encrypted key of the ordered certificate. */
  order_key: string | null;
  order_after: number | null;
  /** End of the authority's rate limit. A recheck does not shorten it. */
  rate_limited_until: number | null;
  challenge_url: string | null;
  challenge_token: string | null;
  /** Validation value: the key authorization, or the digest for DNS. */
  challenge_value: string | null;
  /** A chain in PEM. */
  certificate: string | null;
  /** Encrypted private key of `certificate`. */
  certificate_key: string | null;
  certificate_since: number | null;
  certificate_expires_at: number | null;
  certificate_renew_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface AcmeAccountRow {
  directory_url: string;
  /** URL of the account; null before the registration. */
  url: string | null;
  /** Encrypted PEM. */
  private_key: string;
  created_at: number;
}

interface TrackingTables {
  tracking_hosts: TrackingHostRow;
  tracking_host_changes: { counter: number };
  acme_accounts: AcmeAccountRow;
}

const own = ownTables<TrackingTables>();

/** New values of changed columns. */
export type HostPatch = Partial<Omit<TrackingHostRow, 'id' | 'organization_id' | 'domain_id'>>;

const hosts = own.rowsOf('tracking_hosts', 'custom-tracking');

export const insertHost = (db: Db, row: TrackingHostRow) => hosts.insert(db, row, ['domain_id']);

/** Returns the hosts with certificates that expire before `until`, the earliest first. */
export const selectExpiringHosts = own.all((db, until: number, most: number) =>
  db
    .selectFrom('tracking_hosts')
    .select(['hostname', 'certificate_expires_at'])
    .where('certificate_expires_at', 'is not', null)
    .where('certificate_expires_at', '<', until)
    .orderBy('certificate_expires_at')
    .limit(most),
);

export function findHostOfDomain(db: Db, domainId: string): Promise<TrackingHostRow | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .selectAll()
    .where('domain_id', '=', domainId)
    .executeTakeFirst();
}

/**
 * Columns of a host that are shown with the records of the domain: without certificate and keys.
 */
export type ShownHost = Pick<
  TrackingHostRow,
  'id' | 'domain_id' | 'hostname' | 'status' | 'missing_since' | 'reason_message'
>;

/** Finds the enabled hosts of these domains. */
export function findHostsOfDomains(db: Db, domainIds: readonly string[]): Promise<ShownHost[]> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['id', 'domain_id', 'hostname', 'status', 'missing_since', 'reason_message'])
    .where('domain_id', ...isOneOf(db, domainIds))
    .where('status', 'not in', ['tearing-down', 'disabled'])
    .execute();
}

/**
 * Updates a host and returns the row. Undefined if the row is gone, or if `holder` no longer has
 * the lease.
 */
export function updateHost(
  db: Db,
  id: string,
  change: HostPatch,
  holder?: string,
): Promise<TrackingHostRow | undefined> {
  return tables<TrackingTables>(db)
    .updateTable('tracking_hosts')
    .set(change)
    .where('id', '=', id)
    .$if(holder !== undefined, (query) => query.where('claimed_by', '=', holder ?? null))
    .returningAll()
    .executeTakeFirst();
}

/** A lease on a row, until `until`. A lease that ended before `now` is free. */
export interface Lease {
  holder: string;
  now: number;
  until: number;
}

function claim(db: Db, id: string, { holder, now, until }: Lease) {
  return tables<TrackingTables>(db)
    .updateTable('tracking_hosts')
    .set({ claimed_by: holder, claimed_until: until })
    .where('id', '=', id)
    .where('status', '<>', 'disabled')
    .where(({ eb, or }) => or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]));
}

/** Makes checks due now that are dated after `latest`, because a clock ran ahead. */
export const bringChecksToPresent = own.toPresent('tracking_hosts', 'next_check_at');

/** Allows orders now that are put off beyond `latest`, because a clock ran ahead. */
export const bringOrdersToPresent = own.toPresent('tracking_hosts', 'order_after');
/** Ends rate limits of the authority that are dated after `latest`, because a clock ran ahead. */
export const bringRateLimitToPresent = own.toPresent('tracking_hosts', 'rate_limited_until');

/** Ends leases that are dated after `latest`, because a clock ran ahead. */
export const bringHostLeasesToPresent = own.toPresent('tracking_hosts', 'claimed_until');

/** Renews the lease of a host that this process holds. */
export const renewHost = own.run((db, id: string, holder: string, until: number) =>
  db
    .updateTable('tracking_hosts')
    .set({ claimed_until: until })
    .where('id', '=', id)
    .where('claimed_by', '=', holder),
);

/** Leases a due host. Returns undefined if a concurrent process was first. */
export function claimDueHost(
  db: Db,
  id: string,
  lease: Lease,
): Promise<TrackingHostRow | undefined> {
  return claim(db, id, lease)
    .where('next_check_at', '<=', lease.now)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Leases a host that no process has checked for `restMs`. Returns undefined for a host that was
 * checked since, is being checked, or is disabled.
 */
export function claimRestedHost(
  db: Db,
  id: string,
  lease: Lease,
  restMs: number,
): Promise<TrackingHostRow | undefined> {
  const { now } = lease;
  return claim(db, id, lease)
    .where(({ eb, or }) =>
      or([
        eb('last_checked_at', 'is', null),
        eb('last_checked_at', '<=', now - restMs),
        // Accepts a time in the future: the clock was set back after that check.
        eb('last_checked_at', '>', now),
      ]),
    )
    .where('status', '<>', 'tearing-down')
    .returningAll()
    .executeTakeFirst();
}

/**
 * Hot: runs after each commit. Returns the due hosts, the longest due first, without leased hosts.
 */
export const selectDueHosts = own.all(
  (db, now: number, limit: number) =>
    db
      .selectFrom('tracking_hosts')
      .select('id')
      .where('next_check_at', '<=', now)
      .where(({ eb, or }) => or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
      .orderBy('next_check_at')
      .limit(limit),
  (rows) => rows.map(({ id }) => id),
);

/** Returns the next due time after `now`, or null. */
export const findNextDue = own.first(
  (db, now: number) =>
    db
      .selectFrom('tracking_hosts')
      .select(({ fn }) => fn.min<number | null>('next_check_at').as('at'))
      .where('next_check_at', '>', now),
  (row) => row?.at ?? null,
);

/** Columns of a host that serves links: all hosts except disabled hosts. */
export type ServedHostRow = Pick<
  TrackingHostRow,
  | 'id'
  | 'organization_id'
  | 'domain_id'
  | 'hostname'
  | 'status'
  | 'certificate_since'
  | 'certificate_expires_at'
>;

export function selectServedHosts(db: Db): Promise<ServedHostRow[]> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select([
      'id',
      'organization_id',
      'domain_id',
      'hostname',
      'status',
      'certificate_since',
      'certificate_expires_at',
    ])
    .where('status', '<>', 'disabled')
    .execute();
}

type Certificate = Pick<TrackingHostRow, 'id' | 'certificate' | 'certificate_key'>;

export function findCertificate(db: Db, hostId: string): Promise<Certificate | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['id', 'certificate', 'certificate_key'])
    .where('id', '=', hostId)
    .executeTakeFirst();
}

type Challenge = Pick<TrackingHostRow, 'challenge_token' | 'challenge_value'>;

/** Finds the challenge of a host name. The columns are null without an order. */
export function findChallenge(db: Db, hostname: string): Promise<Challenge | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['challenge_token', 'challenge_value'])
    .where('hostname', '=', hostname)
    .where('status', '<>', 'disabled')
    .executeTakeFirst();
}

/** Finds the challenge of a host by id. The columns are null without an order. */
export function findChallengeById(db: Db, id: string): Promise<Challenge | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['challenge_token', 'challenge_value'])
    .where('id', '=', id)
    .where('status', '<>', 'disabled')
    .executeTakeFirst();
}

/** Counter of changes of hosts, by which each process detects that cached hosts are out of date. */
export const hostChanges = own.changeCounter('tracking_host_changes');

export function findAccount(db: Db, directoryUrl: string): Promise<AcmeAccountRow | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('acme_accounts')
    .selectAll()
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
}

/** Inserts an account, unless there is an account for the directory. */
export async function insertAccount(db: Db, row: AcmeAccountRow): Promise<void> {
  await tables<TrackingTables>(db)
    .insertInto('acme_accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('directory_url').doNothing())
    .execute();
}

export async function setAccountUrl(db: Db, directoryUrl: string, url: string | null) {
  await tables<TrackingTables>(db)
    .updateTable('acme_accounts')
    .set({ url })
    .where('directory_url', '=', directoryUrl)
    .execute();
}
