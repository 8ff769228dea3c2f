// What is learnt of a delivery after its attempt: a bounce that came by mail, a success notification,
// a complaint. It goes the same way as an attempt's outcome: status, timeline, blocks, in one
// transaction. The state table is in src/messages/status.ts.
import type { App } from '../app.ts';
import { blockAddress } from '../blocks/suppression.ts';
import { type MessageEventType, recordEvents } from '../events/events.ts';
import { type DeliveryRow, type LateChange, moveDelivery } from '../messages/delivery-queries.ts';
import { lockMessages } from '../messages/queries.ts';
import { restateMessage } from '../messages/restate.ts';
import type { MessageStatus } from '../messages/status.ts';
import type { Db } from '../store/db.ts';
import { deliveryEvent } from './delivery-event.ts';
import type { ErrorCode } from './outcome.ts';
import { countLate } from './outcome-counts.ts';

/** What a report says of one delivery. */
export type LateOutcome =
  | { kind: 'delivered' }
  | { kind: 'complained'; feedbackType: string }
  | {
      kind: 'bounced';
      errorCode: ErrorCode;
      /** The address is dead: it is blocked. */
      isHard: boolean;
      code: number | null;
      enhancedCode: string | null;
      text: string;
      remoteMta: string | null;
    };

/** From which statuses each may follow: a message moves only forward. */
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

/** Applies it inside the caller's transaction; false where it changes nothing any more. */
export async function applyLateOutcome(
  app: App,
  trx: Db,
  delivery: DeliveryRow,
  outcome: LateOutcome,
): Promise<boolean> {
  const now = app.clock.now();
  const messageId = delivery.message_id;
  await lockMessages(trx, [messageId]);
  const change = changeOf(outcome, now);
  const moved = await moveDelivery(trx, delivery.id, follows[outcome.kind], change);
  if (!moved) return false;
  const status = await restateMessage(trx, messageId, now);
  const details = detailsOf(outcome);
  await recordEvents(app, trx, [
    deliveryEvent(delivery, eventTypes[outcome.kind], status, now, details),
  ]);
  const reason = blockReason(outcome);
  if (reason !== null) {
    const { organization_id: organizationId, email: address } = delivery;
    await blockAddress(app, trx, { organizationId, address, reason, messageId });
  }
  await countLate(app, trx, moved, outcome);
  return true;
}

function blockReason(outcome: LateOutcome): 'bounce' | 'complaint' | null {
  if (outcome.kind === 'complained') return 'complaint';
  return outcome.kind === 'bounced' && outcome.isHard ? 'bounce' : null;
}

function detailsOf(outcome: LateOutcome): Record<string, unknown> {
  const { kind, ...details } = outcome;
  return kind === 'delivered' ? { reported: true } : details;
}

function changeOf(outcome: LateOutcome, now: number): LateChange {
  const change = { status: outcome.kind, updated_at: now, terminal_at: now };
  if (outcome.kind === 'delivered') return { ...change, delivered_at: now };
  if (outcome.kind === 'complained') return change;
  const { errorCode, code, enhancedCode, text, remoteMta } = outcome;
  const said = [code, enhancedCode, text].filter((part) => part !== null && part !== '').join(' ');
  return {
    ...change,
    failed_at: now,
    error_code: errorCode,
    error_message: `Bounced after it was taken: ${said}`,
    error_details: JSON.stringify({
      code,
      enhancedCode,
      reply: text,
      verb: 'DSN',
      mx: remoteMta,
      address: null,
    }),
  };
}
