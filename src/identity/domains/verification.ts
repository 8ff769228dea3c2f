// Verification of domains: the consequences of look-ups (check-records.ts), and their schedule,
// which checks a few due domains at once. No transaction awaits DNS.
//
//   status              found               to                 also
//   any                 proven              verified           unpublished keys that were found are used
//   not verified        proven, in use      unchanged          another organization has verified the name
//   pending             not proven          pending            next check delayed by the domain's age
//   pending             DNS did not answer  temporary-failure
//   temporary-failure   not proven          pending
//   verified            not proven          verified           recorded once a day; after 3 days: failed
//   verified            DNS did not answer  verified           proves nothing either way
//   failed              anything else       failed             checked daily
//   any                 --force             verified           all keys count as published
//
// From `verified` on the name belongs to this organization alone (owners.ts).
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record } from '../../history/events/record.ts';
import {
  type ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
} from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { deferCheck, selectDueDomains } from './check-queries.ts';
import { type CheckResult, checkRecords } from './check-records.ts';
import { lookUpTurns } from './check-turns.ts';
import { provingKeys } from './dns-records.ts';
import {
  type DomainRows,
  domainChange,
  getDomainRows,
  type StoredDomain,
  toDomain,
} from './domains.ts';
import { domainFailed, domainFailing, domainVerified } from './events.ts';
import { findOtherOwner, ownedElsewhere, releaseName } from './owners.ts';
import * as queries from './queries.ts';
import type { Domain } from './schema.ts';
import { forgetSigningKeys } from './signing-keys.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const failsAfterMs = 3 * dayMs;
const jitter = 0.1;

/** `taken`: the records prove the domain, but another organization has verified the name. */
type Finding = 'proven' | 'taken' | 'unproven' | 'unanswered';

function findingOf({ keys }: DomainRows, results: readonly CheckResult[]): Finding {
  const proving = new Set(provingKeys(keys).map((key) => key.id));
  const dkim = results.filter(({ record }) => record.keyId !== null && proving.has(record.keyId));
  const returnPath = results.filter(
    ({ record }) => record.purpose === 'return-path' && record.required,
  );
  // After a rotation, either the old key or the new key proves the domain.
  const proofs = [dkim, returnPath];
  const isProven = (some: readonly CheckResult[]) =>
    some.some(({ check }) => check.status === 'valid');
  if (proofs.every(isProven)) return 'proven';
  const isOpen = (some: readonly CheckResult[]) => some.some(({ isTemporary }) => isTemporary);
  return proofs.every((some) => isProven(some) || isOpen(some)) ? 'unanswered' : 'unproven';
}

type Transition = Pick<queries.DomainRow, 'status' | 'verified_at' | 'failing_since'>;

/** Returns the state of a domain after a check, by the table above. */
function transition(domain: queries.DomainRow, finding: Finding, now: number): Transition {
  const { status, verified_at, failing_since } = domain;
  if (finding === 'proven') {
    const since = status === 'verified' ? verified_at : now;
    return { status: 'verified', verified_at: since, failing_since: null };
  }
  if (status === 'verified') {
    if (finding === 'unanswered') return { status, verified_at, failing_since };
    const since = failing_since ?? now;
    const lasts = now - since >= failsAfterMs;
    return { status: lasts ? 'failed' : 'verified', verified_at, failing_since: since };
  }
  if (status === 'failed' || finding === 'taken') return { status, verified_at, failing_since };
  const next = finding === 'unanswered' ? 'temporary-failure' : 'pending';
  return { status: next, verified_at, failing_since };
}

/** Returns the event of this transition, or null. Reports a failing domain once a day. */
function eventOf(
  {
    domain: before,
    results,
    now,
  }: { domain: queries.DomainRow; results: readonly CheckResult[]; now: number },
  after: Transition,
  present: () => Domain,
) {
  if (after.status !== before.status) {
    if (after.status === 'verified') return eventToRecord(domainVerified, present());
    return after.status === 'failed' ? eventToRecord(domainFailed, present()) : null;
  }
  const since = after.failing_since;
  if (since === null || after.status !== 'verified') return null;
  const days = (at: number) => Math.floor((at - since) / dayMs);
  const isToldToday =
    before.failing_since !== null && days(before.last_checked_at ?? now) === days(now);
  if (isToldToday) return null;
  const gone = results
    .filter(({ record, check }) => record.required && check.status !== 'valid')
    .map(({ name }) => name);
  const facts = { gone: gone.join(', '), failsAt: isoTime(since + failsAfterMs) };
  return eventToRecord(domainFailing, present(), facts);
}

function nextCheckAt(app: App, domain: queries.DomainRow, next: Transition, now: number): number {
  let delayMs = dayMs;
  if (next.status === 'verified' && next.failing_since !== null) delayMs = hourMs;
  if (next.status === 'pending' || next.status === 'temporary-failure') {
    delayMs = Math.min(dayMs, Math.max(minuteMs, now - domain.created_at));
  }
  return Math.round(now + delayMs * (1 + jitter * (2 * app.random.float() - 1)));
}

/** Maps the id of each key to whether DNS has the record. Leaves out keys without an answer. */
function publishedKeys(results: readonly CheckResult[]): Map<string, boolean> {
  return new Map(
    results.flatMap(({ record, check, isTemporary }) =>
      record.keyId === null || isTemporary
        ? []
        : [[record.keyId, check.status === 'valid'] as const],
    ),
  );
}

/** Stores which keys DNS has. A found key retires the older keys of the same algorithm. */
async function confirmKeys(
  trx: Db,
  keys: readonly queries.DomainKeyRow[],
  published: ReadonlyMap<string, boolean>,
  now: number,
): Promise<void> {
  const covered = new Set<string>();
  const retired: string[] = [];
  for (const key of keys.toReversed()) {
    if (key.is_active === 0) continue;
    const isPublished = published.get(key.id) ?? key.is_published === 1;
    if (covered.has(key.algorithm)) retired.push(key.id);
    else await queries.setKeyPublished(trx, key.id, isPublished);
    if (isPublished) covered.add(key.algorithm);
  }
  await queries.retireKeys(trx, retired, now);
}

/** A domain as stored after a check. */
interface CheckedDomain extends StoredDomain {
  /** Whether the records prove the domain, but another organization has verified the name. */
  isTaken: boolean;
}

const checkInTurn = lookUpTurns<CheckedDomain>();

/**
 * Checks the records of a domain. At most two checks of an organization run at the same time, and
 * concurrent checks of a domain share a result.
 * @throws ResourceNotFoundError if the domain was deleted.
 */
function checkDomain(app: App, organizationId: string, id: string): Promise<CheckedDomain> {
  return checkInTurn(app, organizationId, id, () => checkNow(app, organizationId, id));
}

/** Looks up the records and stores the result. */
async function checkNow(app: App, organizationId: string, id: string): Promise<CheckedDomain> {
  const before = await getDomainRows(app, app.store.db, organizationId, id);
  if (before.domain.is_local === 1) return { ...before, isTaken: false };
  const results = await checkRecords(app, before);
  const { status } = before.domain;
  const after = await app.store.write(async (trx) => {
    const now = app.clock.now();
    // Locks the domain, so that keys cannot be rotated before the result is stored.
    const owner = await findOtherOwner(trx, before.domain.domain, organizationId);
    const { domain, keys } = await getDomainRows(app, trx, organizationId, id);
    const found = findingOf(before, results);
    const isTaken = found === 'proven' && domain.status !== 'verified' && owner !== undefined;
    const next = transition(domain, isTaken ? 'taken' : found, now);
    const checks = results.map(({ name, check }) => [name, check] as const);
    await confirmKeys(trx, keys, publishedKeys(results), now);
    await queries.domains.update(trx, organizationId, id, {
      ...next,
      last_checked_at: now,
      record_checks: toJson(Object.fromEntries(checks)),
      next_check_at: nextCheckAt(app, domain, next, now),
      ...(next.status !== domain.status && { updated_at: now }),
    });
    if (next.status === 'verified') await queries.endFormerOwners(trx, id, domain.domain);
    const stored = await getDomainRows(app, trx, organizationId, id);
    const event = eventOf({ domain, results, now }, next, () => toDomain(app, stored));
    await record(app, trx, byService(organizationId), { subject: id, event });
    return { ...stored, isTaken };
  });
  forgetSigningKeys(app, id);
  if (after.domain.status === 'verified') await releaseName(app, after.domain);
  if (after.domain.status !== status) {
    app.log.info({ domain: after.domain.domain, from: status, to: after.domain.status }, 'domain');
  }
  return after;
}

/**
 * Verifies a domain and marks the newest keys as published, without DNS. The schedule no longer
 * checks the domain. The sandbox becomes an ordinary domain: sandbox mail may leave the machine.
 */
async function force(app: App, caller: Caller, id: string): Promise<StoredDomain> {
  const { organizationId } = caller;
  const forced = await app.store.write(async (trx) => {
    const now = app.clock.now();
    const { domain: name } = await queries.domains.get(trx, organizationId, id);
    const owner = await findOtherOwner(trx, name, organizationId);
    const { domain, keys } = await getDomainRows(app, trx, organizationId, id);
    if (owner !== undefined && domain.status !== 'verified') throw taken(name);
    await queries.domains.update(trx, organizationId, id, {
      status: 'verified',
      verified_at: domain.status === 'verified' ? domain.verified_at : now,
      failing_since: null,
      next_check_at: null,
      is_local: 0,
      updated_at: now,
    });
    await queries.endFormerOwners(trx, id, name);
    await confirmKeys(trx, keys, new Map(keys.map((key) => [key.id, true])), now);
    const after = await getDomainRows(app, trx, organizationId, id);
    const event =
      domain.status === 'verified' ? null : eventToRecord(domainVerified, toDomain(app, after));
    const change = domainChange('domain.verified-by-force', domain);
    await record(app, trx, caller, { ...change, event });
    return after;
  });
  forgetSigningKeys(app, id);
  await releaseName(app, forced.domain);
  return forced;
}

/**
 * Checks the records of a domain now. `force` verifies the domain without DNS, and is reserved for
 * the operator.
 * @throws ResourceNotFoundError, ForbiddenError; ConflictError if another organization has verified
 * the name.
 */
export async function verifyDomain(
  app: App,
  caller: Caller,
  id: string,
  options: { force?: boolean } = {},
): Promise<Domain> {
  if (options.force && caller.by.kind !== 'operator') {
    throw new ForbiddenError('Only the operator can verify a domain without DNS');
  }
  if (options.force) return toDomain(app, await force(app, caller, id));
  const checked = await checkDomain(app, caller.organizationId, id);
  if (checked.isTaken) throw taken(checked.domain.domain);
  return toDomain(app, checked);
}

function taken(domain: string): ConflictError {
  return ownedElsewhere('domain', domain, 'It can be verified here once it is not verified there');
}

/**
 * Looks up the records of a domain now, and stores nothing. @returns the names of required records
 * that are missing or wrong; empty if the records prove the domain; null if DNS did not answer.
 * @throws ResourceNotFoundError if the domain was deleted.
 */
export async function findGoneRecords(
  app: App,
  { id, organization_id }: Pick<queries.DomainRow, 'id' | 'organization_id'>,
): Promise<string[] | null> {
  const rows = await getDomainRows(app, app.store.db, organization_id, id);
  const results = await checkRecords(app, rows);
  const finding = findingOf(rows, results);
  if (finding === 'unanswered') return null;
  return finding === 'unproven' ? goneIn(results) : [];
}

/** Returns the names of required records that DNS lacks, or answers with a wrong value. */
function goneIn(results: readonly CheckResult[]): string[] {
  return results
    .filter(({ record, check, isTemporary }) => {
      return record.required && check.status !== 'valid' && !isTemporary;
    })
    .map(({ name }) => name);
}

/** Time after which another process repeats a check that was begun but not finished. */
const claimMs = 10 * 60_000;
const mostChecksAtOnce = 10;

/**
 * Checks due domains, organizations in turn; for the scheduler, each minute. Several daemons share
 * the work.
 * @returns the number of checks.
 */
export async function checkDueDomains(app: App): Promise<number> {
  const now = app.clock.now();
  const due = await selectDueDomains(app.store.db, now, mostChecksAtOnce);
  if (due.length === 0) return 0;
  // Sorts by id: every daemon locks domains in this order.
  due.sort((a, b) => (a.id < b.id ? -1 : 1));
  const taken = await app.store.write(async (trx) => {
    const mine: queries.DomainRow[] = [];
    for (const domain of due) {
      if (await deferCheck(trx, domain, now + claimMs)) mine.push(domain);
    }
    return mine;
  });
  await Promise.all(taken.map((domain) => checkQuietly(app, domain)));
  return taken.length;
}

async function checkQuietly(
  app: App,
  { id, organization_id, domain }: queries.DomainRow,
): Promise<void> {
  try {
    await checkDomain(app, organization_id, id);
  } catch (error) {
    // The domain was deleted during the check: nothing is to be logged.
    if (error instanceof ResourceNotFoundError) return;
    app.log.error({ err: error, domain }, 'a domain check failed');
  }
}
