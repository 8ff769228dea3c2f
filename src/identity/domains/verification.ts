// Verification of domains: the consequences of look-ups (check-records.ts), and their schedule,
// which checks a few due domains at once. No transaction awaits DNS.
//
// status              found               to                 also
// any                 proven              verified           unpublished keys that were found are
// used
// pending             not proven          pending            next check after as long as it has
// existed
// pending             DNS did not answer  temporary-failure
// temporary-failure   not proven          pending
// verified            not proven          verified           after 3 days of this: failed
// verified            DNS did not answer  verified           proves nothing either way
// failed              anything else       failed             checked daily
// any                 --force             verified           all keys count as published
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { byService, record, told } from '../../history/events/record.ts';
import { ForbiddenError, ResourceNotFoundError } from '../../platform/errors.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { type CheckResult, checkRecords } from './check-records.ts';
import { checkInTurn } from './check-turns.ts';
import { provingKeys } from './dns-records.ts';
import {
  type DomainRows,
  domainChange,
  getDomainRows,
  type StoredDomain,
  toDomain,
} from './domains.ts';
import { domainFailed, domainFailing, domainVerified } from './events.ts';
import * as queries from './queries.ts';
import type { Domain } from './schema.ts';
import { forgetSigningKeys } from './signing-keys.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const failsAfterMs = 3 * dayMs;
const jitter = 0.1;

type Finding = 'proven' | 'unproven' | 'unanswered';

function findingOf({ keys }: DomainRows, results: readonly CheckResult[]): Finding {
  const proving = new Set(provingKeys(keys).map((key) => key.id));
  const dkim = results.filter(({ record }) => record.keyId !== null && proving.has(record.keyId));
  const returnPath = results.filter(
    ({ record }) => record.purpose === 'return-path' && record.required,
  );
  // After a rotation either the old or the new key proves the domain.
  const proofs = [dkim, returnPath];
  const isProven = (some: readonly CheckResult[]) =>
    some.some(({ check }) => check.status === 'valid');
  if (proofs.every(isProven)) return 'proven';
  const isOpen = (some: readonly CheckResult[]) => some.some(({ isTemporary }) => isTemporary);
  return proofs.every((some) => isProven(some) || isOpen(some)) ? 'unanswered' : 'unproven';
}

type Transition = Pick<queries.DomainRow, 'status' | 'verified_at' | 'failing_since'>;

/** Applies the state table above. */
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
  if (status === 'failed') return { status, verified_at, failing_since };
  const next = finding === 'unanswered' ? 'temporary-failure' : 'pending';
  return { status: next, verified_at, failing_since };
}

/** Returns the kind of event for this transition, or null. */
function kindOf(before: queries.DomainRow, after: Transition) {
  if (after.status !== before.status) {
    if (after.status === 'verified') return domainVerified;
    return after.status === 'failed' ? domainFailed : null;
  }
  const beginsToFail = before.failing_since === null && after.failing_since !== null;
  return beginsToFail ? domainFailing : null;
}

function nextCheckAt(app: App, domain: queries.DomainRow, next: Transition, now: number): number {
  let delayMs = dayMs;
  if (next.status === 'verified' && next.failing_since !== null) delayMs = hourMs;
  if (next.status === 'pending' || next.status === 'temporary-failure') {
    delayMs = Math.min(dayMs, Math.max(minuteMs, now - domain.created_at));
  }
  return Math.round(now + delayMs * (1 + jitter * (2 * app.random.float() - 1)));
}

/** Returns for each key whether DNS has it. Keys without an answer are absent. */
function publishedKeys(results: readonly CheckResult[]): Map<string, boolean> {
  return new Map(
    results.flatMap(({ record, check, isTemporary }) =>
      record.keyId === null || isTemporary
        ? []
        : [[record.keyId, check.status === 'valid'] as const],
    ),
  );
}

/** Marks the found keys as in use. A key in use retires the older ones of its algorithm. */
async function confirmKeys(
  trx: Db,
  keys: readonly queries.DomainKeyRow[],
  published: ReadonlyMap<string, boolean>,
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
  await queries.retireKeys(trx, retired);
}

/**
 * Checks the records in turn (check-turns.ts).
 * @throws ResourceNotFoundError if the domain was deleted.
 */
function checkDomain(app: App, organizationId: string, id: string): Promise<StoredDomain> {
  return checkInTurn(app, organizationId, id, () => checkNow(app, organizationId, id));
}

/** Looks up the records and stores the result. */
async function checkNow(app: App, organizationId: string, id: string): Promise<StoredDomain> {
  const before = await getDomainRows(app, app.store.db, organizationId, id);
  if (before.domain.is_local === 1) return before;
  const results = await checkRecords(app, before);
  const { status } = before.domain;
  const after = await app.store.write(async (trx) => {
    const now = app.clock.now();
    // Locks the domain, so that no rotation comes between.
    await queries.domains.update(trx, organizationId, id, { last_checked_at: now });
    const { domain, keys } = await getDomainRows(app, trx, organizationId, id);
    const next = transition(domain, findingOf(before, results), now);
    const checks = results.map(({ name, check: found }) => [name, found] as const);
    await confirmKeys(trx, keys, publishedKeys(results));
    await queries.domains.update(trx, organizationId, id, {
      ...next,
      record_checks: toJson(Object.fromEntries(checks)),
      next_check_at: nextCheckAt(app, domain, next, now),
      ...(next.status !== domain.status && { updated_at: now }),
    });
    const stored = await getDomainRows(app, trx, organizationId, id);
    const kind = kindOf(domain, next);
    const event = kind && told(kind, toDomain(app, stored));
    await record(app, trx, byService(organizationId), { subject: id, event });
    return stored;
  });
  forgetSigningKeys(app, id);
  if (after.domain.status !== status) {
    app.log.info({ domain: after.domain.domain, from: status, to: after.domain.status }, 'domain');
  }
  return after;
}

/**
 * Marks all keys as published without asking DNS. The schedule no longer checks the domain. The sandbox is an
 * ordinary domain after it: its mail may leave the machine.
 */
async function force(app: App, caller: Caller, id: string): Promise<StoredDomain> {
  const { organizationId } = caller;
  const forced = await app.store.write(async (trx) => {
    const now = app.clock.now();
    const { domain, keys } = await getDomainRows(app, trx, organizationId, id);
    await queries.domains.update(trx, organizationId, id, {
      status: 'verified',
      verified_at: domain.status === 'verified' ? domain.verified_at : now,
      failing_since: null,
      next_check_at: null,
      is_local: 0,
      updated_at: now,
    });
    await confirmKeys(trx, keys, new Map(keys.map((key) => [key.id, true])));
    const after = await getDomainRows(app, trx, organizationId, id);
    const event = domain.status === 'verified' ? null : told(domainVerified, toDomain(app, after));
    const change = domainChange('domain.verified-by-force', domain);
    await record(app, trx, caller, { ...change, event });
    return after;
  });
  forgetSigningKeys(app, id);
  return forced;
}

/**
 * Checks a domain's records now. `force` verifies it without DNS; only the operator may use it.
 * @throws ResourceNotFoundError, ForbiddenError.
 */
export async function verifyDomain(
  app: App,
  caller: Caller,
  id: string,
  options: { force?: boolean } = {},
): Promise<Domain> {
  if (options.force && caller.keyId !== null) {
    throw new ForbiddenError('Only the operator can verify a domain without DNS');
  }
  const rows = options.force
    ? await force(app, caller, id)
    : await checkDomain(app, caller.organizationId, id);
  return toDomain(app, rows);
}

/** Time after which another process repeats a check that was taken but not finished. */
const claimMs = 10 * 60_000;
const mostChecksAtOnce = 10;

/**
 * Checks due domains, organizations in turn; for the scheduler, each minute. Several daemons share
 * the work.
 * @returns the number of checks.
 */
export async function checkDueDomains(app: App): Promise<number> {
  const now = app.clock.now();
  const due = await queries.selectDueDomains(app.store.db, now, mostChecksAtOnce);
  if (due.length === 0) return 0;
  // Sorted: every daemon locks domains in this order.
  due.sort((a, b) => (a.id < b.id ? -1 : 1));
  const taken = await app.store.write(async (trx) => {
    const mine: queries.DomainRow[] = [];
    for (const domain of due) {
      if (await queries.deferCheck(trx, domain, now + claimMs)) mine.push(domain);
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
    // The domain was deleted during its check.
    if (error instanceof ResourceNotFoundError) return;
    app.log.error({ err: error, domain }, 'a domain check failed');
  }
}
