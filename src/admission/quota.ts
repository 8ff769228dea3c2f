// Whether an organization may send, and how much today (specification 7 rules 3 and 4, 8.2; contract 3
// and 6): asked and counted inside the accept transaction, so that no crowd of sends goes one beyond.
//
// What counts: each recipient of an accepted message, duplicates folded; blocked addresses, test keys
// and the simulator too, as their messages are accepted like any other. What is refused or replayed
// does not.
import type { App } from '../app.ts';
import { ForbiddenError, PaymentRequiredError } from '../errors.ts';
import { findOrganizations, type OrganizationRow } from '../organizations/queries.ts';
import type { Db } from '../store/db.ts';
import { dailyCaps, limitsOf, startOfDay } from './plans.ts';
import { addUsage, lockUsage } from './queries.ts';

/** Resource and operation of a 402 (contract 4). */
const quotaResource = 'daily-emails';
const quotaOperation = 'sendMessage';

/** What one organization may still send, as one accept transaction sees it. */
export interface Allowance {
  /** The refusal of a paused organization. */
  readonly paused: ForbiddenError | null;
  /** Takes so many emails of today's quota, or none of them and returns why. */
  take(emails: number): PaymentRequiredError | null;
}

export type Allowances = ReadonlyMap<string, Allowance>;

/** One accepted message. */
export interface AcceptedMessage {
  organizationId: string;
  emails: number;
}

function pausedError({ sending_status, pause_reason }: OrganizationRow): ForbiddenError | null {
  if (sending_status === 'enabled') return null;
  const reason = pause_reason ?? 'it has to be reviewed';
  return new ForbiddenError(`Sending is paused: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`);
}

function allowanceOf(row: OrganizationRow, limit: number | null, usedBefore: number): Allowance {
  let used = usedBefore;
  return {
    paused: pausedError(row),
    take(emails) {
      if (limit !== null && used + emails > limit) {
        return new PaymentRequiredError({
          resource: quotaResource,
          currentUsage: used,
          limit,
          operation: quotaOperation,
        });
      }
      used += emails;
      return null;
    },
  };
}

/**
 * The allowances of these organizations. Where a quota holds, nobody else can draw on it until the
 * transaction ends: to be asked first, before anything else is locked.
 */
export async function openAllowances(
  app: App,
  trx: Db,
  organizationIds: Iterable<string>,
): Promise<Allowances> {
  const now = app.clock.now();
  const rows = await findOrganizations(trx, [...new Set(organizationIds)]);
  const limits = new Map(
    rows.flatMap((row) => {
      const [tightest] = dailyCaps(limitsOf(app.config, row.plan), row, now);
      return tightest ? [[row.id, tightest.emails]] : [];
    }),
  );
  const used = new Map<string, number>();
  if (limits.size > 0) {
    const usage = await lockUsage(trx, [...limits.keys()].sort(), startOfDay(now));
    for (const { organization_id, emails } of usage) used.set(organization_id, emails);
  }
  return new Map(
    rows.map((row) => [
      row.id,
      allowanceOf(row, limits.get(row.id) ?? null, used.get(row.id) ?? 0),
    ]),
  );
}

/** Counts what a transaction accepted; the last thing it does, as it locks the counters. */
export async function countAccepted(
  app: App,
  trx: Db,
  accepted: readonly AcceptedMessage[],
): Promise<void> {
  const day = startOfDay(app.clock.now());
  const sums = new Map<string, { emails: number; messages: number }>();
  for (const { organizationId, emails } of accepted) {
    const sum = sums.get(organizationId) ?? { emails: 0, messages: 0 };
    sum.emails += emails;
    sum.messages++;
    sums.set(organizationId, sum);
  }
  const ids = [...sums.keys()].sort();
  await addUsage(
    trx,
    ids.flatMap((id) => {
      const sum = sums.get(id);
      return sum ? [{ organization_id: id, day, ...sum }] : [];
    }),
  );
}
