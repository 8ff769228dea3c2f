// The transaction of a page. It judges the contacts as they are now, makes messages, writes the
// ledger and advances the last contact of the run. The page ends early, before a contact
//
//   that has changed since the message was prepared   | and is prepared again at once
//   for which a token, the warming window, the queue  | and the run waits (run-waits.ts)
//   or the quota allows no message now                |
//
// Order of locks: the campaign (for a run that leaves out contacts of other runs), the counters
// of the quota, the run, the warming plan, contacts, then the locks of an accepted send.
import { openAllowances } from '../../access/admission/quota.ts';
import type { App } from '../../core/app.ts';
import { byService } from '../../history/events/record.ts';
import { lockRunPlaces, type RunPlaces, takeRunPlaces } from '../../identity/warming/run-places.ts';
import type { Db } from '../../platform/store/db.ts';
import { lookPauseMs, nextLook, type Wait } from '../../run-ledger/next-look.ts';
import {
  insertRecipients,
  lockRun,
  type RecipientRow,
  type RunRow,
  type RunState,
  updateRun,
} from '../../run-ledger/queries.ts';
import { findFailure } from '../../run-ledger/walk-queries.ts';
import { type Judged, judgeContacts, type Recipient } from '../audience/judge.ts';
import { dispatch, type Prepared, reasonOf } from '../mail/dispatch.ts';
import { moveRun } from '../setup/moves.ts';
import { lockCampaigns } from '../setup/queries.ts';
import { endsAutomatically, findHold, type Hold } from './holds.ts';
import { leaseMs } from './lease.ts';
import { findOmitted, isRequest, leavesOut, type Page, quietUntil } from './prepare-page.ts';
import { waitForWarming } from './run-waits.ts';
import type { Snapshots } from './walked-run.ts';

type Request = Extract<Prepared, { request: unknown }>;

/** A contact that gets a message: at once, or at the end of quiet hours. */
interface Going {
  recipient: Recipient;
  prepared: Request;
}

/** Judgement of a page in the transaction. */
interface Outcome {
  going: Going[];
  skipped: Judged[];
  /** Contacts without a message, with the reason. */
  failed: { contactId: string; reason: string }[];
  /** The last judged contact; null if no contact is judged yet. */
  last: string | null;
  /** Set if the page ended early: the wait of the run, or null to continue at once. */
  cut: { wait: Wait | null } | null;
  usedTokens: number;
}

/**
 * Locks a run. Returns it if this worker still has the lease, and status and last contact are as
 * read before; else null.
 */
async function lockStill(trx: Db, worker: string, read: RunState): Promise<RunState | null> {
  const run = await lockRun(trx, read.id);
  const isSame =
    run?.status === read.status &&
    run.worker === worker &&
    run.last_contact_id === read.last_contact_id;
  return isSame ? run : null;
}

/** Holds a run if there is a reason, else stores the wait. A null `wait` makes it due at once. */
export async function holdOrWait(
  app: App,
  worker: string,
  read: RunState,
  snapshots: Snapshots,
  wait: Wait | null,
): Promise<void> {
  await app.store.write(async (trx) => {
    const run = await lockStill(trx, worker, read);
    if (!run) return;
    const { hold } = await findHold(app, trx, run, snapshots);
    if (hold) await holdRun(app, trx, run, hold);
    else await updateRun(trx, run.id, waiting(app, wait));
  }, 'soon');
}

/** Moves a running run to `held`. */
async function holdRun(app: App, trx: Db, run: RunState, hold: Hold): Promise<void> {
  const due_at = endsAutomatically(hold.hold_reason)
    ? app.clock.now() + lookPauseMs(app.clock)
    : null;
  await moveRun(app, trx, run, 'held', { ...hold, due_at }, byService(run.organization_id));
}

/** Returns the columns of a run that waits or continues. */
function waiting({ clock }: App, wait: Wait | null): Partial<RunRow> {
  const now = clock.now();
  return {
    wait_reason: wait?.reason ?? null,
    next_dispatch_at: wait?.until ?? null,
    due_at: wait ? nextLook(wait, clock) : now,
    leased_until: now + leaseMs,
  };
}

/**
 * Locks the campaign if the run leaves out contacts of further runs, and reads these runs again.
 * Without the lock, two concurrent pages could mail the same contact: neither ledger has it yet.
 */
async function lockQuestion(trx: Db, { run, question }: Page): Promise<Page['question']> {
  if (!leavesOut(run)) return question;
  await lockCampaigns(trx, [run.campaign_id]);
  return { ...question, omitRunIds: await findOmitted(trx, run) };
}

/** Stores a page. Returns the number of used tokens: 0 if the run has changed or is now held. */
export async function storePage(app: App, trx: Db, worker: string, page: Page): Promise<number> {
  const { organization_id: organizationId } = page.run;
  const question = await lockQuestion(trx, page);
  const allowances = await openAllowances(app, trx, [organizationId]);
  const run = await lockStill(trx, worker, page.run);
  if (!run) return 0;
  const going = await findHold(app, trx, run, page.snapshots);
  if (going.hold) {
    await holdRun(app, trx, run, going.hold);
    return 0;
  }
  const { caller, sender } = going;
  const { domainId } = sender;
  const places = domainId === null ? null : await lockRunPlaces(trx, domainId);
  const outcome = await judgePage(app, trx, { ...page, question }, places, () => {
    const refusal = allowances.take(organizationId, 1);
    return refusal && { reason: 'daily-quota', until: allowances.clearsAt(organizationId) };
  });
  const prepared = outcome.going.map((one) => one.prepared);
  const results =
    prepared.length > 0 ? await dispatch(app, trx, caller, page.snapshots, prepared) : [];
  const now = app.clock.now();
  const rows: RecipientRow[] = [
    ...outcome.skipped.map(({ contactId, skip }) =>
      ledgerRow(run, contactId, now, { outcome: 'skipped', reason: skip }),
    ),
    ...outcome.failed.map(({ contactId, reason }) =>
      ledgerRow(run, contactId, now, { outcome: 'failed', reason }),
    ),
    ...results.map((result, index) => {
      const { contactId } = result;
      if ('error' in result) {
        const reason = reasonOf(result.error);
        return ledgerRow(run, contactId, now, { outcome: 'failed', reason });
      }
      const address_key = outcome.going[index]?.recipient.addressKey ?? null;
      const { messageId: message_id } = result;
      return ledgerRow(run, contactId, now, { outcome: 'dispatched', message_id, address_key });
    }),
  ];
  await insertRecipients(trx, rows);
  const made = rows.filter((row) => row.outcome === 'dispatched').length;
  if (domainId !== null && places?.left !== Number.POSITIVE_INFINITY) {
    takeRunPlaces(trx, domainId, made);
  }
  await moveOn(app, trx, run, page, outcome, rows);
  return outcome.usedTokens;
}

function ledgerRow(
  run: RunState,
  contact_id: string,
  created_at: number,
  more: Pick<RecipientRow, 'outcome'> &
    Partial<Pick<RecipientRow, 'reason' | 'message_id' | 'address_key'>>,
): RecipientRow {
  return {
    run_id: run.id,
    contact_id,
    created_at,
    reason: null,
    message_id: null,
    address_key: null,
    opened_at: null,
    clicked_at: null,
    unsubscribed_at: null,
    ...more,
  };
}

/** Judges the candidates of a page in their order, up to the first that must wait. */
async function judgePage(
  app: App,
  trx: Db,
  page: Page,
  places: RunPlaces | null,
  takeQuota: () => Wait | null,
): Promise<Outcome> {
  const { ids, question, room, tokens, timezone } = page;
  const found = ids.length > 0 ? await judgeContacts(trx, question, ids) : [];
  const judged = new Map(found.map((one) => [one.contactId, one]));
  const now = app.clock.now();
  const outcome: Outcome = {
    going: [],
    skipped: [],
    failed: [],
    last: null,
    cut: null,
    usedTokens: 0,
  };
  const { going, skipped, failed } = outcome;
  /**
   * Adds a recipient to the outcome and returns null; or returns the reason to end the page before
   * this recipient.
   */
  const end = (recipient: Recipient): Outcome['cut'] => {
    if (going.length >= room.queue) return { wait: { reason: 'queue', until: null } };
    if (places && going.length >= places.left) return { wait: waitForWarming(places) };
    const { contactId, updatedAt, email } = recipient;
    const known = page.prepared.get(contactId);
    if (known?.updatedAt !== updatedAt || known.email !== email) return { wait: null };
    const { prepared } = known;
    if (!isRequest(prepared)) {
      failed.push({ contactId, reason: 'failure' in prepared ? prepared.failure : '' });
      return null;
    }
    const scheduledFor = quietUntil(recipient, timezone, now);
    if (scheduledFor !== null) {
      const request = { ...prepared.request, scheduledFor };
      going.push({ recipient, prepared: { ...prepared, request } });
      return null;
    }
    if (outcome.usedTokens >= tokens.drawn) {
      const until = now + tokens.waitMs;
      return { wait: tokens.waitMs > 0 ? { reason: 'rate', until } : null };
    }
    const wait = takeQuota();
    if (wait) return { wait };
    outcome.usedTokens++;
    going.push({ recipient, prepared });
    return null;
  };
  for (const id of ids) {
    const one = judged.get(id);
    if (one?.skip) skipped.push(one);
    else if (one) outcome.cut = end(one as Recipient);
    if (outcome.cut) return outcome;
    outcome.last = id;
  }
  return outcome;
}

/**
 * Stores the counters and the last contact of a run. After the last contact of the audience,
 * completes the run, or fails it if no message could be made.
 */
async function moveOn(
  app: App,
  trx: Db,
  run: RunState,
  page: Page,
  { cut, last }: Outcome,
  rows: readonly RecipientRow[],
): Promise<void> {
  const now = app.clock.now();
  const count = (outcome: RecipientRow['outcome']) =>
    rows.filter((row) => row.outcome === outcome).length;
  const made = count('dispatched');
  const counters = {
    dispatched_count: run.dispatched_count + made,
    failed_count: run.failed_count + count('failed'),
    skipped_count: run.skipped_count + count('skipped'),
  };
  const { dispatched_count, failed_count, skipped_count } = counters;
  const judged = dispatched_count + failed_count + skipped_count;
  const place = {
    ...counters,
    last_contact_id: (cut ? last : page.reached) ?? run.last_contact_id,
    ...(made > 0 && { dispatched_at: now }),
    total_recipients: Math.max(run.total_recipients, judged),
  };
  if (cut || page.reached !== run.last_of_audience) {
    const updated_at = rows.length > 0 ? now : run.updated_at;
    await updateRun(trx, run.id, { ...place, ...waiting(app, cut?.wait ?? null), updated_at });
    return;
  }
  const end = { ...place, total_recipients: judged };
  const by = byService(run.organization_id);
  if (dispatched_count > 0 || failed_count === 0) {
    await moveRun(app, trx, run, 'completed', end, by);
    return;
  }
  const reason = await findFailure(trx, run.id);
  const failure_reason = `No message could be made, for the first contact: ${reason}`;
  await moveRun(app, trx, run, 'failed', { ...end, failure_reason }, by);
}
