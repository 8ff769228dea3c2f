// Queues a delivery of an event for each subscribed endpoint, in the transaction of the event.
// Either the change, the event and the deliveries are all stored, or nothing is.
//
// Endpoints come from memory (known-endpoints.ts), which may be a second old. So the transaction
// checks that they are still active, and queues nothing for a deleted endpoint.

import type { App } from '../../core/app.ts';
import type { EventSink, LoggedEvent } from '../../history/events/hooks.ts';
import { messageOf, ServiceError, WebhookEnqueueError } from '../../platform/errors.ts';
import { idPattern, idPrefixes } from '../../platform/runtime/ids.ts';
import { type Db, isStoreTrouble } from '../../platform/store/db.ts';
import {
  type EndpointReach,
  type EndpointsOf,
  knownEndpoints,
} from '../endpoints/known-endpoints.ts';
import { holdActive } from '../endpoints/queries.ts';
import { webhookTest } from '../events.ts';
import type { DeliveryRow } from '../rows.ts';
import { moveCounts } from './counters.ts';
import { insertDeliveries } from './delivery-queries.ts';

/** Event to post, and the endpoint. */
export interface Wanted {
  endpointId: string;
  event: Pick<LoggedEvent, 'id' | 'organizationId' | 'type' | 'subject'>;
}

function deliveryOf(app: App, { endpointId, event }: Wanted, isReplay: boolean): DeliveryRow {
  const now = app.clock.now();
  const [firstWait = 0] = app.config.webhooks.retry.scheduleSeconds;
  const isOfMessage = event.subject.startsWith(`${idPrefixes.message}_`);
  return {
    id: app.newId('webhookDelivery'),
    organization_id: event.organizationId,
    endpoint_id: endpointId,
    event_id: event.id,
    event_type: event.type,
    message_id: isOfMessage ? event.subject : null,
    status: 'pending',
    attempt_count: 0,
    due_at: now + Math.round(firstWait * 1_000),
    claimed_by: null,
    is_replay: isReplay ? 1 : 0,
    last_attempt_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** Queues deliveries without checking subscriptions. Returns their rows. */
export async function enqueueAll(
  app: App,
  trx: Db,
  wanted: readonly Wanted[],
  { isReplay = false } = {},
): Promise<DeliveryRow[]> {
  const rows = wanted.map((each) => deliveryOf(app, each, isReplay));
  await insertDeliveries(trx, rows);
  moveCounts(
    trx,
    rows.map(({ endpoint_id: endpointId, created_at: madeAt }) => {
      return { endpointId, madeAt, from: null, to: 'pending' };
    }),
  );
  return rows;
}

/** Returns the endpoints of the organizations of these events. */
async function endpointsOf(app: App, trx: Db, events: readonly LoggedEvent[]) {
  const found = new Map<string, EndpointsOf>();
  for (const { organizationId } of events) {
    if (found.has(organizationId)) continue;
    found.set(organizationId, await knownEndpoints(app).find(trx, organizationId));
  }
  return found;
}

/**
 * Decides which events reach the endpoint of an installation: events on the mailboxes of the
 * installation.
 */
class Reaches {
  readonly #app: App;
  readonly #trx: Db;
  /** Namespaces by mailbox; null for subjects without a mailbox. */
  readonly #namespaces = new Map<string, string | null>();

  constructor(app: App, trx: Db) {
    this.#app = app;
    this.#trx = trx;
  }

  async has(
    { mailboxIds, namespaceId }: EndpointReach,
    { organizationId, subject }: Wanted['event'],
  ): Promise<boolean> {
    if (mailboxIds?.includes(subject)) return true;
    if (namespaceId === undefined || !idPattern('mailbox').test(subject)) return false;
    if (!this.#namespaces.has(subject)) {
      const { findNamespaceOf } = this.#app.hooks;
      this.#namespaces.set(subject, await findNamespaceOf(this.#trx, organizationId, subject));
    }
    return this.#namespaces.get(subject) === namespaceId;
  }
}

async function enqueue(app: App, trx: Db, events: readonly LoggedEvent[]): Promise<void> {
  const endpoints = await endpointsOf(app, trx, events);
  const wanted: Wanted[] = [];
  const reaches = new Reaches(app, trx);
  for (const event of events) {
    // Skips a test: `testWebhook` queues it itself, for a single endpoint.
    if (event.type === webhookTest.type) continue;
    for (const { id, limits } of endpoints.get(event.organizationId)?.wanting(event.type) ?? []) {
      if (limits?.reach && !(await reaches.has(limits.reach, event))) continue;
      wanted.push({ endpointId: id, event });
    }
  }
  if (wanted.length === 0) return;
  const ids = new Set(wanted.map(({ endpointId }) => endpointId));
  const active = await holdActive(trx, [...ids]);
  await enqueueAll(
    app,
    trx,
    wanted.filter(({ endpointId }) => active.has(endpointId)),
  );
}

/**
 * Queues recorded events for their endpoints. `take` throws WebhookEnqueueError, or the store's
 * error.
 */
export const webhookSink: EventSink = {
  wants: (app, organizationId) => knownEndpoints(app).mayHave(organizationId),
  async take(app, trx, events) {
    try {
      await enqueue(app, trx, events);
    } catch (cause) {
      if (cause instanceof ServiceError || isStoreTrouble(cause)) throw cause;
      const kinds = [...new Set(events.map(({ type }) => type))].join(', ');
      const text = `Deliveries to webhooks could not be queued (${kinds}), so nothing was stored`;
      throw new WebhookEnqueueError(text, { cause: new Error(messageOf(cause), { cause }) });
    }
  },
};
