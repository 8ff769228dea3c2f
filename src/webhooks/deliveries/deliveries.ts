// Operations on the deliveries of an endpoint (specification 4.9): lists, single deliveries and
// tests. The loop in ../posting posts deliveries.
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { ConflictError, InternalError, ResourceNotFoundError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { endpoints, holdActive } from '../endpoints/queries.ts';
import { webhookTest } from '../events.ts';
import { cutBody, shownBody } from '../posting/body.ts';
import { textFor } from '../posting/post-attempt.ts';
import { toAttempt, toDelivery } from '../present.ts';
import type { DeliveryRow, EndpointRow } from '../rows.ts';
import type {
  ListDeliveries,
  TestWebhook,
  WebhookDelivery,
  WebhookDeliveryWithAttempts,
  WebhookTest,
} from '../schema.ts';
import { sumCounters } from './counter-queries.ts';
import { enqueueAll } from './enqueue.ts';
import {
  countDeliveries,
  type DeliveryFilter,
  findDelivery,
  pageDeliveries,
  selectAttempts,
  selectLatestAttempts,
} from './list-queries.ts';

/**
 * Most attempts shown of a delivery. The schedule has fewer, but each redelivery adds an attempt.
 */
const mostAttempts = 200;

/** Returns a page of the deliveries to an endpoint, newest first. @throws ResourceNotFoundError. */
export async function listDeliveries(
  app: App,
  { organizationId }: Caller,
  endpointId: string,
  query: ListDeliveries,
): Promise<Page<WebhookDelivery>> {
  const { db } = app.store;
  await endpoints.get(db, organizationId, endpointId);
  const { status, eventType } = query;
  const filter = { status, eventTypes: eventType, ...boundsOf(query) };
  const [rows, total] = await Promise.all([
    pageDeliveries(db, endpointId, filter, query),
    totalOf(db, endpointId, filter),
  ]);
  const attempts = await selectLatestAttempts(
    db,
    rows.map(({ id }) => id),
  );
  const latest = new Map(attempts.map((attempt) => [attempt.delivery_id, attempt]));
  return toPage(
    rows.map((row) => toDelivery(row, latest.get(row.id))),
    total,
    query,
  );
}

/**
 * Returns the number of deliveries in a list. Without a filter, or with a status alone, sums the
 * counters (counters.ts).
 */
async function totalOf(db: Db, endpointId: string, filter: DeliveryFilter): Promise<number> {
  const { status, eventTypes, from, to } = filter;
  if (eventTypes !== undefined || from !== undefined || to !== undefined) {
    return countDeliveries(db, endpointId, filter);
  }
  const sums = await sumCounters(db, endpointId);
  if (status !== undefined) return sums[status];
  return sums.pending + sums.delivered + sums.exhausted + sums.cancelled;
}

/** Returns the posted JSON with only the data that the caller may read. */
async function payloadOf(
  app: App,
  { permissions }: Caller,
  endpoint: EndpointRow,
  delivery: DeliveryRow,
): Promise<string> {
  const { event_type: type } = delivery;
  const posted = await textFor(app, endpoint, type, await shownBody(app, delivery));
  return cutBody(posted, type, permissions);
}

/**
 * Returns a delivery with attempts and payload.
 * @throws ResourceNotFoundError, also for a delivery to a different endpoint.
 */
export async function getDelivery(
  app: App,
  caller: Caller,
  endpointId: string,
  id: string,
): Promise<WebhookDeliveryWithAttempts> {
  const { db } = app.store;
  const { organizationId } = caller;
  const endpoint = await endpoints.get(db, organizationId, endpointId);
  // Reads again if an attempt ended between the two reads, so that both show the same state.
  for (let before: number | undefined; ; ) {
    const attempts = await selectAttempts(db, id, mostAttempts);
    const row = await findDelivery(db, organizationId, endpointId, id);
    if (!row) throw new ResourceNotFoundError('webhook-delivery', id);
    if (row.updated_at === before) {
      const payload = await payloadOf(app, caller, endpoint, row);
      return { ...toDelivery(row, attempts.at(-1)), payload, attempts: attempts.map(toAttempt) };
    }
    before = row.updated_at;
  }
}

/**
 * Returns an active endpoint. On PostgreSQL it cannot be deleted until the transaction ends.
 * @throws ResourceNotFoundError; ConflictError for a disabled endpoint.
 */
export async function requireActive(
  trx: Db,
  { organizationId }: Caller,
  id: string,
): Promise<EndpointRow> {
  const row = await endpoints.get(trx, organizationId, id);
  if ((await holdActive(trx, [id])).has(id)) return row;
  throw new ConflictError('webhook', `Webhook ${id} is disabled: enable it first`);
}

/**
 * Queues a `webhook.test` for this endpoint alone, regardless of the subscription.
 * @throws ResourceNotFoundError; ConflictError for a disabled endpoint.
 */
export async function testWebhook(
  app: App,
  caller: Caller,
  id: string,
  { data }: TestWebhook,
): Promise<WebhookTest> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    await requireActive(trx, caller, id);
    const eventId = app.newId('event');
    const event = { ...eventToRecord(webhookTest, data ?? {}), id: eventId };
    await record(app, trx, caller, { subject: id, event });
    const { type } = webhookTest;
    const logged = { id: eventId, organizationId, type, subject: id };
    const [delivery] = await enqueueAll(app, trx, [{ endpointId: id, event: logged }]);
    if (!delivery) throw new InternalError('The test was not queued', 'webhooks');
    return { accepted: true, eventId, deliveryId: delivery.id };
  });
}
