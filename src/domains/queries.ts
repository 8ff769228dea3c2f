// All SQL on `domains` and `domain_keys`. Rows only, no decisions.
import type { Kysely } from 'kysely';
import type { DkimAlgorithm } from '../mime/dkim-key.ts';
import { type Db, type ParameterOf, statement, tables } from '../store/db.ts';
import { rowsOf } from '../store/rows.ts';

export type DomainStatus = 'pending' | 'verified' | 'failed' | 'temporary-failure';

export interface DomainRow {
  id: string;
  organization_id: string;
  domain: string;
  status: DomainStatus;
  return_path: string;
  is_local: number;
  /** Whether a mailbox here has an address of it, or takes all of its mail. */
  receives_mail: number;
  /** Which mailbox takes what comes for no address of it; null: none. */
  catch_all_mailbox_id: string | null;
  /** JSON: RecordCheck by recordName. */
  record_checks: string | null;
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
  /** From 1; keys made together share one. */
  generation: number;
  public_key: string;
  /** Encrypted; empty once the key is retired. */
  private_key: string;
  is_active: number;
  is_published: number;
  created_at: number;
}

interface DomainTables {
  domains: DomainRow;
  domain_keys: DomainKeyRow;
}

type SendingDomain = Pick<DomainRow, 'id' | 'status'>;

const sendingDomain = statement<
  DomainTables,
  { organizationId: string; domain: string },
  SendingDomain
>((db, parameter) =>
  db
    .selectFrom('domains')
    .select(['id', 'status'])
    .where('organization_id', '=', parameter('organizationId'))
    .where('domain', '=', parameter('domain')),
);

/** Hot: asked for every send. `domain` in A-labels, lower case. */
export async function findSendingDomain(
  db: Db,
  organizationId: string,
  domain: string,
): Promise<SendingDomain | undefined> {
  return (await sendingDomain(db, { organizationId, domain }))[0];
}

const returnPathHost = statement(
  (db: Kysely<DomainTables>, parameter: ParameterOf<{ id: string }>) =>
    db.selectFrom('domains').select('return_path').where('id', '=', parameter('id')),
);

/** The host of return paths of a domain; undefined where the domain is gone. */
export async function findReturnPath(db: Db, id: string): Promise<string | undefined> {
  return (await returnPathHost(db, { id }))[0]?.return_path;
}

const returnPathOwners = statement(
  (db: Kysely<DomainTables>, parameter: ParameterOf<{ host: string }>) =>
    db
      .selectFrom('domains')
      .select('organization_id')
      .where('return_path', '=', parameter('host'))
      .orderBy(({ eb }) => eb.case().when('status', '=', 'verified').then(0).else(1).end())
      .orderBy('id')
      .limit(100),
);

/** The organizations that have `host` for return paths, who has proven it first; none where it is not ours. */
export async function findReturnPathOwners(db: Db, host: string): Promise<string[]> {
  return (await returnPathOwners(db, { host })).map((row) => row.organization_id);
}

/** Who has proven the domain whose return paths are at `host`; undefined where nobody has. */
export async function findProvenOwner(db: Db, host: string): Promise<string | undefined> {
  const row = await tables<DomainTables>(db)
    .selectFrom('domains')
    .select('organization_id')
    .where('return_path', '=', host)
    .where('status', '=', 'verified')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.organization_id;
}

/** The verified domain of that name, whose organization is who runs the service; its own local one first. */
export function findHostedDomain(
  db: Db,
  name: string,
  returnPath: string,
): Promise<Pick<DomainRow, 'id' | 'organization_id'> | undefined> {
  return (
    tables<DomainTables>(db)
      .selectFrom('domains')
      .select(['id', 'organization_id'])
      // Led by an index: there is none by name over all organizations.
      .where('return_path', '=', returnPath)
      .where('domain', '=', name)
      .where('status', '=', 'verified')
      .orderBy('is_local', 'desc')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
  );
}

/** Holds the row until the end of the transaction. */
export async function lockDomain(db: Db, id: string): Promise<void> {
  await tables<DomainTables>(db)
    .updateTable('domains')
    .set(({ ref }) => ({ receives_mail: ref('receives_mail') }))
    .where('id', '=', id)
    .execute();
}

/** What mail comes in for the domain. */
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

/** The domain names that are verified, as a subquery for areas that join on them. */
export function verifiedDomainNames(db: Db, organizationId: string) {
  return tables<DomainTables>(db)
    .selectFrom('domains')
    .select('domain')
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'verified');
}

/** Those of the names that are registered. */
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

/** By an id or a page of them, and what changes one; its keys go with it. */
export const domains = rowsOf<DomainRow>('domains', 'domain');

/** The keys of these domains by generation, RSA first, the retired included. */
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

/** Ends the use of keys for good, and forgets their private halves. */
export async function retireKeys(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tables<DomainTables>(db)
    .updateTable('domain_keys')
    .set({ is_active: 0, is_published: 0, private_key: '' })
    .where('id', 'in', ids)
    .execute();
}

/** What signing needs of a key. */
export type SigningKeyRow = Pick<DomainKeyRow, 'id' | 'selector' | 'algorithm' | 'private_key'> &
  Pick<DomainRow, 'domain'>;

const signingKeys = statement<DomainTables, { domainId: string }, SigningKeyRow>((db, parameter) =>
  db
    .selectFrom('domain_keys')
    .innerJoin('domains', 'domains.id', 'domain_keys.domain_id')
    .select([
      'domain_keys.id',
      'domain_keys.selector',
      'domain_keys.algorithm',
      'domain_keys.private_key',
      'domains.domain',
    ])
    .where('domain_keys.domain_id', '=', parameter('domainId'))
    .where('domain_keys.is_active', '=', 1)
    .where('domain_keys.is_published', '=', 1)
    .orderBy('domain_keys.generation', 'desc')
    .orderBy('domain_keys.algorithm', 'desc'),
);

/** Hot: the published keys of a domain, newest first. */
export function selectSigningKeys(db: Db, domainId: string): Promise<SigningKeyRow[]> {
  return signingKeys(db, { domainId });
}

/** The public half of a key of an organization's domain, the retired included. */
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

/** Any stored key, to see whether it can be decrypted; undefined where there is none. */
export function findAnyKey(db: Db): Promise<Pick<DomainKeyRow, 'id' | 'private_key'> | undefined> {
  return tables<DomainTables>(db)
    .selectFrom('domain_keys')
    .select(['id', 'private_key'])
    .limit(1)
    .executeTakeFirst();
}

/** The domains whose check is due: of each organization the one due longest, then the next of each. */
export function selectDueDomains(db: Db, now: number, limit: number): Promise<DomainRow[]> {
  const due = tables<DomainTables>(db)
    .selectFrom('domains')
    .selectAll()
    .select(({ fn }) =>
      fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('organization_id').orderBy('next_check_at').orderBy('id'))
        .as('turn'),
    )
    .where('next_check_at', '<=', now)
    .as('due');
  return tables<DomainTables>(db)
    .selectFrom('domains')
    .innerJoin(due, 'due.id', 'domains.id')
    .selectAll('domains')
    .orderBy('due.turn')
    .orderBy('domains.next_check_at')
    .orderBy('domains.id')
    .limit(limit)
    .execute();
}

/** Puts a due check off; false when another process was first. */
export async function deferCheck(
  db: Db,
  { id, next_check_at }: DomainRow,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tables<DomainTables>(db)
    .updateTable('domains')
    .set({ next_check_at: until })
    .where('id', '=', id)
    .where('next_check_at', '=', next_check_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
