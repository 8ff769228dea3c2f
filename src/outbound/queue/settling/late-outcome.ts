// Late outcomes of a delivery: a bounce by mail, a success notification, a complaint. They have the
// effects of an attempt's outcome: status, timeline and blocks change in a single transaction.
// src/outbound/deliveries/status.ts has the state table.
import type { App } from '../../../core/app.ts';
import { type MessageEventType, recordTimeline } from '../../../history/events/record.ts';
import type { ErrorCode } from '../../../mail/smtp/outcome.ts';
import { blockAddresses, type NewBlock } from '../../../people/blocks/suppression.ts';
import type { Db } from '../../../platform/store/db.ts';
import { deliveryEvent } from '../../deliveries/delivery-event.ts';
import { errorDetailsOf } from '../../deliveries/error-details.ts';
import { type DeliveryRow, type LateChange, moveDelivery } from '../../deliveries/queries.ts';
import type { MessageStatus } from '../../deliveries/status.ts';
import { lockWithMessages, restateMessage } from '../../messages/restate.ts';
import { countCohorts } from '../../tracking/cohorts.ts';
import { countLate } from './outcome-counts.ts';

/** Result that a report gives for a delivery. */
export type LateOutcome =
  | { kind: 'delivered' }
  | { kind: 'complained'; feedbackType: string }
  | {
      kind: 'bounced';
      errorCode: ErrorCode;
      /** Whether the recipient does not exist, so that the address is blocked. */
      isHard: boolean;
      /** The refused address, if it is not the recipient. */
      refusedAddress?: string;
      code: number | null;
      enhancedCode: string | null;
      text: string;
      remoteMta: string | null;
    };

/** Statuses from which each outcome may follow: a message moves only forward. */
const follows: Record<LateOutcome['kind'], readonly MessageStatus[]> = {
  delivered: ['sent'],
  bounced: ['sent', 'delivered', 'read'],
  complained: ['sent', 'delivered', 'read'],
};

const eventTypes: Record<LateOutcome['kind'], MessageEventType> = {
  delivered: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
};

/** A delivery with a late outcome. */
export interface LateReport {
  delivery: DeliveryRow;
  outcome: LateOutcome;
}

/** Applies a late outcome inside the caller's transaction. Returns false if it changes nothing. */
export async function applyLateOutcome(
  app: App,
  trx: Db,
  delivery: DeliveryRow,
  outcome: LateOutcome,
): Promise<boolean> {
  return (await applyLateOutcomes(app, trx, [{ delivery, outcome }])) > 0;
}

/**
 * Applies several late outcomes, with the locks at the beginning and the counts at the end. Returns
 * how many took effect.
 */
export async function applyLateOutcomes(
  app: App,
  trx: Db,
  reports: readonly LateReport[],
): Promise<number> {
  await lockWithMessages(
    trx,
    reports.map(({ delivery }) => delivery),
  );
  const moved: { row: DeliveryRow; outcome: LateOutcome }[] = [];
  for (const { delivery, outcome } of reports) {
    const row = await move(app, trx, delivery, outcome);
    if (row) moved.push({ row, outcome });
  }
  await blockAddresses(app, trx, moved.flatMap(blockFor));
  await countLate(app, trx, moved);
  await countCohorts(
    app,
    trx,
    moved.map(({ row, outcome }) => ({ row, had: hadArrived(row, outcome) })),
  );
  return moved.length;
}

/** Changes status and timeline. Returns the row after the change, or undefined without a change. */
async function move(
  app: App,
  trx: Db,
  { id, message_id: messageId, sender_domain: senderDomain }: DeliveryRow,
  outcome: LateOutcome,
): Promise<DeliveryRow | undefined> {
  const now = app.clock.now();
  const change = changeOf(outcome, senderDomain, now);
  const moved = await moveDelivery(trx, id, follows[outcome.kind], change);
  if (!moved) return undefined;
  const status = await restateMessage(trx, messageId, now);
  const details = detailsOf(outcome);
  await recordTimeline(app, trx, [
    deliveryEvent(moved, eventTypes[outcome.kind], status, now, details),
  ]);
  return moved;
}

/** Tells whether the delivery counted as arrived before the report. */
function hadArrived(row: DeliveryRow, { kind }: LateOutcome): boolean {
  return kind !== 'delivered' && row.delivered_at !== null;
}

function blockFor({ row, outcome }: { row: DeliveryRow; outcome: LateOutcome }): NewBlock[] {
  const reason = blockReason(outcome);
  if (reason === null) return [];
  const { organization_id: organizationId, email: address, message_id: messageId } = row;
  return [{ organizationId, address, reason, messageId }];
}

function blockReason(outcome: LateOutcome): 'bounce' | 'complaint' | null {
  if (outcome.kind === 'complained') return 'complaint';
  return outcome.kind === 'bounced' && outcome.isHard ? 'bounce' : null;
}

function detailsOf(outcome: LateOutcome): Record<string, unknown> {
  const { kind, ...details } = outcome;
  return kind === 'delivered' ? { reported: true } : details;
}

function changeOf(outcome: LateOutcome, senderDomain: string, now: number): LateChange {
  const change = { status: outcome.kind, updated_at: now, terminal_at: now };
  if (outcome.kind === 'delivered') return { ...change, delivered_at: now };
  if (outcome.kind === 'complained') return change;
  const { errorCode, refusedAddress = null, code, enhancedCode, text, remoteMta } = outcome;
  const said = [code, enhancedCode, text].filter((part) => part !== null && part !== '').join(' ');
  return {
    ...change,
    failed_at: now,
    error_code: errorCode,
    error_message: `Bounced after it was taken: ${said}`,
    error_details: errorDetailsOf({
      errorCode,
      reply: { code, enhancedCode, text, verb: 'DSN' },
      mx: remoteMta,
      address: null,
      refusedAddress,
      senderDomain,
    }),
  };
}
