// Shared by the tests of campaigns: runs in any status, without a walk.
import { sql } from 'kysely';
import { runNoun } from '../../../src/campaigns/setup/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { type RunRow, runs } from '../../../src/run-ledger/queries.ts';
import type { RunStatus } from '../../../src/run-ledger/schema.ts';

/** Stores a run in this status. */
export async function storedRun(
  app: App,
  { organizationId }: Caller,
  status: RunStatus,
  columns: Partial<RunRow> = {},
): Promise<RunRow> {
  const now = app.clock.now();
  const row: RunRow = {
    id: app.newId(runNoun),
    organization_id: organizationId,
    campaign_id: 'camp_06dq2k0qz8h3v5m1r9t4w7xy',
    status,
    scheduled_for: null,
    idempotency_key: null,
    fingerprint: '',
    retry_of: null,
    only_new: 0,
    started_at: status === 'scheduled' ? null : now,
    completed_at: status === 'completed' ? now : null,
    total_recipients: 0,
    dispatched_count: 0,
    failed_count: 0,
    skipped_count: 0,
    failure_reason: status === 'failed' ? 'template: is not published' : null,
    hold_reason: status === 'held' ? 'run-health' : null,
    hold_domain_id: null,
    hold_detail: null,
    excluded_counts: null,
    last_contact_id: null,
    last_of_audience: null,
    wait_reason: status === 'running' ? 'rate' : null,
    next_dispatch_at: status === 'running' ? now + 1_000 : null,
    dispatched_at: null,
    worker: status === 'running' ? 'wrk_1' : null,
    leased_until: status === 'running' ? now + 60_000 : null,
    due_at: status === 'scheduled' || status === 'running' ? now : null,
    created_by: null,
    actor_email: null,
    member_role: null,
    is_test: 0,
    created_at: now,
    updated_at: now,
    audience_snapshot: null,
    policy_snapshot: null,
    shared: null,
    content_snapshot: null,
    ...columns,
  };
  await app.store.write((trx) => runs.insert(trx, row));
  return row;
}

interface LoggedRunEvent {
  type: string;
  subject: string;
  data: Record<string, unknown>;
}

/** Returns the events on runs, oldest first. */
export async function loggedEvents({ store }: App): Promise<LoggedRunEvent[]> {
  const query = sql<{ event_type: string; subject: string; data: string }>`
    select event_type, subject, data from resource_events
    where event_type like 'campaign.run.%' order by id`;
  return (await query.execute(store.db)).rows.map(({ event_type: type, subject, data }) => ({
    type,
    subject,
    data: JSON.parse(data),
  }));
}
