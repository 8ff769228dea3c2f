// Ends the wait of scheduled messages: queues them, or cancels them with the reason if a check
// refuses them when they are due.
import type { App } from '../../../core/app.ts';
import { type MessageEvent, recordTimeline } from '../../../history/events/record.ts';
import { type ActiveBlocks, suppressedBy } from '../../../people/blocks/suppression.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import type { Db } from '../../../platform/store/db.ts';
import { deliveryEvent, unsentEvent } from '../../deliveries/delivery-event.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import { cancelDelivery, endUnclaimed, type UnclaimedEnd } from '../../deliveries/queue-queries.ts';
import { enqueueScheduled } from '../../deliveries/scheduled-queries.ts';
import type { MessageStatus } from '../../deliveries/status.ts';
import type { MessageRow } from '../../messages/queries.ts';
import { restateMessage } from '../../messages/restate.ts';
import { turnsOf } from '../claiming/delivery-turns.ts';
import { expiryOf } from '../settling/retry.ts';
import type { Refusal } from './send-checks.ts';

/** Queues or cancels a batch of scheduled messages, in the transaction that locked them. */
export class Departures {
  readonly #app: App;
  readonly #trx: Db;
  readonly #now: number;
  readonly #firstTurn: number | null;
  readonly #events: MessageEvent[] = [];
  /** Deliveries that failed without an attempt. */
  readonly ended: DeliveryRow[] = [];

  constructor(app: App, trx: Db, now: number, first: number | null) {
    this.#app = app;
    this.#trx = trx;
    this.#now = now;
    this.#firstTurn = first;
  }

  /** Queues the message. Recipients blocked since acceptance end as suppressed. */
  async send(
    message: MessageRow,
    rows: readonly DeliveryRow[],
    blocks: ActiveBlocks,
  ): Promise<void> {
    const expiresAt = expiryOf(this.#app.config.delivery.retry, this.#now);
    const ends = new Map<DeliveryRow, UnclaimedEnd>();
    for (const row of rows) {
      const block = blocks.get(foldAddress(row.email));
      if (block) {
        const end = { ...suppressedBy(block, row.email, this.#now), updated_at: this.#now };
        await endUnclaimed(this.#trx, row.id, end);
        ends.set(row, end);
        continue;
      }
      const turn = turnsOf(this.#app).next(row, this.#firstTurn);
      await enqueueScheduled(this.#trx, { id: row.id, turn, now: this.#now, expiresAt });
    }
    const status = await this.#restate(message, [...ends.keys()]);
    if (ends.size < rows.length) this.#events.push(this.#queued(message, status));
    for (const [row, end] of ends) this.#events.push(unsentEvent(row, end, status, this.#now));
  }

  /** Cancels the message because a check refuses it. The deliveries end as in cancel.ts. */
  async cancel(
    message: MessageRow,
    rows: readonly DeliveryRow[],
    { check, error }: Refusal,
  ): Promise<void> {
    const reason = error.message;
    for (const { id } of rows) await cancelDelivery(this.#trx, id, reason, this.#now);
    const status = await this.#restate(message, rows);
    const details = { by: 'service', check, reason };
    for (const row of rows) {
      this.#events.push(deliveryEvent(row, 'cancelled', status, this.#now, details));
    }
  }

  #restate({ id }: MessageRow, ended: readonly DeliveryRow[]): Promise<MessageStatus> {
    this.ended.push(...ended);
    return restateMessage(this.#trx, id, this.#now);
  }

  #queued({ id, organization_id }: MessageRow, status: MessageStatus): MessageEvent {
    return {
      organizationId: organization_id,
      messageId: id,
      recipientId: null,
      eventType: 'queued',
      status,
      timestamp: this.#now,
      metadata: null,
    };
  }

  async record(): Promise<void> {
    if (this.#events.length > 0) await recordTimeline(this.#app, this.#trx, this.#events);
  }
}
