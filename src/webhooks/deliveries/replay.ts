// Queues logged events again for an endpoint, under their original `webhook-id`. Replays go after
// live deliveries (`is_replay`).

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { logBetween } from '../../history/events/log.ts';
import { matcherOf, typesOf } from '../../history/events/patterns.ts';
import { CapacityError, ConflictError } from '../../platform/errors.ts';
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { fromJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { endpoints } from '../endpoints/queries.ts';
import type { EndpointRow } from '../rows.ts';
import type { ReplayWebhook, WebhookReplay } from '../schema.ts';
import { requireActive } from './deliveries.ts';
import { countReplays } from './delivery-queries.ts';
import { enqueueAll, type Wanted } from './enqueue.ts';
import { selectDeliveries } from './list-queries.ts';

/** Limit of events in a replay, and of replayed deliveries that an endpoint may have pending. */
const mostReplayed = 10_000;
const mostAtOnce = 8;
const mostPerTransaction = 500;

/** Replays under way in this process. */
const running = perApp((_app: App) => ({
  endpoints: new Set<string>(),
  places: new FairShare(mostAtOnce),
}));

type Event = Wanted['event'];

/** Reads events after an id, oldest first; `next` is null at the end. */
type Read = (after: string, limit: number) => Promise<{ events: Event[]; next: string | null }>;

/** Returns a reader of the requested events. */
function readerOf(app: App, endpoint: EndpointRow, input: ReplayWebhook): Read {
  const { db } = app.store;
  const { organization_id: organizationId } = endpoint;
  const { from = 0, to = app.clock.now() + 1 } = boundsOf(input);
  const range = { since: from, until: to };
  const patterns = input.events ?? fromJson<string[]>(endpoint.events);
  const { status } = input;
  if (status === undefined) {
    const types = typesOf(patterns);
    return async (after, limit) => {
      const { entries, next } = await logBetween(
        db,
        organizationId,
        { ...range, types },
        after === '' ? null : after,
        limit,
      );
      // Keeps no data of the events in memory, as thousands of events are collected.
      const events = entries.map(({ id, type, subject }) => ({
        id,
        organizationId,
        type,
        subject,
      }));
      return { events, next };
    };
  }
  return async (after, limit) => {
    const rows = await selectDeliveries(db, endpoint.id, { ...range, status }, after, limit);
    const events = rows.map(({ event_id: id, event_type: type, message_id: messageId }) => {
      return { id, organizationId, type, subject: messageId ?? endpoint.id };
    });
    return { events, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
  };
}

/**
 * Collects up to `most` distinct events to replay. `isComplete` is false if more events match. An
 * event with several deliveries, such as from earlier replays, is collected once.
 */
async function collect(
  read: Read,
  isMeant: (type: string) => boolean,
  most: number,
): Promise<{ events: Event[]; isComplete: boolean }> {
  const events = new Map<string, Event>();
  let after = '';
  for (;;) {
    const { events: some, next } = await read(after, mostPerTransaction);
    for (const event of some) {
      if (!isMeant(event.type) || events.has(event.id)) continue;
      if (events.size === most) return { events: [...events.values()], isComplete: false };
      events.set(event.id, event);
    }
    if (next === null) return { events: [...events.values()], isComplete: true };
    after = next;
  }
}

/**
 * Queues logged events again, the oldest first; 10,000 replays of an endpoint may be pending.
 * @throws ResourceNotFoundError; ConflictError for a disabled endpoint, while a replay to the
 * endpoint runs, and if 10,000 replays are pending; CapacityError if too many replays are under
 * way.
 */
export async function replayWebhook(
  app: App,
  caller: Caller,
  id: string,
  input: ReplayWebhook,
): Promise<WebhookReplay> {
  const { organizationId } = caller;
  const endpoint = await endpoints.get(app.store.db, organizationId, id);
  const { endpoints: taken, places } = running(app);
  if (taken.has(id)) {
    throw new ConflictError(
      'webhook',
      `A replay of ${id} is under way: start it when that is done`,
    );
  }
  const crowded = () =>
    new CapacityError('Too many replays of your organization are under way: try again', 1);
  return places.within(organizationId, crowded, async () => {
    taken.add(id);
    try {
      return await replay(app, caller, endpoint, input);
    } finally {
      taken.delete(id);
    }
  });
}

async function replay(
  app: App,
  caller: Caller,
  endpoint: EndpointRow,
  input: ReplayWebhook,
): Promise<WebhookReplay> {
  const { id } = endpoint;
  const room = mostReplayed - (await countReplays(app.store.db, id, mostReplayed));
  if (room <= 0) {
    const text = `${mostReplayed} replays of ${id} are pending: wait until some of them are posted`;
    throw new ConflictError('webhook', text);
  }
  const isMeant = input.events ? matcherOf(input.events) : () => true;
  const { events, isComplete } = await collect(readerOf(app, endpoint, input), isMeant, room);
  for (let i = 0; i === 0 || i < events.length; i += mostPerTransaction) {
    const some = events.slice(i, i + mostPerTransaction);
    await app.store.write(async (trx) => {
      await requireActive(trx, caller, id);
      const wanted = some.map((event) => ({ endpointId: id, event }));
      await enqueueAll(app, trx, wanted, { isReplay: true });
    });
  }
  return { accepted: true, deliveries: events.length, isComplete };
}
