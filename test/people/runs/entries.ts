// Runs, and messages that belong to them, without a campaign that made them.
import { sql } from 'kysely';
import { runNoun } from '../../../src/campaigns/setup/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { acceptAll } from '../../../src/outbound/sending/accept.ts';
import { readSendContent } from '../../../src/outbound/sending/content.ts';
import { recentContents } from '../../../src/outbound/sending/recent-contents.ts';
import { insertRecipients, type RunRow, runs } from '../../../src/run-ledger/queries.ts';
import { payloadFor } from '../../support/delivery.ts';

/** Stores a run that is running, unless `more` differs. */
export async function newRun(
  app: App,
  organizationId: string,
  more: Partial<RunRow> = {},
): Promise<string> {
  const now = app.clock.now();
  const row: RunRow = {
    id: app.newId(runNoun),
    organization_id: organizationId,
    campaign_id: 'camp_1',
    status: 'running',
    scheduled_for: null,
    idempotency_key: null,
    fingerprint: '',
    retry_of: null,
    only_new: 0,
    started_at: now,
    completed_at: null,
    total_recipients: 0,
    dispatched_count: 0,
    failed_count: 0,
    skipped_count: 0,
    failure_reason: null,
    hold_reason: null,
    hold_domain_id: null,
    hold_detail: null,
    excluded_counts: null,
    last_contact_id: null,
    last_of_audience: null,
    wait_reason: null,
    next_dispatch_at: null,
    dispatched_at: null,
    worker: null,
    leased_until: null,
    due_at: null,
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
    ...more,
  };
  await app.store.write((trx) => runs.insert(trx, row));
  return row.id;
}

/**
 * Accepts one message of the run for each address, in one transaction, as a page of its walk does.
 */
export async function acceptForRun(
  app: App,
  caller: Caller,
  runId: string,
  addresses: readonly string[],
): Promise<string[]> {
  const requests = addresses.map((address) => {
    const payload = payloadFor(address);
    const content = readSendContent(caller.organizationId, payload);
    const run = { id: runId, mergeData: null };
    return { caller, payload, content, idempotency: null, run };
  });
  const recent = recentContents();
  const results = await app.store.write((trx) => acceptAll(app, trx, recent(trx), requests));
  return results.map((result) => {
    if ('error' in result) throw result.error;
    return result.message.id;
  });
}

/**
 * Makes these messages those of the run. Each contact of `contactOf` gets its row of the ledger.
 */
export async function giveToRun(
  app: App,
  runId: string,
  messageIds: readonly string[],
  contactOf: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  await app.store.write(async (trx) => {
    for (const id of messageIds) {
      await sql`update messages set campaign_run_id = ${runId} where id = ${id}`.execute(trx);
      await sql`update deliveries set campaign_run_id = ${runId} where message_id = ${id}`.execute(
        trx,
      );
      const contactId = contactOf.get(id);
      if (contactId === undefined) continue;
      await sql`update recipients set contact_id = ${contactId} where message_id = ${id}`.execute(
        trx,
      );
      await insertRecipients(trx, [
        {
          run_id: runId,
          contact_id: contactId,
          outcome: 'dispatched',
          reason: null,
          message_id: id,
          address_key: null,
          created_at: app.clock.now(),
          opened_at: null,
          clicked_at: null,
          unsubscribed_at: null,
        },
      ]);
    }
  });
}

/** Moves a run without the rules of its moves. */
export async function putRun(app: App, runId: string, status: RunRow['status']): Promise<void> {
  await app.store.write((trx) =>
    sql`update campaign_runs set status = ${status} where id = ${runId}`.execute(trx),
  );
}
