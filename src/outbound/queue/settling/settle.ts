// Settles attempts: writes the status, the next retry or the end, and the timeline. All attempts
// that ended together share a transaction. src/outbound/deliveries/status.ts has the state table.
import { hash } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import {
  type MessageEvent,
  type MessageEventType,
  recordTimeline,
} from '../../../history/events/record.ts';
import { refusedBehind } from '../../../mail/parse/bounce/named-address.ts';
import type { Handover, Outcome } from '../../../mail/smtp/outcome.ts';
import { classifyReply } from '../../../mail/smtp/reply-rules/classify-reply.ts';
import { furtherIdIn } from '../../../mail/smtp/reply-rules/further-ids.ts';
import {
  type MemberRefusal,
  recordMemberRefusals,
} from '../../../people/blocks/member-refusals.ts';
import { blockAddresses, type NewBlock } from '../../../people/blocks/suppression.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import { deliveryEvent } from '../../deliveries/delivery-event.ts';
import { errorDetailsOf } from '../../deliveries/error-details.ts';
import {
  type DeliveryChange,
  type DeliveryRow,
  findDeliveryStatuses,
  settleDelivery,
} from '../../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../../deliveries/status.ts';
import { type FurtherIdRow, insertFurtherIds } from '../../messages/further-id-queries.ts';
import { lockWithMessages, moveMessages } from '../../messages/restate.ts';
import type { Attempt } from '../../messages/schema.ts';
import { countCohorts, type Moved } from '../../tracking/cohorts.ts';
import { engageSimulated } from '../../tracking/engage.ts';
import { withoutToken } from '../attempting/return-path.ts';
import { waitAfter } from './absence.ts';
import { countEnded, type EndedDelivery } from './outcome-counts.ts';
import { planNext, retryDelayMs, scheduleOfRow } from './retry.ts';
import { recordRunAttempt } from './run-attempts.ts';

const attemptsKept = 20;

/** A claimed delivery with the outcome of the attempt. */
export interface Settlement {
  delivery: DeliveryRow;
  /** From address of the message. */
  fromEmail: string;
  outcome: Outcome;
  /** Kind of the route, for the metrics. */
  routeKind: string;
  /**
   * Whether the 250 is also the delivery (direct, local, capture). In relay mode it only means
   * `sent`.
   */
  sentIsDelivered: boolean;
  /** Reaction of a simulated recipient after the delivery. */
  aftermath: 'opened' | 'complained' | null;
  /** Facts from which the bytes of the attempt can be composed again. */
  composed?: Pick<Attempt, 'signedWith' | 'linkBase'> | null;
  /** Name of the SMTP transaction of the attempt; if absent, the id of the delivery. */
  transaction?: string;
  /** Position within the jitter, from 0 to 1. Recipients of a transaction share this position. */
  spread?: number;
  /** Tells whether the message tracks opens or clicks. */
  isTracked?: boolean;
  /**
   * Tells whether the message has only this delivery. The message then has the status of the
   * delivery.
   */
  isSole: boolean;
}

/** A settlement with the record of the attempt as JSON. */
interface Judged {
  settlement: Settlement;
  attempt: string;
  /** The refused address, if it is not the recipient. */
  refusedAddress: string | null;
}

/** A step of the timeline, with the delivery's status after it. */
interface Step {
  eventType: MessageEventType;
  status: MessageStatus;
  /** Whether the step is the outcome of the attempt itself, and not a consequence of it. */
  isOutcome: boolean;
}

/** Writes the ends of a batch of attempts inside the caller's transaction. */
export async function settleAll(
  app: App,
  trx: Db,
  worker: string,
  settlements: readonly Settlement[],
): Promise<void> {
  const now = app.clock.now();
  const events: MessageEvent[] = [];
  const dead: NewBlock[] = [];
  const refused: MemberRefusal[] = [];
  await lockWithMessages(
    trx,
    settlements.map(({ delivery }) => delivery),
  );
  const sharing = settlements.filter(({ isSole }) => !isSole).map((one) => one.delivery.message_id);
  const siblings = await statusesOf(trx, sharing);
  const moved = new Map<string, MessageStatus>();
  const ended: EndedDelivery[] = [];
  const tracked: Moved[] = [];
  const further: FurtherIdRow[] = [];
  for (const settlement of settlements) {
    const { delivery } = settlement;
    const refusedAddress = refusedAddressOf(settlement);
    const attempt = JSON.stringify(attemptOf(settlement));
    const judged: Judged = { settlement, attempt, refusedAddress };
    const plan = planOf(app, judged, now);
    if (!(await settleDelivery(trx, delivery.id, worker, plan.change))) continue;
    const isHardBounce = refusedAddress === null && isDead(settlement.outcome);
    if (isHardBounce) dead.push(...deadAddress(settlement));
    if (refusedAddress !== null) refused.push(memberRefusalOf(delivery));
    further.push(...furtherIdOf(settlement));
    ended.push(...endOf(settlement, plan.change, isHardBounce));
    recordRunAttempt(trx, delivery, settlement.outcome, now);
    if (settlement.isTracked) {
      tracked.push({ row: delivery, had: false });
      if (plan.change.read_at !== null) await engageSimulated(trx, delivery, now);
    }
    const statuses = siblings.get(delivery.message_id) ?? new Map<string, MessageStatus>();
    for (const step of plan.steps) {
      statuses.set(delivery.id, step.status);
      const status = overallStatus([...statuses.values()]);
      moved.set(delivery.message_id, status);
      events.push(eventOf(judged, step, status, now));
    }
  }
  await moveMessages(trx, moved, now);
  await insertFurtherIds(trx, further);
  await blockAddresses(app, trx, dead);
  await recordMemberRefusals(app, trx, refused);
  if (events.length > 0) await recordTimeline(app, trx, events);
  // Counts at the end, because the counters block concurrent transactions.
  await countEnded(app, trx, ended);
  await countCohorts(app, trx, tracked);
}

/** Returns the address of a permanent refusal if it differs from the recipient; else null. */
function refusedAddressOf({ delivery, outcome, fromEmail }: Settlement): string | null {
  if (outcome.kind !== 'bounced' || outcome.reply.code === null) return null;
  return refusedBehind({ email: null, text: outcome.reply.text }, delivery.email, [fromEmail]);
}

function memberRefusalOf({ organization_id, email, id }: DeliveryRow): MemberRefusal {
  return { organizationId: organization_id, email, deliveryId: id };
}

/** Returns the block of an address that is proven dead; empty for simulated addresses. */
function deadAddress({ delivery, routeKind }: Settlement): NewBlock[] {
  if (routeKind === 'simulator') return [];
  const { organization_id: organizationId, email: address, message_id: messageId } = delivery;
  return [{ organizationId, address, reason: 'bounce', messageId }];
}

/** Returns the Message-ID that a relay put in the place of ours; empty without a replacement. */
function furtherIdOf({ delivery, outcome, routeKind }: Settlement): FurtherIdRow[] {
  if (routeKind !== 'relay' || outcome.kind !== 'sent') return [];
  const half = furtherIdIn(outcome.reply.text);
  return half === null || half === delivery.message_id
    ? []
    : [{ left_half: half, message_id: delivery.message_id }];
}

/** Tells whether a refusal about the recipient proves that the address does not exist. */
function isDead(outcome: Outcome): boolean {
  if (outcome.kind !== 'bounced') return false;
  return classifyReply(outcome.reply).isHard || isDeadDomain(outcome);
}

/**
 * Returns the facts that counters need if the delivery has ended; an empty list if it gets a
 * further attempt.
 */
function endOf(
  { delivery, fromEmail, outcome, aftermath }: Settlement,
  change: DeliveryChange,
  isHardBounce: boolean,
): EndedDelivery[] {
  if (change.due_at !== null) return [];
  const end = outcome.kind === 'deferred' ? 'failed' : outcome.kind;
  return [
    {
      delivery,
      fromEmail,
      end,
      isDelivered: change.delivered_at !== null,
      isComplaint: aftermath === 'complained' && end === 'sent',
      isHardBounce,
      isOwnFault: outcome.kind === 'failed',
    },
  ];
}

/**
 * Tells whether we found ourselves that the domain does not exist (5.1.2), or accepts no mail (RFC
 * 7505: 5.1.10).
 */
function isDeadDomain({ reply }: Outcome): boolean {
  return reply.verb === 'dns' && ['5.1.2', '5.1.10'].includes(reply.enhancedCode ?? '');
}

/** Reads the present statuses of all deliveries of these messages, by message and delivery. */
async function statusesOf(
  trx: Db,
  messageIds: readonly string[],
): Promise<Map<string, Map<string, MessageStatus>>> {
  const byMessage = new Map<string, Map<string, MessageStatus>>();
  if (messageIds.length === 0) return byMessage;
  for (const row of await findDeliveryStatuses(trx, [...new Set(messageIds)])) {
    const statuses = byMessage.get(row.message_id) ?? new Map<string, MessageStatus>();
    statuses.set(row.id, row.status);
    byMessage.set(row.message_id, statuses);
  }
  return byMessage;
}

function eventOf(
  { settlement: { delivery, outcome }, attempt }: Judged,
  { eventType, isOutcome }: Step,
  status: MessageStatus,
  now: number,
): MessageEvent {
  const { reply, trace } = outcome;
  return deliveryEvent(delivery, eventType, status, now, {
    attempt: delivery.attempt_count,
    ...(outcome.kind !== 'sent' && { errorCode: outcome.errorCode }),
    ...(outcome.kind === 'sent' && outcome.capturedBy && { captured: { by: outcome.capturedBy } }),
    ...(reply.code !== null && { code: reply.code }),
    ...(reply.enhancedCode !== null && { enhancedCode: reply.enhancedCode }),
    ...(reply.text !== '' && { reply: reply.text }),
    ...(trace.host !== null && { host: trace.host }),
    ...(isOutcome && { evidence: hash('sha256', attempt, 'base64url') }),
  });
}

/** Plans the change of the row and the timeline steps. Pure except for the jitter of the retry. */
function planOf(app: App, judged: Judged, now: number): { change: DeliveryChange; steps: Step[] } {
  const { outcome } = judged.settlement;
  if (outcome.kind === 'sent') return planSent(judged, now);
  if (outcome.kind === 'deferred') return planDeferred(app, judged, outcome, now);
  const change = { ...ended(judged, outcome.kind, now), ...errorOf(judged, outcome) };
  return { change, steps: [{ eventType: outcome.kind, status: outcome.kind, isOutcome: true }] };
}

function following(eventType: MessageEventType, status: MessageStatus): Step {
  return { eventType, status, isOutcome: false };
}

function planSent(judged: Judged, now: number) {
  const { delivery, sentIsDelivered, aftermath } = judged.settlement;
  const steps: Step[] = [{ eventType: 'sent', status: 'sent', isOutcome: true }];
  if (sentIsDelivered) steps.push(following('delivered', 'delivered'));
  if (aftermath === 'opened') steps.push(following('opened', 'read'));
  if (aftermath === 'complained') steps.push(following('complained', 'complained'));
  const change: DeliveryChange = {
    ...ended(judged, steps.at(-1)?.status ?? 'sent', now),
    sent_at: now,
    delivered_at: sentIsDelivered ? now : null,
    read_at: aftermath === 'opened' ? now : null,
    failed_at: delivery.failed_at,
    terminal_at: sentIsDelivered ? now : null,
    error_code: null,
    error_message: null,
    error_details: null,
  };
  return { change, steps };
}

function planDeferred(
  app: App,
  judged: Judged,
  outcome: Extract<Outcome, { kind: 'deferred' }>,
  now: number,
): { change: DeliveryChange; steps: Step[] } {
  const { delivery, spread = app.random.float() } = judged.settlement;
  const schedule = scheduleOfRow(app, delivery);
  if (now >= delivery.expires_at) {
    const error = errorOf(judged, outcome);
    const attempts = `${delivery.attempt_count} ${delivery.attempt_count === 1 ? 'attempt' : 'attempts'}`;
    const change = {
      ...ended(judged, 'failed', now),
      ...error,
      error_message: `Given up after ${attempts} in ${schedule.maxAgeHours} h: ${error.error_message}`,
    };
    return { change, steps: [{ eventType: 'failed', status: 'failed', isOutcome: true }] };
  }
  const next = planNext(delivery, now, (planned) => {
    const delayMs = retryDelayMs(schedule, planned, spread);
    return waitAfter(outcome.reply, delivery, delayMs, now);
  });
  const change: DeliveryChange = {
    ...ended(judged, 'processing', now),
    ...errorOf(judged, outcome),
    ...next,
    // The last attempt comes exactly at the age limit.
    due_at: Math.min(next.due_at, delivery.expires_at),
    wait_reason: 'retry',
    failed_at: delivery.failed_at,
    terminal_at: null,
  };
  return { change, steps: [{ eventType: 'deferred', status: 'processing', isOutcome: true }] };
}

/** Returns the columns of a delivery that ends with this status. Callers replace some of them. */
function ended(judged: Judged, status: MessageStatus, now: number): DeliveryChange {
  const { delivery, transaction } = judged.settlement;
  return {
    status,
    due_at: null,
    wait_reason: null,
    sent_at: delivery.sent_at,
    delivered_at: delivery.delivered_at,
    read_at: delivery.read_at,
    failed_at: now,
    terminal_at: now,
    error_code: delivery.error_code,
    error_message: delivery.error_message,
    error_details: delivery.error_details,
    attempts: historyWith(judged),
    planned_at: null,
    early_attempts: delivery.early_attempts,
    transaction_id: transaction === delivery.id ? null : (transaction ?? null),
    updated_at: now,
  };
}

function errorOf(
  { refusedAddress, settlement }: Judged,
  outcome: Exclude<Outcome, { kind: 'sent' }>,
) {
  const { reply, trace, errorCode } = outcome;
  const code = [reply.code, reply.enhancedCode].filter((part) => part !== null).join(' ');
  const said = [code, reply.text].filter((part) => part !== '').join(' ');
  return {
    error_code: errorCode,
    error_message: `${reply.verb}: ${said}`,
    error_details: errorDetailsOf({
      errorCode,
      reply,
      mx: trace.host,
      address: trace.address,
      refusedAddress,
      senderDomain: settlement.delivery.sender_domain,
    }),
  };
}

/** Returns the record of an attempt for the attempt history. */
function attemptOf({ delivery, outcome, composed }: Settlement): Attempt {
  const { reply, trace, kind } = outcome;
  return {
    number: delivery.attempt_count,
    at: isoTime(trace.startedAt),
    durationMs: trace.durationMs,
    host: trace.host,
    address: trace.address,
    tls: trace.tls,
    outcome: kind,
    code: reply.code,
    enhancedCode: reply.enhancedCode,
    reply: reply.text,
    verb: reply.verb,
    transcript: kind === 'sent' && trace.transcript === '' ? null : trace.transcript,
    ...(kind === 'sent' && outcome.capturedBy && { capturedBy: outcome.capturedBy }),
    ...composed,
    ...(trace.handover && acceptedOf(trace.handover)),
  };
}

/** Returns the facts about an accepted message, without empty facts. */
function acceptedOf(handover: Handover): Partial<Attempt> {
  const { digest, isSevenBit, returnPath, certificates, policy } = handover;
  return {
    digest,
    ...(isSevenBit && { sevenBit: true }),
    returnPath: withoutToken(returnPath),
    ...(certificates.length > 0 && { certificates }),
    ...(policy !== null && { policy }),
  };
}

/** Returns the latest 20 attempts as JSON; the last is this attempt. */
function historyWith({ settlement, attempt }: Judged): string {
  const earlier = fromJson<Attempt[]>(settlement.delivery.attempts);
  if (!earlier) return `[${attempt}]`;
  const kept = earlier.slice(1 - attemptsKept).map((one) => JSON.stringify(one));
  return `[${[...kept, attempt].join()}]`;
}
