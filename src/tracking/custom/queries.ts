// All SQL on `tracking_hosts`, `tracking_host_changes` and `acme_accounts`. Rows only, no decisions.
import { changeCounter } from '../../store/change-counter.ts';
import { type Db, idList, isOneOf, statement, tables } from '../../store/db.ts';
import { rowsOf } from '../../store/rows.ts';
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
  /** Of the authority in a row. */
  failures: number;
  enabled_at: number;
  /** Since when its DNS record is not found. */
  missing_since: number | null;
  last_checked_at: number | null;
  /** Null: never. */
  next_check_at: number | null;
  claimed_by: string | null;
  claimed_until: number | null;
  teardown_at: number | null;
  order_url: string | null;
  order_since: number | null;
  /** Encrypted: the key of the certificate that is on its way. */
  order_key: string | null;
  order_after: number | null;
  /** The authority asked for it: no recheck shortens it. */
  peace_until: number | null;
  challenge_url: string | null;
  challenge_token: string | null;
  /** What proves the host: the key authorization, or its digest for DNS. */
  challenge_value: string | null;
  /** A chain in PEM. */
  certificate: string | null;
  /** Encrypted. */
  certificate_key: string | null;
  certificate_since: number | null;
  certificate_expires_at: number | null;
  certificate_renew_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface AcmeAccountRow {
  directory_url: string;
  /** Null until the authority knows it. */
  url: string | null;
  /** Encrypted. */
  private_key: string;
  created_at: number;
}

interface TrackingTables {
  tracking_hosts: TrackingHostRow;
  tracking_host_changes: { counter: number };
  acme_accounts: AcmeAccountRow;
}

/** Columns that change, by their new values. */
export type HostPatch = Partial<Omit<TrackingHostRow, 'id' | 'organization_id' | 'domain_id'>>;

const hosts = rowsOf<TrackingHostRow>('tracking_hosts', 'custom-tracking');

export const insertHost = (db: Db, row: TrackingHostRow) => hosts.insert(db, row, ['domain_id']);

export function findHostOfDomain(db: Db, domainId: string): Promise<TrackingHostRow | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .selectAll()
    .where('domain_id', '=', domainId)
    .executeTakeFirst();
}

/** Where its records are shown among those of its domain: without its certificate and keys. */
export type ShownHost = Pick<
  TrackingHostRow,
  'id' | 'domain_id' | 'hostname' | 'status' | 'missing_since' | 'reason_message'
>;

/** Those that are enabled, of these domains. */
export function findHostsOfDomains(db: Db, domainIds: readonly string[]): Promise<ShownHost[]> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['id', 'domain_id', 'hostname', 'status', 'missing_since', 'reason_message'])
    .where(isOneOf(db, 'domain_id', idList(db, domainIds)))
    .where('status', 'not in', ['tearing-down', 'disabled'])
    .execute();
}

/** The row as changed; undefined where it is gone or, of one that `holder` leased, it lost the lease. */
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

/** A lease on a row, until `until`. */
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

/** Takes what is due; undefined where another was first. */
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
 * Takes a host that was not looked at for `restMs`, whichever process looked; undefined where it was,
 * or is being looked at.
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
        // The clock was set back since.
        eb('last_checked_at', '>', now),
      ]),
    )
    .where('status', '<>', 'tearing-down')
    .returningAll()
    .executeTakeFirst();
}

const due = statement<TrackingTables, { now: number; limit: number }, { id: string }>(
  (db, parameter) =>
    db
      .selectFrom('tracking_hosts')
      .select('id')
      .where('next_check_at', '<=', parameter('now'))
      .where(({ eb, or }) =>
        or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', parameter('now'))]),
      )
      .orderBy('next_check_at')
      .limit(parameter('limit')),
);

/** Hot: asked after each commit. Those that are due, longest first; what another holds is left out. */
export async function selectDueHosts(db: Db, now: number, limit: number): Promise<string[]> {
  return (await due(db, { now, limit })).map(({ id }) => id);
}

const nextDue = statement<TrackingTables, { now: number }, { at: number | null }>((db, parameter) =>
  db
    .selectFrom('tracking_hosts')
    .select(({ fn }) => fn.min<number | null>('next_check_at').as('at'))
    .where('next_check_at', '>', parameter('now')),
);

/** When the next one falls due after `now`; null where none does. */
export async function findNextDue(db: Db, now: number): Promise<number | null> {
  return (await nextDue(db, { now }))[0]?.at ?? null;
}

/** What answers links: all that is not disabled. */
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

/** What is under way for a host name. */
export function findChallenge(db: Db, hostname: string): Promise<Challenge | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['challenge_token', 'challenge_value'])
    .where('hostname', '=', hostname)
    .where('status', '<>', 'disabled')
    .executeTakeFirst();
}

/** The same by the id of its row. */
export function findChallengeById(db: Db, id: string): Promise<Challenge | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['challenge_token', 'challenge_value'])
    .where('id', '=', id)
    .where('status', '<>', 'disabled')
    .executeTakeFirst();
}

/** Who has a name, but for those that gave it up. */
export function findHolder(
  db: Db,
  hostname: string,
): Promise<Pick<TrackingHostRow, 'id' | 'organization_id' | 'domain_id'> | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('tracking_hosts')
    .select(['id', 'organization_id', 'domain_id'])
    .where('hostname', '=', hostname)
    .where('status', '<>', 'disabled')
    .executeTakeFirst();
}

/** Of what is served. */
export const hostChanges = changeCounter<TrackingTables>('tracking_host_changes');

export function findAccount(db: Db, directoryUrl: string): Promise<AcmeAccountRow | undefined> {
  return tables<TrackingTables>(db)
    .selectFrom('acme_accounts')
    .selectAll()
    .where('directory_url', '=', directoryUrl)
    .executeTakeFirst();
}

/** Keeps the one that is there. */
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
