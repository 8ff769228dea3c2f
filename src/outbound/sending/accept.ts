// Accepts sends: a single transaction stores everything that the 201 promises, for all requests
// that arrived together. Checks refuse sends before any insert
// (src/outbound/queue/schedule/send-checks.ts), so a bad request never affects the remaining
// requests.

import { type Allowances, openAllowances } from '../../access/admission/quota.ts';
import { messagesRight, type SendRight } from '../../access/keys/send-checks.ts';
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { insertBlobs } from '../../core/blobs/blobs.ts';
import { type MessageEvent, recordTimeline } from '../../history/events/record.ts';
import { countInWindows } from '../../identity/warming/count.ts';
import { findBlockedOf, sendKey } from '../../people/blocks/suppression.ts';
import { type Arrival, arrivalsOf, countArrivals } from '../../people/conversations/arrivals.ts';
import { InternalError, type ServiceError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { firstTurn } from '../deliveries/claim-queries.ts';
import { unsentEvent } from '../deliveries/delivery-event.ts';
import { type DeliveryRow, insertDeliveries } from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import { insertMessageValues } from '../messages/contents/merge-queries.ts';
import { idempotencyName } from '../messages/idempotency-queries.ts';
import { insertMessages, insertRecipients, type MessageRow } from '../messages/queries.ts';
import type { Message } from '../messages/schema.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { turnsOf } from '../queue/claiming/delivery-turns.ts';
import { type AcceptingSend, openAcceptChecks } from '../queue/schedule/send-checks.ts';
import { countAccepted } from '../queue/settling/outcome-counts.ts';
import type { SendContent } from './content.ts';
import { type Draft, draftMessage, type FilledTemplate, type RunMail } from './draft.ts';
import {
  answerAgain,
  findKept,
  type IdempotencyKey,
  idempotencyRow,
  keepKeys,
  nameOf,
} from './idempotency.ts';
import type { RecentContents } from './recent-contents.ts';
import { scheduledDraft } from './schedule/schedule-draft.ts';
import { insertUsedContents } from './store-content.ts';

/** A validated send. */
export interface AcceptRequest {
  caller: Caller;
  /** The right that the caller needs for the send; by default `messagesRight`. */
  right?: SendRight;
  payload: SendPayload;
  content: SendContent;
  idempotency: IdempotencyKey | null;
  /** Scheduled time, ms since 1970; if left out, the mail is sent now. */
  scheduledFor?: number;
  /** Wait before the delivery is due, in ms. The quota counts the mail when it is accepted. */
  delayMs?: number;
  /** The message that this send repeats. */
  resent?: MessageRow;
  /** The template that made the content. */
  template?: FilledTemplate;
  /** The campaign run that makes the mail. */
  run?: RunMail;
  /**
   * A refusal found before the transaction. A repeat of an accepted send still gets the first
   * answer.
   */
  refusal?: ServiceError;
  /** Address for which the service writes the mail (service-mail.ts). */
  onBehalfOf?: string;
  /** Whether the mail of the service has a link of 15 minutes, and is dropped with the link. */
  isShort?: boolean;
}

/**
 * `stored` has the rows of a new message, for further changes by the caller in the same
 * transaction.
 */
export type AcceptResult =
  | { message: Message; replayed: boolean; stored?: Pick<Draft, 'message' | 'recipients'> }
  | Refused;

/** `check` is the name of the check that refused; absent for a refusal found before the checks. */
export interface Refused {
  error: ServiceError;
  check?: string;
}

/**
 * Accepts a batch inside the caller's write transaction. Returns a result per request, in order.
 */
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
  await countArrivals(
    app,
    trx,
    [...drafts].flatMap(([index, draft]) => arrivalOf(draft, requests[index]?.caller)),
  );
  // Scheduled mail is counted on the day on which it is sent.
  const leaving = [...drafts].flatMap(([index, { message }]) =>
    requests[index]?.scheduledFor === undefined ? message : [],
  );
  allowances.count(
    trx,
    leaving.map(({ organization_id, delivery_count }) => ({
      organizationId: organization_id,
      emails: delivery_count,
    })),
  );
  await countAccepted(app, trx, [...drafts.values()]);
  await countInWindows(app, trx, leaving);
  for (const [index, stored] of drafts) {
    results[index] = { message: stored.presented, replayed: false, stored };
  }
  // The remaining requests repeat a key of this batch, or a key that a concurrent daemon accepted.
  const own = new Map(
    rows.map((row) => [idempotencyName(row.organization_id, row.claim_key), row]),
  );
  return requests.map(({ idempotency }, index) => {
    const repeated = idempotency && (lost.get(nameOf(idempotency)) ?? own.get(nameOf(idempotency)));
    return results[index] ?? (repeated ? answerAgain(idempotency, repeated) : unanswered());
  });
}

function unanswered(): AcceptResult {
  return { error: new InternalError('A send was left without an answer') };
}

/**
 * Drafts the rows of every request that passes the checks. Of several requests with the same key it
 * drafts the first that passes; the remaining requests wait for the result.
 */
async function draftAll(
  app: App,
  trx: Db,
  recent: RecentContents,
  allowances: Allowances,
  requests: readonly AcceptRequest[],
  results: (AcceptResult | undefined)[],
): Promise<Map<number, Draft>> {
  const sends = requests.map(toCheck);
  const refusalOf = await openAcceptChecks(app, trx, allowances, sends);
  const blocked = await findBlockedOf(trx, sends);
  await recent.keep(requests.map(({ content }) => content.digest));
  const drafts = new Map<number, Draft>();
  const drafted = new Set<string>();
  for (const [index, request] of requests.entries()) {
    const { idempotency, caller, delayMs } = request;
    if (results[index] || (idempotency && drafted.has(nameOf(idempotency)))) continue;
    const send = sends[index];
    const refused = request.refusal ? { error: request.refusal } : send && refusalOf(send);
    if (refused || !send?.sender) {
      results[index] = refused ?? unanswered();
      continue;
    }
    const blocks = blocked.get(sendKey(send.organizationId, send.unsubscribeGroupId)) ?? new Map();
    const named = { ...request, payload: send.payload };
    const draft = draftMessage(app, recent, named, send.sender, send.parent, blocks);
    const delayedTo = delayMs === undefined ? undefined : draft.message.created_at + delayMs;
    const scheduledFor = request.scheduledFor ?? delayedTo;
    drafts.set(
      index,
      scheduledFor === undefined
        ? draft
        : scheduledDraft(app, draft, scheduledFor, callerId(caller)),
    );
    if (idempotency) drafted.add(nameOf(idempotency));
  }
  return drafts;
}

/** Returns the facts about a send that the checks need. */
export function toCheck({
  caller,
  right = messagesRight,
  payload,
  content,
  scheduledFor,
  onBehalfOf,
}: Omit<AcceptRequest, 'idempotency'>): AcceptingSend {
  const { to, cc = [], bcc = [], from } = payload;
  return {
    organizationId: caller.organizationId,
    isTest: caller.isTest,
    caller,
    right: onBehalfOf === undefined ? right : null,
    from,
    addresses: [...to, ...cc, ...bcc].flatMap(({ email }) => email ?? []),
    unsubscribeGroupId: payload.email.unsubscribeGroupId ?? null,
    payload,
    origins: content.raw?.origins ?? [],
    tracking: content.tracking,
    scheduledFor,
    onBehalfOf: onBehalfOf ?? null,
    sender: null,
    parent: null,
  };
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
  const values = drafts.flatMap((draft) => draft.values ?? []);
  if (values.length > 0) await insertMessageValues(trx, values);
  await recordTimeline(app, trx, drafts.flatMap(firstEvents));
}

/**
 * Returns the update of the conversation that a message belongs to; empty without a conversation.
 */
function arrivalOf({ message, recipients }: Draft, caller: Caller | undefined): Arrival[] {
  if (message.conversation_id === null) return [];
  return arrivalsOf(message, {
    isHuman: caller?.owner === 'person',
    contactIds: recipients.flatMap(({ contact_id }) => contact_id ?? []),
    addresses: recipients.flatMap(({ contact_id, email }) => (contact_id === null ? email : [])),
  });
}

/** Returns the deliveries of the drafts, with turns for deliveries that may go at once. */
async function withTurns(app: App, trx: Db, drafts: readonly Draft[]): Promise<DeliveryRow[]> {
  const turns = turnsOf(app);
  const first = await firstTurn(trx);
  return drafts.flatMap(({ deliveries }) =>
    deliveries.map((row) =>
      row.status === 'pending' ? { ...row, turn: turns.next(row, first) } : row,
    ),
  );
}

/**
 * Returns the event of the accepted message, then the events of suppressed recipients, in order.
 */
function firstEvents({ message, deliveries, remarks }: Draft): MessageEvent[] {
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
    metadata: isLater ? { scheduledFor: isoTime(scheduled_for), ...remarks } : remarks,
  };
  const failed = deliveries.flatMap((delivery, index): MessageEvent[] => {
    if (delivery.status !== 'failed') return [];
    statuses[index] = 'failed';
    return [unsentEvent(delivery, delivery, overallStatus(statuses), message.created_at)];
  });
  return [accepted, ...failed];
}
