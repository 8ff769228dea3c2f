// Shared by the webhook tests: endpoints, events, and their rows in the store.
import { sql } from 'kysely';
import type { App } from '../../src/core/app.ts';
import { recordTimeline } from '../../src/history/events/record.ts';
import { createWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import type { DeliveryRow } from '../../src/webhooks/rows.ts';
import type { CreateWebhook, Webhook } from '../../src/webhooks/schema.ts';
import type { TestApp } from '../support/test-app.ts';

export const hookUrl = 'https://hooks.example/svc';

export function endpoint(
  test: Pick<TestApp, 'app' | 'operator'>,
  input: Partial<CreateWebhook> = {},
): Promise<Webhook> {
  return createWebhook(test.app, test.operator, { url: hookUrl, events: ['*'], ...input });
}

/** The rows of all deliveries, in the order in which they were made. */
export async function deliveryRows({ store }: App): Promise<DeliveryRow[]> {
  return (await sql<DeliveryRow>`select * from webhook_deliveries order by id`.execute(store.db))
    .rows;
}

/** Returns all counters, by endpoint. */
export async function counterSums({ store }: App): Promise<Record<string, number[]>> {
  const { rows } = await sql<{ id: string; n: number[] } & Record<string, number>>`
    select endpoint_id as id, cast(sum(pending) as bigint) as pending,
      cast(sum(delivered) as bigint) as delivered, cast(sum(exhausted) as bigint) as exhausted,
      cast(sum(cancelled) as bigint) as cancelled
    from webhook_counters group by endpoint_id`.execute(store.db);
  return Object.fromEntries(
    rows.map((row) => [row.id, [row.pending, row.delivered, row.exhausted, row.cancelled]]),
  ) as Record<string, number[]>;
}

let serial = 0;

/** Publishes an event about a message that does not exist. */
export async function publishEvent(
  { app, operator }: Pick<TestApp, 'app' | 'operator'>,
  eventType: 'sent' | 'delivered' | 'queued' = 'sent',
): Promise<void> {
  serial++;
  await app.store.write((trx) =>
    recordTimeline(app, trx, [
      {
        organizationId: operator.organizationId,
        messageId: `msg_${String(serial).padStart(24, '0')}`,
        recipientId: null,
        eventType,
        status: 'sent',
        timestamp: app.clock.now(),
        metadata: null,
      },
    ]),
  );
}
