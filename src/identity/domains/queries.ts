// All SQL on `domains` and `domain_keys` except due checks (check-queries.ts). Reads and writes
// rows, decides nothing.
import { type Kysely, sql } from 'kysely';
import type { DkimAlgorithm } from '../../mail/mime/dkim/dkim-key.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export type DomainStatus = 'pending' | 'verified' | 'failed' | 'temporary-failure';

export interface DomainRow {
  id: string;
  organization_id: string;
  domain: string;
  status: DomainStatus;
  return_path: string;
  is_local: number;
  /** 1 if a mailbox of this service has an address of the domain, or is the catch-all. */
  receives_mail: number;
  /**
   * The catch-all: mailbox for mail to unknown addresses of the domain. Null without a catch-all.
   */
  catch_all_mailbox_id: string | null;
  /** JSON: RecordCheck by recordName. */
  record_checks: string | null;
  /**
   * Time of the verification. A failed domain keeps it until another organization verifies the name
   * (owners.ts).
   */
  verified_at: number | null;
  last_checked_at: number | null;
  next_check_at: number | null;
  failing_since: number | null;
  created_at: number;
  updated_at: number;
}

export interface DomainKeyRow {
  id: string;
  domain_id: string;
  selector: string;
  algorithm: DkimAlgorithm;
  /** Counts from 1. Keys created together share a generation. */
  generation: number;
  public_key: string;
  /** Encrypted private key. Empty for keys retired in versions that deleted private halves. */
  private_key: string;
  is_active: number;
  is_published: number;
  created_at: number;
  /** Time when a key in use was retired; null for all other keys. */
  retired_at: number | null;
}

/** The link to the records of a domain, for a colleague. */
export interface DomainLinkRow {
  domain_id: string;
  /** Hash of the token. */
  hash: string;
  created_at: number;
  /** Ms since 1970. */
  expires_at: number;
}

export interface DomainTables {
  domains: DomainRow;
  domain_keys: DomainKeyRow;
  domain_links: DomainLinkRow;
}

const own = ownTables<DomainTables>();

/** Finds the sending domain with this name (A-labels, lower case). Hot: every send runs it. */
export const findSendingDomain = own.first((db, organizationId: string, domain: string) =>
  db
    .selectFrom('domains')
    .select(['id', 'status', 'is_local'])
    .where('organization_id', '=', organizationId)
    .where('domain', '=', domain),
);

/** Returns whether a domain is known only on this machine: the sandbox, which nobody verified. */
export const isLocalDomain = own.first(
  (db, id: string) => db.selectFrom('domains').select('is_local').where('id', '=', id),
  (row) => row?.is_local === 1,
);

/** Finds the oldest domain of the organization that was verified by DNS or by the operator. */
export const findProvenDomain = own.first((db, organizationId: string) =>
  db
    .selectFrom('domains')
    .select('domain')
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'verified')
    .where('is_local', '=', 0)
    .orderBy('id')
    .limit(1),
);

/** Returns the organization of a domain; undefined if the domain was deleted. */
export const findDomainOwner = own.first(
  (db, id: string) => db.selectFrom('domains').select('organization_id').where('id', '=', id),
  (row) => row?.organization_id,
);

/** Returns the return-path host of a domain, or undefined if the domain was deleted. */
export const findReturnPath = own.first(
  (db, id: string) => db.selectFrom('domains').select('return_path').where('id', '=', id),
  (row) => row?.return_path,
);

/** A domain as an organization registered it. */
export interface Registration extends Pick<DomainRow, 'id' | 'organization_id' | 'verified_at'> {
  status: string;
}

const registration = ['id', 'organization_id', 'status', 'verified_at'] as const;

/** Returns all registrations of a name, the oldest first. */
export const selectRegistrations = own.all((db, name: string) =>
  db.selectFrom('domains').select(registration).where('domain', '=', name).orderBy('id'),
);

/**
 * Returns at most 100 registrations with this return-path host: last owners first, then by age.
 * Empty for a host that is not ours.
 */
export const selectReturnPathRegistrations = own.all((db, host: string) =>
  db
    .selectFrom('domains')
    .select(registration)
    .where('return_path', '=', host)
    .orderBy(({ eb }) => eb.case().when('verified_at', 'is', null).then(1).else(0).end())
    .orderBy('id')
    .limit(100),
);

/** Returns the registrations of these names as a subquery, for the look-up of received mail. */
export function registrationsNamed<T>(db: Kysely<T>, names: readonly string[]) {
  return tables<DomainTables>(db as unknown as Db)
    .selectFrom('domains')
    .select(({ ref }) => [
      'id',
      'organization_id',
      ref('status').$castTo<string>().as('status'),
      'domain as matched',
      ref('id').$castTo<string | null>().as('domain_id'),
      'verified_at',
      sql<'mailbox' | 'registration'>`'registration'`.as('kind'),
    ])
    .where('domain', ...isOneOf(db, names));
}

/** Locks the row of a domain until the end of the transaction. */
export async function lockDomain(db: Db, id: string): Promise<void> {
  await tables<DomainTables>(db)
    .updateTable('domains')
    .set(({ ref }) => ({ receives_mail: ref('receives_mail') }))
    .where('id', '=', id)
    .execute();
}

/** Locks all registrations of names until the end of the transaction. */
export const lockNamed = own.lockerOf('domains', { by: 'domain' });

/**
 * Ends the last ownership of a name in all organizations except the organization of the domain
 * `id`.
 */
export async function endFormerOwners(db: Db, id: string, name: string): Promise<void> {
  await tables<DomainTables>(db)
    .updateTable('domains')
    .set({ verified_at: null })
    .where('domain', '=', name)
    .where('id', '<>', id)
    .where('verified_at', 'is not', null)
    .execute();
}

/** Sets whether the domain receives mail, and the catch-all mailbox. */
export async function setReceiving(
  db: Db,
  id: string,
  { receivesMail, catchAllMailboxId }: { receivesMail: boolean; catchAllMailboxId: string | null },
): Promise<void> {
  await tables<DomainTables>(db)
    .updateTable('domains')
    .set({ receives_mail: receivesMail ? 1 : 0, catch_all_mailbox_id: catchAllMailboxId })
    .where('id', '=', id)
    .execute();
}

/** Returns the names of verified domains as a subquery, for areas that join on them. */
export function verifiedDomainNames(db: Db, organizationId: string) {
  return tables<DomainTables>(db)
    .selectFrom('domains')
    .select('domain')
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'verified');
}

/** Counts the domains of all organizations by status, without domains of the sandbox. */
export const countDomains = own.all((db) =>
  db
    .selectFrom('domains')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .where('is_local', '=', 0)
    .groupBy('status'),
);

/** Returns some domains of all organizations that are not verified, failed domains first. */
export const selectUnverified = own.all((db, most: number) =>
  db
    .selectFrom('domains')
    .select(['id', 'organization_id', 'domain', 'status', 'receives_mail'])
    .where('is_local', '=', 0)
    .where('status', '!=', 'verified')
    .orderBy(({ eb }) => eb.case().when('status', '=', 'failed').then(0).else(1).end())
    .orderBy('domain')
    .orderBy('id')
    .limit(most),
);

/**
 * Returns verified domains of all organizations that the schedule checks, the longest unchecked
 * first.
 */
export const selectScheduled = own.all((db, most: number) =>
  db
    .selectFrom('domains')
    .select(['id', 'organization_id', 'domain'])
    .where('is_local', '=', 0)
    .where('status', '=', 'verified')
    .where('next_check_at', 'is not', null)
    .orderBy('last_checked_at')
    .orderBy('id')
    .limit(most),
);

/** Returns the organization's domains with these names, in no order. */
export function selectDomainsNamed(
  db: Db,
  organizationId: string,
  names: readonly string[],
): Promise<Pick<DomainRow, 'id' | 'domain' | 'status' | 'verified_at'>[]> {
  if (names.length === 0) return Promise.resolve([]);
  return tables<DomainTables>(db)
    .selectFrom('domains')
    .select(['id', 'domain', 'status', 'verified_at'])
    .where('organization_id', '=', organizationId)
    .where('domain', 'in', names)
    .execute();
}

/** Operations by id, and pages. Keys are deleted with their domain. */
export const domains = own.rowsOf('domains', 'domain');

/** Returns the keys of these domains by generation, RSA first, including retired keys. */
export function selectDomainKeys(db: Db, domainIds: readonly string[]): Promise<DomainKeyRow[]> {
  if (domainIds.length === 0) return Promise.resolve([]);
  return tables<DomainTables>(db)
    .selectFrom('domain_keys')
    .selectAll()
    .where('domain_id', 'in', domainIds)
    .orderBy('generation')
    .orderBy('algorithm', 'desc')
    .execute();
}

export async function insertDomainKeys(db: Db, rows: readonly DomainKeyRow[]): Promise<void> {
  await tables<DomainTables>(db).insertInto('domain_keys').values(rows).execute();
}

export async function setKeyPublished(db: Db, id: string, isPublished: boolean): Promise<void> {
  await tables<DomainTables>(db)
    .updateTable('domain_keys')
    .set({ is_published: isPublished ? 1 : 0 })
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .execute();
}

/**
 * Retires keys for good. Their private halves stay, to compose sent mail again with the same
 * signatures.
 */
export async function retireKeys(db: Db, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await tables<DomainTables>(db)
    .updateTable('domain_keys')
    .set(({ eb }) => ({
      is_active: 0,
      is_published: 0,
      retired_at: eb.case().when('is_published', '=', 1).then(now).else(null).end(),
    }))
    .where('id', 'in', ids)
    .execute();
}

/** Columns needed for signing. */
export type SigningKeyRow = Pick<DomainKeyRow, 'id' | 'selector' | 'algorithm' | 'private_key'> &
  Pick<DomainRow, 'domain'>;

const signingColumns = [
  'domain_keys.id',
  'domain_keys.selector',
  'domain_keys.algorithm',
  'domain_keys.private_key',
  'domains.domain',
] as const;

/** Returns the published keys of a domain, newest first. Hot. */
export const selectSigningKeys = own.all((db, domainId: string) =>
  db
    .selectFrom('domain_keys')
    .innerJoin('domains', 'domains.id', 'domain_keys.domain_id')
    .select(signingColumns)
    .where('domain_keys.domain_id', '=', domainId)
    .where('domain_keys.is_active', '=', 1)
    .where('domain_keys.is_published', '=', 1)
    .orderBy('domain_keys.generation', 'desc')
    .orderBy('domain_keys.algorithm', 'desc'),
);

/** Returns the keys of a domain with these selectors, including retired keys, in no order. */
export function selectNamedKeys(
  db: Db,
  domainId: string,
  selectors: readonly string[],
): Promise<SigningKeyRow[]> {
  return tables<DomainTables>(db)
    .selectFrom('domain_keys')
    .innerJoin('domains', 'domains.id', 'domain_keys.domain_id')
    .select(signingColumns)
    .where('domain_keys.domain_id', '=', domainId)
    .where('domain_keys.selector', 'in', selectors)
    .where('domain_keys.private_key', '<>', '')
    .execute();
}

/** Returns the public half of a key of an organization's domain, including retired keys. */
export function findPublicKey(
  db: Db,
  organizationId: string,
  domain: string,
  selector: string,
): Promise<Pick<DomainKeyRow, 'algorithm' | 'public_key'> | undefined> {
  return tables<DomainTables>(db)
    .selectFrom('domain_keys')
    .innerJoin('domains', 'domains.id', 'domain_keys.domain_id')
    .select(['domain_keys.algorithm', 'domain_keys.public_key'])
    .where('domains.organization_id', '=', organizationId)
    .where('domains.domain', '=', domain)
    .where('domain_keys.selector', '=', selector)
    .executeTakeFirst();
}

/** Returns any stored key, to test whether it can be decrypted, or undefined. */
export function findAnyKey(db: Db): Promise<Pick<DomainKeyRow, 'id' | 'private_key'> | undefined> {
  return tables<DomainTables>(db)
    .selectFrom('domain_keys')
    .select(['id', 'private_key'])
    .where('private_key', '<>', '')
    .limit(1)
    .executeTakeFirst();
}

/** Stores the link of a domain, in place of an earlier link. */
export async function putDomainLink(db: Db, row: DomainLinkRow): Promise<void> {
  const { domain_id: _id, ...changed } = row;
  await tables<DomainTables>(db)
    .insertInto('domain_links')
    .values(row)
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(changed))
    .execute();
}

export const deleteDomainLink = own.all((db, domainId: string) =>
  db.deleteFrom('domain_links').where('domain_id', '=', domainId).returning('domain_id'),
);

export const findDomainLink = own.first((db, domainId: string) =>
  db.selectFrom('domain_links').selectAll().where('domain_id', '=', domainId),
);

/** Finds a link by the hash of its token. */
export const findDomainLinkBy = own.first((db, hash: string) =>
  db.selectFrom('domain_links').selectAll().where('hash', '=', hash),
);
