// The end of an attempt: outcome → status, next retry or end, timeline, message status. One transaction
// serves all attempts that ended together. The state table is in src/outbound/deliveries/status.ts.
import type { App } from '../../core/app.ts';
import {
  type MessageEvent,
  type MessageEventType,
  recordTimeline,
} from '../../history/events/record.ts';
import type { Outcome } from '../../mail/smtp/outcome.ts';
import { classifyReply } from '../../mail/smtp/replies/classify-reply.ts';
import { blockAddresses, type NewBlock } from '../../people/blocks/suppression.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { deliveryEvent } from '../deliveries/delivery-event.ts';
import {
  type DeliveryChange,
  type DeliveryRow,
  findDeliveryStatuses,
  settleDelivery,
} from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import { lockWithMessages, moveMessages } from '../messages/restate.ts';
import type { Attempt } from '../messages/schema.ts';
import { countCohorts, type Moved } from '../tracking/cohorts.ts';
import { engageSimulated } from '../tracking/engage.ts';
import { countEnded, type EndedDelivery } from './outcome-counts.ts';
import { retryDelayMs } from './retry.ts';
import { noteRunAttempt } from './run-attempts.ts';

const attemptsKept = 20;

/** Result of one claimed delivery. */
export interface Settlement {
  delivery: DeliveryRow;
  /** From address of the message. */
  fromEmail: string;
  outcome: Outcome;
  /** Kind of route it took, for the metrics. */
  routeKind: string;
  /**
   * Whether the 250 is also the delivery (direct, local, capture). In relay mode it only means
   * `sent`.
   */
  sentIsDelivered: boolean;
  /** Reaction of a simulated recipient after the delivery. */
  aftermath: 'opened' | 'complained' | null;
  /** Facts to compose the bytes of the attempt again. */
  composed?: Pick<Attempt, 'signedWith' | 'linkBase'> | null;
  /** SMTP transaction of the attempt, if another delivery began it. */
  transaction?: string | null;
  /** Tells whether the message tracks opens or clicks. */
  isTracked?: boolean;
  /** Tells whether the message has only this delivery. Its status is then that of the message. */
  isSole: boolean;
}

/** One step of the timeline, with the delivery's status after it. */
interface Step {
  eventType: MessageEventType;
  status: MessageStatus;
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
  await lockWithMessages(
    trx,
    settlements.map(({ delivery }) => delivery),
  );
  const sharing = settlements.filter(({ isSole }) => !isSole).map((one) => one.delivery.message_id);
  const siblings = await statusesOf(trx, sharing);
  const moved = new Map<string, MessageStatus>();
  const ended: EndedDelivery[] = [];
  const tracked: Moved[] = [];
  for (const settlement of settlements) {
    const { delivery } = settlement;
    const plan = planOf(app, settlement, now);
    if (!(await settleDelivery(trx, delivery.id, worker, plan.change))) continue;
    dead.push(...deadAddress(settlement));
    ended.push(...endOf(settlement, plan.change));
    noteRunAttempt(trx, delivery, settlement.outcome, now);
    if (settlement.isTracked) {
      tracked.push({ row: delivery, had: false });
      if (plan.change.read_at !== null) await engageSimulated(trx, delivery, now);
    }
    const statuses = siblings.get(delivery.message_id) ?? new Map<string, MessageStatus>();
    for (const step of plan.steps) {
      statuses.set(delivery.id, step.status);
      const status = overallStatus([...statuses.values()]);
      moved.set(delivery.message_id, status);
      events.push(eventOf(settlement, step, status, now));
    }
  }
  await moveMessages(trx, moved, now);
  await blockAddresses(app, trx, dead);
  if (events.length > 0) await recordTimeline(app, trx, events);
  // Counts last: other transactions wait for the counters.
  await countEnded(app, trx, ended);
  await countCohorts(app, trx, tracked);
}

/** Returns the block of an address that is proven dead. Simulated addresses are never blocked. */
function deadAddress({ delivery, outcome, routeKind }: Settlement): NewBlock[] {
  if (routeKind === 'simulator' || !isHardBounce(outcome)) return [];
  const { organization_id: organizationId, email: address, message_id: messageId } = delivery;
  return [{ organizationId, address, reason: 'bounce', messageId }];
}

function isHardBounce(outcome: Outcome): boolean {
  if (outcome.kind !== 'bounced') return false;
  return classifyReply(outcome.reply).isHard || isDeadDomain(outcome);
}

/** Returns the facts that counters need if the delivery has ended; an empty list if it gets another attempt. */
function endOf(
  { delivery, fromEmail, outcome, aftermath }: Settlement,
  change: DeliveryChange,
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
      isHardBounce: isHardBounce(outcome),
      isOwnFault: outcome.kind === 'failed',
    },
  ];
}

/**
 * Tells whether the outcome is our own finding that the domain does not exist (5.1.2), or accepts
 * no mail at all (RFC 7505: 5.1.10).
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
  { delivery, outcome }: Settlement,
  { eventType }: Step,
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
  });
}

/** Plans the change of the row and the timeline steps. Pure except for the jitter of the retry. */
function planOf(
  app: App,
  settlement: Settlement,
  now: number,
): { change: DeliveryChange; steps: Step[] } {
  const { outcome } = settlement;
  if (outcome.kind === 'sent') return planSent(settlement, now);
  if (outcome.kind === 'deferred') return planDeferred(app, settlement, outcome, now);
  const change = { ...ended(settlement, outcome.kind, now), ...errorOf(outcome) };
  return { change, steps: [{ eventType: outcome.kind, status: outcome.kind }] };
}

function planSent(settlement: Settlement, now: number) {
  const { delivery, sentIsDelivered, aftermath } = settlement;
  const steps: Step[] = [{ eventType: 'sent', status: 'sent' }];
  if (sentIsDelivered) steps.push({ eventType: 'delivered', status: 'delivered' });
  if (aftermath === 'opened') steps.push({ eventType: 'opened', status: 'read' });
  if (aftermath === 'complained') steps.push({ eventType: 'complained', status: 'complained' });
  const change: DeliveryChange = {
    ...ended(settlement, steps.at(-1)?.status ?? 'sent', now),
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
  settlement: Settlement,
  outcome: Extract<Outcome, { kind: 'deferred' }>,
  now: number,
): { change: DeliveryChange; steps: Step[] } {
  const { delivery } = settlement;
  const delayMs = retryDelayMs(app.config.delivery.retry, delivery.attempt_count, app.random);
  if (now >= delivery.expires_at) {
    const error = errorOf(outcome);
    const hours = app.config.delivery.retry.maxAgeHours;
    const attempts = `${delivery.attempt_count} ${delivery.attempt_count === 1 ? 'attempt' : 'attempts'}`;
    const change = {
      ...ended(settlement, 'failed', now),
      ...error,
      error_message: `Given up after ${attempts} in ${hours} h: ${error.error_message}`,
    };
    return { change, steps: [{ eventType: 'failed', status: 'failed' }] };
  }
  const change: DeliveryChange = {
    ...ended(settlement, 'processing', now),
    ...errorOf(outcome),
    // The last attempt is made when the age limit is reached, not before.
    due_at: Math.min(now + delayMs, delivery.expires_at),
    wait_reason: 'retry',
    failed_at: delivery.failed_at,
    terminal_at: null,
  };
  return { change, steps: [{ eventType: 'deferred', status: 'processing' }] };
}

/**
 * Returns the row of a delivery that ends with this status. Callers overwrite the columns that
 * differ.
 */
function ended(settlement: Settlement, status: MessageStatus, now: number): DeliveryChange {
  const { delivery } = settlement;
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
    attempts: historyWith(settlement),
    transaction_id: settlement.transaction ?? null,
    updated_at: now,
  };
}

function errorOf(outcome: Exclude<Outcome, { kind: 'sent' }>) {
  const { reply, trace, errorCode } = outcome;
  const code = [reply.code, reply.enhancedCode].filter((part) => part !== null).join(' ');
  const said = [code, reply.text].filter((part) => part !== '').join(' ');
  return {
    error_code: errorCode,
    error_message: `${reply.verb}: ${said}`,
    error_details: JSON.stringify({
      code: reply.code,
      enhancedCode: reply.enhancedCode,
      reply: reply.text,
      verb: reply.verb,
      mx: trace.host,
      address: trace.address,
    }),
  };
}

/** Returns the latest attempts. Only unsuccessful ones keep their dialogue. */
function historyWith({ delivery, outcome, composed }: Settlement): string {
  const { reply, trace, kind } = outcome;
  const attempt: Attempt = {
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
    transcript: kind === 'sent' ? null : trace.transcript,
    ...(kind === 'sent' && outcome.capturedBy && { capturedBy: outcome.capturedBy }),
    ...composed,
  };
  const earlier = fromJson<Attempt[]>(delivery.attempts) ?? [];
  return JSON.stringify([...earlier, attempt].slice(-attemptsKept));
}
