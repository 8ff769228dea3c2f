// Decides whether an organization may send, and how much today (specification 7 rules 3 and 4,
// 8.2). Checked and counted inside the accept transaction, so that concurrent sends never exceed
// the quota.
//
// Each recipient of an accepted message counts, duplicates folded. Blocked addresses, test keys and
// the simulator count too, as their messages are accepted like all messages. Refused and replayed
// sends do not count. Scheduled mail counts on the day on which it leaves.
import type { App } from '../../core/app.ts';
import { ForbiddenError, PaymentRequiredError } from '../../platform/errors.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { commonShard, shardOf } from '../../platform/store/shards.ts';
import { findOrganizations, type OrganizationRow } from '../organizations/queries.ts';
import { type DailyCap, dailyCaps, endOfDay, limitsOf, startOfDay } from './plans.ts';
import { findUsage, lockUsage, usage } from './queries.ts';

/** Resource and operation that a refusal with 402 names. */
const quotaResource = 'daily-emails';
const quotaOperation = 'sendMessage';

export interface AcceptedMessage {
  organizationId: string;
  emails: number;
}

/** The onboarding of an organization that is not approved. */
export interface OpenOnboarding {
  status: 'pending' | 'rejected';
  generation: number;
}

/** The remaining quota of organizations, as an accept transaction sees it. */
export interface Allowances {
  /** Returns the refusal of a paused organization, or null. */
  paused(organizationId: string): ForbiddenError | null;
  /** Returns null for an approved organization: it may send to any address. */
  onboarding(organizationId: string): OpenOnboarding | null;
  /**
   * Takes this many emails of today's quota and returns null, or takes none and returns the
   * refusal.
   */
  take(organizationId: string, emails: number): PaymentRequiredError | null;
  /** Time when a used-up quota allows mail again, ms since 1970. */
  clearsAt(organizationId: string): number;
  /** Counts accepted mail at the end of the transaction. */
  count(trx: Db, accepted: readonly AcceptedMessage[]): void;
}

interface Allowance {
  paused: ForbiddenError | null;
  onboarding: OpenOnboarding | null;
  /** Emails allowed today; null without a quota. */
  limit: number | null;
  used: number;
  clearsAt: number;
}

/** Returns the text of the refusal for every send of a paused organization. */
export function pausedText(reason: string | null): string {
  const why = reason ?? 'a review is needed';
  return `Sending is paused: ${why}${/[.!?]$/.test(why) ? '' : '.'}`;
}

function pausedError({ sending_status, pause_reason }: OrganizationRow): ForbiddenError | null {
  return sending_status === 'paused'
    ? new ForbiddenError(pausedText(pause_reason), 'paused')
    : null;
}

function openOnboarding(row: OrganizationRow): OpenOnboarding | null {
  const { onboarding_status: status, onboarding_generation: generation } = row;
  return status === 'approved' ? null : { status, generation };
}

function takeFrom(allowance: Allowance, emails: number): PaymentRequiredError | null {
  const { limit, used } = allowance;
  if (limit !== null && used + emails > limit) {
    return new PaymentRequiredError({
      resource: quotaResource,
      currentUsage: used,
      limit,
      operation: quotaOperation,
    });
  }
  allowance.used += emails;
  return null;
}

/**
 * Reads the allowances of these organizations. For an organization with a quota, this blocks other
 * transactions from using the quota until this transaction ends. Must take the first lock of the
 * transaction.
 */
export async function openAllowances(
  app: App,
  trx: Db,
  organizationIds: Iterable<string>,
): Promise<Allowances> {
  const now = app.clock.now();
  const day = startOfDay(now);
  const rows = await findOrganizations(trx, [...new Set(organizationIds)]);
  const allowances = new Map<string, Allowance>();
  for (const row of rows) {
    const isOfService = row.id === serviceOrganizationId;
    const [tightest] = isOfService ? [] : dailyCaps(limitsOf(app.config, row.plan), row, now);
    allowances.set(row.id, {
      paused: pausedError(row),
      onboarding: openOnboarding(row),
      limit: tightest?.emails ?? null,
      used: 0,
      clearsAt: clearingTime(tightest, now),
    });
  }
  const limited = rows.flatMap(({ id }) => (allowances.get(id)?.limit === null ? [] : [id]));
  const used = limited.length > 0 ? await lockUsage(trx, limited, day) : [];
  for (const { organization_id, emails } of used) {
    const allowance = allowances.get(organization_id);
    if (allowance) allowance.used = emails;
  }
  return {
    paused: (id) => allowances.get(id)?.paused ?? null,
    onboarding: (id) => allowances.get(id)?.onboarding ?? null,
    take(id, emails) {
      const allowance = allowances.get(id);
      return allowance ? takeFrom(allowance, emails) : null;
    },
    clearsAt: (id) => allowances.get(id)?.clearsAt ?? endOfDay(now),
    count(db, accepted) {
      const own = shardOf(db);
      const counts = usage.of(db);
      for (const { organizationId: organization_id, emails } of accepted) {
        const shard = allowances.get(organization_id)?.limit === null ? own : commonShard;
        counts.add({ organization_id, day, shard }, { emails, messages: 1 });
      }
    },
  };
}

/** Returns the end of the day, or the end of the cap in force if that is earlier. */
function clearingTime(tightest: DailyCap | undefined, now: number): number {
  return Math.min(endOfDay(now), tightest?.endsAtMs ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns the time when mail is allowed again, by organization id. Contains only organizations with
 * a used-up quota of today. Takes no lock, so it is a preview: `openAllowances` decides.
 */
export async function findSpent(
  app: App,
  db: Db,
  organizationIds: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
  const now = app.clock.now();
  const rows = await findOrganizations(db, [...new Set(organizationIds)]);
  const rowsOfDay = await findUsage(
    db,
    rows.map(({ id }) => id),
    startOfDay(now),
  );
  const used = new Map(rowsOfDay.map(({ organization_id, emails }) => [organization_id, emails]));
  const spent = new Map<string, number>();
  for (const row of rows) {
    const [tightest] = dailyCaps(limitsOf(app.config, row.plan), row, now);
    if (tightest && (used.get(row.id) ?? 0) >= tightest.emails) {
      spent.set(row.id, clearingTime(tightest, now));
    }
  }
  return spent;
}
