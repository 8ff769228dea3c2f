// Sending domains: adding, listing, deleting. dkim-change.ts changes their keys, verification.ts
// checks their records. src/identity/senders decides which addresses may send from them.

import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import { record } from '../../history/events/record.ts';
import { type DkimAlgorithm, type DkimKeyPair, selectorOf } from '../../mail/mime/dkim/dkim-key.ts';
import { ConflictError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { type DomainHold, findDomainHolds } from '../reputation/domain-holds.ts';
import {
  type ExpectedRecord,
  primaryKey,
  type RecordCheck,
  recordName,
  recordsOf,
  returnPathOf,
} from './dns-records.ts';
import type { TrackingRecord } from './hooks.ts';
import { makeKeys } from './key-making.ts';
import * as queries from './queries.ts';
import { type AddDomain, addDomainInput, type DnsRecord, type Domain } from './schema.ts';
import { domainKeyContext, forgetSigningKeys } from './signing-keys.ts';

const algorithmsOf = {
  both: ['rsa-sha256', 'ed25519-sha256'],
  rsa: ['rsa-sha256'],
  ed25519: ['ed25519-sha256'],
} as const;

/** Delay of the first check of a new domain. It is short, as the records may exist already. */
const firstCheckDelayMs = 60_000;

/** Rows of a domain and of the DKIM keys, ready to be stored. */
export interface DomainRows {
  domain: queries.DomainRow;
  keys: queries.DomainKeyRow[];
}

/** A domain with all data that the presentation needs. */
export interface StoredDomain extends DomainRows {
  /** Start and reason of the hold; null if mail from the domain is not held. */
  hold: DomainHold | null;
  /** Records of the tracking host. */
  trackingRecords: readonly TrackingRecord[];
}

/** A key pair with the selector under which it is published. */
export interface NamedPair extends DkimKeyPair {
  algorithm: DkimAlgorithm;
  selector: string;
}

/** Returns the rows of new keys, with encrypted private halves. */
export function keyRows(
  app: App,
  domainId: string,
  generation: number,
  pairs: readonly NamedPair[],
  isPublished: boolean,
): queries.DomainKeyRow[] {
  return pairs.map(({ algorithm, selector, privateKeyPem, publicKey }) => {
    const id = app.newId('domainKey');
    return {
      id,
      domain_id: domainId,
      selector,
      algorithm,
      generation,
      public_key: publicKey,
      private_key: app.secrets.encrypt(privateKeyPem, domainKeyContext(id)),
      is_active: 1,
      is_published: isPublished ? 1 : 0,
      created_at: app.clock.now(),
      retired_at: null,
    };
  });
}

/**
 * Creates the keys and rows of a domain. A local domain is verified at once, and its keys count as
 * published, because local mail never leaves the machine. @throws ValidationError; CapacityError
 * (key-making.ts).
 */
export async function newDomain(
  app: App,
  organizationId: string,
  input: AddDomain,
  { isLocal = false } = {},
): Promise<DomainRows> {
  const { domain, dkim, returnPath } = parseWith(addDomainInput, input, 'body');
  const pairs = await makeKeys(app, organizationId, algorithmsOf[dkim]);
  const named = pairs.map(([algorithm, pair]) => {
    return { algorithm, selector: selectorOf(1, algorithm), ...pair };
  });
  const now = app.clock.now();
  const id = app.newId('domain');
  return {
    domain: {
      id,
      organization_id: organizationId,
      domain,
      status: isLocal ? 'verified' : 'pending',
      return_path: returnPathOf(domain, returnPath),
      is_local: isLocal ? 1 : 0,
      receives_mail: 0,
      catch_all_mailbox_id: null,
      record_checks: null,
      verified_at: isLocal ? now : null,
      last_checked_at: null,
      next_check_at: isLocal ? null : now + firstCheckDelayMs,
      failing_since: null,
      created_at: now,
      updated_at: now,
    },
    keys: keyRows(app, id, 1, named, isLocal),
  };
}

/** Stores a new domain. @throws ConflictError if the organization has the domain already. */
export async function storeDomain(app: App, trx: Db, { domain, keys }: DomainRows): Promise<void> {
  if (!(await queries.domains.insert(trx, domain, ['organization_id', 'domain']))) {
    throw new ConflictError('domain', `${domain.domain} is already a domain of this organization`);
  }
  await storeDomainKeys(app, trx, keys);
}

/** Stores keys. Encrypts private halves again if the root key changed after their encryption. */
export async function storeDomainKeys(
  app: App,
  trx: Db,
  rows: readonly queries.DomainKeyRow[],
): Promise<void> {
  const renew = await holdRootKey(app, trx);
  const renewed = rows.map((row) => {
    return { ...row, private_key: renew(row.private_key, domainKeyContext(row.id)) };
  });
  await queries.insertDomainKeys(trx, renewed);
}

function toDnsRecord(record: ExpectedRecord, checks: Record<string, RecordCheck>): DnsRecord {
  const { purpose, type, name, required, keepUntil } = record;
  const { status, found, error, diagnosis } = checks[recordName(record)] ?? {
    status: 'pending' as const,
    found: [],
    error: null,
    diagnosis: null,
  };
  const { value, advice } = record.advise(found, status);
  return {
    purpose,
    type,
    name,
    value,
    required,
    status,
    found,
    error,
    diagnosis: diagnosis ?? null,
    ...(advice !== null && { advice }),
    ...(keepUntil !== null && { keepUntil: isoTime(keepUntil) }),
  };
}

/** Presents a tracking record. A domain can be verified without this record. */
function toTrackingRecord({ name, value, status, error }: TrackingRecord): DnsRecord {
  const found = status === 'valid' ? [value] : [];
  const fixed = { purpose: 'tracking', type: 'CNAME', required: false } as const;
  return { ...fixed, name, value, status, found, error, diagnosis: null };
}

function dnsRecordsOf(app: App, { domain, keys, trackingRecords }: StoredDomain): DnsRecord[] {
  const checks = fromJson<Record<string, RecordCheck>>(domain.record_checks) ?? {};
  const records = recordsOf(domain, keys, app.config.delivery, app.clock.now());
  return [
    ...records.map((record) => toDnsRecord(record, checks)),
    ...trackingRecords.map(toTrackingRecord),
  ];
}

function presentKey({ selector, algorithm, public_key }: queries.DomainKeyRow) {
  return { selector, algorithm, publicKey: public_key };
}

/** Presents a domain as in the API. */
export function toDomain(app: App, stored: StoredDomain): Domain {
  const { domain, keys, hold } = stored;
  const primary = primaryKey(keys);
  if (!primary) throw new Error(`domain ${domain.id} has no DKIM key`);
  return {
    id: domain.id,
    organizationId: domain.organization_id,
    domain: domain.domain,
    status: domain.status,
    dkim: presentKey(primary),
    dkimKeys: keys
      .filter((key) => key.is_active === 1)
      .map((key) => ({ ...presentKey(key), published: key.is_published === 1 })),
    returnPath: domain.return_path,
    dnsRecords: dnsRecordsOf(app, stored),
    catchAll: {
      enabled: domain.catch_all_mailbox_id !== null,
      mailboxId: domain.catch_all_mailbox_id,
    },
    sendingStatus: hold ? 'held' : 'enabled',
    heldAt: isoTime(hold?.heldAt ?? null),
    holdReason: hold?.reason ?? null,
    verifiedAt: isoTime(domain.verified_at),
    lastCheckedAt: isoTime(domain.last_checked_at),
    createdAt: isoTime(domain.created_at),
    updatedAt: isoTime(domain.updated_at),
  };
}

/** Returns a domain with keys, hold and tracking records. @throws ResourceNotFoundError. */
export async function getDomainRows(
  app: App,
  db: Db,
  organizationId: string,
  id: string,
): Promise<StoredDomain> {
  const domain = await queries.domains.get(db, organizationId, id);
  const hold = (await findDomainHolds(db, organizationId)).get(domain.domain) ?? null;
  const keys = await queries.selectDomainKeys(db, [id]);
  const trackingRecords = (await app.hooks.findTrackingRecords(app, db, [id])).get(id) ?? [];
  return { domain, keys, hold, trackingRecords };
}

/** Returns the audit entry of a change to a domain, for `record`. */
export function domainChange(
  action: AuditAction & `domain.${string}`,
  { id, domain }: Pick<queries.DomainRow, 'id' | 'domain'>,
) {
  return { subject: id, action, details: { domain } };
}

/**
 * Registers a domain and creates DKIM keys. Several organizations may register the same name: only
 * one of them can publish keys.
 * @throws ValidationError (invalid name, public suffix), ConflictError (registered already).
 */
export async function addDomain(app: App, caller: Caller, input: AddDomain): Promise<Domain> {
  const rows = await newDomain(app, caller.organizationId, input);
  await app.store.write(async (trx) => {
    await storeDomain(app, trx, rows);
    await record(app, trx, caller, domainChange('domain.added', rows.domain));
  });
  return getDomain(app, caller, rows.domain.id);
}

/** Lists a page of the organization's domains, newest first. */
export async function listDomains(
  app: App,
  caller: Caller,
  page: PageRequest,
): Promise<Page<Domain>> {
  const { db } = app.store;
  const [{ rows: domains, total }, holds] = await Promise.all([
    queries.domains.page(db, caller.organizationId, page),
    findDomainHolds(db, caller.organizationId),
  ]);
  const ids = domains.map(({ id }) => id);
  const allKeys = await queries.selectDomainKeys(db, ids);
  const recordsOfHosts = await app.hooks.findTrackingRecords(app, db, ids);
  const items = domains.map((domain) => {
    const { id, domain: name } = domain;
    const keys = allKeys.filter((key) => key.domain_id === id);
    const trackingRecords = recordsOfHosts.get(id) ?? [];
    return toDomain(app, { domain, keys, hold: holds.get(name) ?? null, trackingRecords });
  });
  return toPage(items, total, page);
}

/** Returns a domain. @throws ResourceNotFoundError. */
export async function getDomain(app: App, caller: Caller, id: string): Promise<Domain> {
  return toDomain(app, await getDomainRows(app, app.store.db, caller.organizationId, id));
}

/** Lists the records to publish, as last checked. @throws ResourceNotFoundError. */
export async function listDnsRecords(
  app: App,
  caller: Caller,
  id: string,
): Promise<{ items: DnsRecord[] }> {
  const rows = await getDomainRows(app, app.store.db, caller.organizationId, id);
  return { items: dnsRecordsOf(app, rows) };
}

/**
 * Deletes a domain and all keys. The senders of the domain can no longer send, and queued mail
 * leaves unsigned.
 * @throws ResourceNotFoundError.
 */
export async function deleteDomain(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const domain = await queries.domains.remove(trx, caller.organizationId, id);
    await record(app, trx, caller, domainChange('domain.deleted', domain));
  });
  forgetSigningKeys(app, id);
  return { success: true, message: `Domain ${id} and its DKIM keys are deleted` };
}
