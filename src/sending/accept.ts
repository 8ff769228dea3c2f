// Accepting sends: everything that makes a 201 true happens here, in one transaction for all
// requests that arrived together. Refusals are found by checks before any insert, so that a bad
// request never spoils its neighbours. Specification 4.2; ARCHITECTURE.md, "Send".

import { type Allowances, openAllowances } from '../admission/quota.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { findBlockedOf } from '../blocks/suppression.ts';
import { type DeliveryRow, firstTurn, insertDeliveries } from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import {
  ForbiddenError,
  InternalError,
  ResourceNotFoundError,
  type ServiceError,
} from '../errors.ts';
import { type MessageEvent, recordTimeline } from '../events/record.ts';
import { beyondSenders } from '../keys/constraints.ts';
import { isLocalAddress } from '../mailboxes/mailboxes.ts';
import {
  findMessageRows,
  idempotencyName,
  insertBlobs,
  insertContents,
  insertMessages,
  insertRecipients,
  type MessageRow,
  shareContent,
} from '../messages/queries.ts';
import type { Message, SendPayload } from '../messages/schema.ts';
import { foldAddress } from '../net/address.ts';
import { unsentEvent } from '../queue/delivery-event.ts';
import { countAccepted } from '../queue/outcome-counts.ts';
import { turnsOf } from '../queue/turns.ts';
import { isoTime } from '../runtime/clock.ts';
import { type ResolvedSender, resolveSenders } from '../senders/resolve.ts';
import { simulatedOutcome } from '../smtp/route.ts';
import type { Db } from '../store/db.ts';
import type { SendContent } from './content.ts';
import { type Draft, draftMessage } from './draft.ts';
import {
  answerAgain,
  findKept,
  type IdempotencyKey,
  idempotencyRow,
  keepKeys,
  nameOf,
} from './idempotency.ts';
import { beyondOnboarding } from './reach.ts';
import type { RecentContents } from './recent-contents.ts';
import { scheduledDraft, untimely } from './schedule-draft.ts';

/** One send, validated. */
export interface AcceptRequest {
  caller: Caller;
  payload: SendPayload;
  content: SendContent;
  idempotency: IdempotencyKey | null;
  /** When it is to be sent, ms since 1970; now, where it is left out. */
  scheduledFor?: number;
}

export type AcceptResult = { message: Message; replayed: boolean } | { error: ServiceError };

/** Accepts a batch inside the caller's write transaction; one result per request, in order. */
export async function acceptAll(
  app: App,
  trx: Db,
  recent: RecentContents,
  requests: readonly AcceptRequest[],
): Promise<AcceptResult[]> {
  const results: (AcceptResult | undefined)[] = requests.map(() => undefined);
  const allowances = await openAllowances(
    app,
    trx,
    requests.map(({ caller }) => caller.organizationId),
  );
  const made = await findKept(
    trx,
    requests.flatMap(({ idempotency }) => idempotency ?? []),
  );
  requests.forEach(({ idempotency }, index) => {
    const known = idempotency && made.get(nameOf(idempotency));
    if (known) results[index] = answerAgain(idempotency, known);
  });
  const drafts = await draftAll(app, trx, recent, allowances, requests, results);
  const rows = [...drafts].flatMap(([index, { presented, message }]) => {
    const idempotency = requests[index]?.idempotency;
    return idempotency ? [idempotencyRow(idempotency, presented, message.created_at)] : [];
  });
  const lost = await keepKeys(trx, rows);
  for (const index of [...drafts.keys()]) {
    const idempotency = requests[index]?.idempotency;
    const known = idempotency && lost.get(nameOf(idempotency));
    if (!known) continue;
    results[index] = answerAgain(idempotency, known);
    drafts.delete(index);
  }
  await insertDrafts(app, trx, [...drafts.values()]);
  await allowances.count(
    trx,
    // What is scheduled counts on the day on which it goes.
    [...drafts.values()].flatMap(({ message }) =>
      message.scheduled_for === null
        ? { organizationId: message.organization_id, emails: message.delivery_count }
        : [],
    ),
  );
  await countAccepted(app, trx, [...drafts.values()]);
  for (const [index, { presented }] of drafts) {
    results[index] = { message: presented, replayed: false };
  }
  // What is left repeats a key of this very batch, which may have gone to another daemon.
  const own = new Map(
    rows.map((row) => [idempotencyName(row.organization_id, row.claim_key), row]),
  );
  return requests.map(({ idempotency }, index) => {
    const repeated = idempotency && (lost.get(nameOf(idempotency)) ?? own.get(nameOf(idempotency)));
    return results[index] ?? (repeated ? answerAgain(idempotency, repeated) : unanswered());
  });
}

function unanswered(): AcceptResult {
  return { error: new InternalError('The send was left without an answer') };
}

/**
 * The rows of every request that may go on. Of several with one key the first that passes the
 * checks is drafted; the others wait for what becomes of it.
 */
async function draftAll(
  app: App,
  trx: Db,
  recent: RecentContents,
  allowances: Allowances,
  requests: readonly AcceptRequest[],
  results: (AcceptResult | undefined)[],
): Promise<Map<number, Draft>> {
  const senders = await resolveSenders(
    trx,
    requests.map(({ caller, payload }) => ({
      organizationId: caller.organizationId,
      from: payload.from,
    })),
  );
  const parents = await findParents(trx, requests);
  const blocked = await findBlockedOf(trx, requests.map(addressesOf));
  await recent.keep(requests.map(({ content }) => content.digest));
  const drafts = new Map<number, Draft>();
  const drafted = new Set<string>();
  for (const [index, request] of requests.entries()) {
    const { idempotency } = request;
    if (results[index] || (idempotency && drafted.has(nameOf(idempotency)))) continue;
    const sender = senders[index];
    const parent = parents.get(request.payload.email.inReplyToMessageId ?? '');
    const { organizationId } = request.caller;
    const { scheduledFor } = request;
    const error =
      untimely(scheduledFor, app.clock.now()) ??
      missingResource(request, parent) ??
      allowances.paused(organizationId) ??
      (sender instanceof ForbiddenError ? sender : await beyondKey(trx, request, sender)) ??
      (await beyondOnboarding(trx, request, allowances.onboarding(organizationId))) ??
      (scheduledFor === undefined
        ? allowances.take(organizationId, countRecipients(request))
        : null);
    if (error || !sender || sender instanceof ForbiddenError) {
      results[index] = error ? { error } : unanswered();
      continue;
    }
    const blocks = blocked.get(organizationId) ?? new Map();
    const draft = draftMessage(app, recent, request, sender, parent, blocks);
    drafts.set(
      index,
      scheduledFor === undefined ? draft : scheduledDraft(app, draft, scheduledFor),
    );
    if (idempotency) drafted.add(nameOf(idempotency));
  }
  return drafts;
}

async function findParents(
  trx: Db,
  requests: readonly AcceptRequest[],
): Promise<Map<string, MessageRow>> {
  const ids = requests.flatMap(({ payload }) => payload.email.inReplyToMessageId ?? []);
  if (ids.length === 0) return new Map();
  return new Map((await findMessageRows(trx, ids)).map((row) => [row.id, row]));
}

/** What the payload names and does not exist: asked before whether it may be sent (contract 4). */
function missingResource(
  { caller, payload }: AcceptRequest,
  parent: MessageRow | undefined,
): ResourceNotFoundError | null {
  const { email, conversationId } = payload;
  const missing = (resource: string, id: string) => new ResourceNotFoundError(resource, id);
  const contactId = everyEntry(payload).find((entry) => entry.contactId)?.contactId;
  if (contactId) return missing('contact', contactId);
  if (email.templateId) return missing('template', email.templateId);
  if (email.templateSlug) return missing('template', email.templateSlug);
  if (conversationId) return missing('conversation', conversationId);
  if (email.unsubscribeGroupId) return missing('unsubscribe-group', email.unsubscribeGroupId);
  if (email.inReplyToMessageId && parent?.organization_id !== caller.organizationId) {
    return missing('message', email.inReplyToMessageId);
  }
  return null;
}

/** Whom a key's mail may come from, then whom it may reach. */
async function beyondKey(
  trx: Db,
  request: AcceptRequest,
  sender: ResolvedSender | undefined,
): Promise<ForbiddenError | null> {
  const beyond = sender ? beyondSenders(request.caller, sender.email) : null;
  return beyond ?? beyondTestKey(trx, request);
}

/** A test key reaches only simulator addresses and local mailboxes (contract 3). */
async function beyondTestKey(
  trx: Db,
  { caller, payload }: AcceptRequest,
): Promise<ForbiddenError | null> {
  if (!caller.isTest) return null;
  for (const { email } of everyEntry(payload)) {
    if (email === undefined || (await isReachedByTestKey(trx, email))) continue;
    return new ForbiddenError(
      `A test key sends only to local mailboxes and @simulator.test; ${email} needs a live key`,
    );
  }
  return null;
}

function addressesOf({ caller, payload }: AcceptRequest) {
  const addresses = everyEntry(payload).flatMap(({ email }) => email ?? []);
  return { organizationId: caller.organizationId, addresses };
}

/** One email for each address, however often it is named. */
function countRecipients(request: AcceptRequest): number {
  return new Set(addressesOf(request).addresses.map(foldAddress)).size;
}

function everyEntry({ to, cc = [], bcc = [] }: SendPayload) {
  return [...to, ...cc, ...bcc];
}

async function isReachedByTestKey(trx: Db, address: string): Promise<boolean> {
  return simulatedOutcome(address) !== null || (await isLocalAddress(trx, address));
}

async function insertDrafts(app: App, trx: Db, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return;
  await insertBlobs(
    trx,
    drafts.flatMap(({ blobs }) => blobs),
  );
  await insertUsedContents(trx, drafts);
  await insertMessages(
    trx,
    drafts.map(({ message }) => message),
  );
  await insertRecipients(
    trx,
    drafts.flatMap(({ recipients }) => recipients),
  );
  await insertDeliveries(trx, await withTurns(app, trx, drafts));
  await recordTimeline(app, trx, drafts.flatMap(firstEvents));
}

/** New contents with the number of messages that share them, and more shares of stored ones. */
async function insertUsedContents(trx: Db, drafts: readonly Draft[]): Promise<void> {
  const uses = new Map<string, number>();
  for (const { message } of drafts) {
    const id = message.content_id;
    if (id !== null) uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const made = drafts.flatMap(({ content }) => content ?? []);
  await insertContents(
    trx,
    made.map((content) => ({ ...content, uses: uses.get(content.id) ?? 0 })),
  );
  for (const { id } of made) uses.delete(id);
  for (const [id, count] of uses) await shareContent(trx, id, count);
}

/** The deliveries of the drafts; those that may go at once get their turns. */
async function withTurns(app: App, trx: Db, drafts: readonly Draft[]): Promise<DeliveryRow[]> {
  const turns = turnsOf(app);
  const first = await firstTurn(trx);
  return drafts.flatMap(({ deliveries }) =>
    deliveries.map((row) =>
      row.status === 'pending'
        ? { ...row, turn: turns.next(row.organization_id, row.sender_domain, first) }
        : row,
    ),
  );
}

/** The message was accepted; then what was suppressed at once, in the order of the recipients. */
function firstEvents({ message, deliveries }: Draft): MessageEvent[] {
  const event = {
    organizationId: message.organization_id,
    messageId: message.id,
    timestamp: message.created_at,
  };
  const { scheduled_for } = message;
  const isLater = scheduled_for !== null;
  const statuses = deliveries.map((): MessageStatus => (isLater ? 'scheduled' : 'pending'));
  const accepted: MessageEvent = {
    ...event,
    recipientId: null,
    eventType: isLater ? 'scheduled' : 'accepted',
    status: overallStatus(statuses),
    metadata: isLater ? { scheduledFor: isoTime(scheduled_for) } : null,
  };
  const failed = deliveries.flatMap((delivery, index): MessageEvent[] => {
    if (delivery.status !== 'failed') return [];
    statuses[index] = 'failed';
    return [unsentEvent(delivery, delivery, overallStatus(statuses), message.created_at)];
  });
  return [accepted, ...failed];
}
