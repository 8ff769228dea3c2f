// Runs in the form of the API.

import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import type { RunTally } from '../../run-ledger/counter-queries.ts';
import { findRunCounts } from '../../run-ledger/counters.ts';
import type { RunRow, RunState } from '../../run-ledger/queries.ts';
import type { Run, RunSummary } from './run-schema.ts';

type Stats = RunSummary['stats'];

/** Returns the public counters of a run, without the counters of health. */
function statsOf({ attempted, hard_bounced, complaints, ...stats }: RunTally): Stats {
  return stats;
}

function summaryOf(row: RunState, stats: Stats): RunSummary {
  return {
    id: row.id,
    organizationId: row.organization_id,
    campaignId: row.campaign_id,
    status: row.status,
    scheduledFor: isoTime(row.scheduled_for),
    idempotencyKey: row.idempotency_key,
    retryOf: row.retry_of,
    onlyNew: row.only_new === 1,
    startedAt: isoTime(row.started_at),
    completedAt: isoTime(row.completed_at),
    policySnapshot: fromJson<NonNullable<RunSummary['policySnapshot']>>(row.policy_snapshot),
    totalRecipients: row.total_recipients,
    dispatchedCount: row.dispatched_count,
    failedCount: row.failed_count,
    skippedCount: row.skipped_count,
    failureReason: row.failure_reason,
    holdReason: row.hold_reason,
    holdDomainId: row.hold_domain_id,
    holdDetail: row.hold_detail,
    lastContactId: row.last_contact_id,
    waitReason: row.wait_reason,
    nextDispatchAt: isoTime(row.next_dispatch_at),
    stats,
    isTest: row.is_test === 1,
    createdBy: row.created_by,
    actorEmail: row.actor_email,
    memberRole: row.member_role,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Presents runs with their counters, without content and audience. */
export async function presentRuns(db: Db, rows: readonly RunState[]): Promise<RunSummary[]> {
  const counts = await findRunCounts(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => summaryOf(row, statsOf(counts(row.id))));
}

/** Presents a run with counters, without content and audience. */
export async function presentRun(db: Db, row: RunState): Promise<RunSummary> {
  const counts = await findRunCounts(db, [row.id]);
  return summaryOf(row, statsOf(counts(row.id)));
}

/** Returns the audience of a run without the queries of the groups; null without a snapshot. */
function audienceOf({ audience_snapshot }: RunRow): Run['audienceSnapshot'] {
  const audience = fromJson<NonNullable<Run['audienceSnapshot']>>(audience_snapshot);
  if (!audience) return null;
  const { includeTags, excludeTags, contactIds, groupIds } = audience;
  return { includeTags, excludeTags, contactIds, groupIds };
}

/** Presents a run with content and audience. */
export async function presentWholeRun(db: Db, row: RunRow): Promise<Run> {
  return {
    ...(await presentRun(db, row)),
    contentSnapshot: fromJson<NonNullable<Run['contentSnapshot']>>(row.content_snapshot),
    audienceSnapshot: audienceOf(row),
  };
}
