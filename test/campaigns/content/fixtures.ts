// Runs of a campaign without their walk: a stored run, and messages for given contacts.

import {
  type Addressee,
  dispatch,
  dispatchedRun,
  prepareDispatch,
} from '../../../src/campaigns/mail/dispatch.ts';
import { type CampaignEmail, campaignEmailInput } from '../../../src/campaigns/mail/schema.ts';
import {
  type CampaignMail,
  draftRunContent,
  storeMailing,
} from '../../../src/campaigns/mail/snapshot.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { type RunRow, runs } from '../../../src/run-ledger/queries.ts';

/** Returns the mail of a campaign with this content. */
export function campaignMail(email: Partial<CampaignEmail>, more: Partial<CampaignMail> = {}) {
  return {
    email: campaignEmailInput.parse(email),
    from: undefined,
    conversationId: null,
    metadata: null,
    ...more,
  } satisfies CampaignMail;
}

/** Makes a contact and returns it as an addressee. */
export async function addressee(
  app: App,
  caller: Caller,
  email: string,
  profile: Record<string, unknown> = {},
): Promise<Addressee> {
  const { id } = await createContact(app, caller, { email, profile });
  return { contactId: id, email, name: null };
}

let made = 0;

/** Stores a run with this content and returns its row. */
export async function startedRun(app: App, caller: Caller, mail: CampaignMail): Promise<RunRow> {
  const { organizationId } = caller;
  const drafted = await draftRunContent(app, organizationId, mail);
  const now = app.clock.now();
  return app.store.write(async (trx) => {
    const shared = await storeMailing(app, trx, organizationId, drafted);
    const row: RunRow = {
      id: app.newId({ prefix: 'run' }),
      organization_id: organizationId,
      campaign_id: `camp_${made++}`,
      status: 'running',
      ...{ scheduled_for: null, idempotency_key: null, fingerprint: '', retry_of: null },
      ...{ only_new: 0, started_at: now, completed_at: null, total_recipients: 0 },
      ...{ dispatched_count: 0, failed_count: 0, skipped_count: 0 },
      ...{ failure_reason: null, hold_reason: null, hold_domain_id: null, hold_detail: null },
      ...{
        excluded_counts: null,
        last_contact_id: null,
        last_of_audience: null,
        wait_reason: null,
      },
      ...{ next_dispatch_at: null, dispatched_at: null, worker: null, leased_until: null },
      ...{ due_at: null, created_by: null, actor_email: null, member_role: null, is_test: 0 },
      ...{ created_at: now, updated_at: now, audience_snapshot: null, policy_snapshot: null },
      shared: JSON.stringify(shared),
      content_snapshot: JSON.stringify(drafted.snapshot),
    };
    await runs.insert(trx, row);
    return row;
  });
}

/**
 * Sends the mail of a run to these contacts; returns the ids of the messages, or the reasons
 * without one.
 */
export async function dispatched(
  app: App,
  caller: Caller,
  row: RunRow,
  addressees: readonly Addressee[],
): Promise<string[]> {
  const run = await dispatchedRun(app, row, JSON.parse(row.shared ?? ''));
  const prepared = await prepareDispatch(app, run, addressees);
  const mails = prepared.flatMap((one) => ('request' in one ? [one] : []));
  const results = await app.store.write((trx) => dispatch(app, trx, caller, run, mails));
  const made = new Map(results.map((one) => [one.contactId, one]));
  return prepared.map((one) => {
    if ('failure' in one) return one.failure;
    const result = made.get(one.contactId);
    return result && 'messageId' in result ? result.messageId : String(result?.error.message);
  });
}
