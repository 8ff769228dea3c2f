// A redelivery: one attempt now, awaited, whatever the state of the delivery or of its endpoint. Its schedule
// knows nothing of it: status, count of attempts and next time stay.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { CapacityError, ResourceNotFoundError } from '../errors.ts';
import { perApp } from '../runtime/per-app.ts';
import { attempt, attemptRow, openEndpoint } from './attempt.ts';
import { insertAttempts } from './delivery-queries.ts';
import { findDelivery } from './list-queries.ts';
import { createPoster } from './post.ts';
import { endpoints, setFailingSince } from './queries.ts';

const mostAtOnce = 50;

/** How many are under way in this process. */
const running = perApp((_app: App) => ({ count: 0 }));

export interface Redelivered {
  accepted: true;
  deliveryId: string;
  attemptId: string;
  outcome: 'succeeded' | 'failed';
}

/**
 * Posts a delivery once more, under its `webhook-id`. Two at once are two attempts.
 * @throws ResourceNotFoundError, CapacityError where 50 are under way.
 */
export async function redeliverNow(
  app: App,
  caller: Caller,
  endpointId: string,
  deliveryId: string,
): Promise<Redelivered> {
  const { db } = app.store;
  const { organizationId } = caller;
  const endpoint = await endpoints.get(db, organizationId, endpointId);
  const delivery = await findDelivery(db, organizationId, endpointId, deliveryId);
  if (!delivery) throw new ResourceNotFoundError('webhook-delivery', deliveryId);
  const ended = await oneMore(app, async () => {
    const poster = createPoster(app);
    try {
      return await attempt(app, poster, openEndpoint(app, endpoint), delivery);
    } finally {
      await poster.close();
    }
  });
  const row = attemptRow(app, ended, 'manual');
  await app.store.write(async (trx) => {
    // The endpoint works: what it failed before does not count towards disabling it.
    if (ended.outcome.isSuccess && endpoint.failing_since !== null) {
      await setFailingSince(trx, endpointId, null);
    }
    await insertAttempts(trx, [row]);
  });
  return { accepted: true, deliveryId, attemptId: row.id, outcome: row.outcome };
}

async function oneMore<T>(app: App, work: () => Promise<T>): Promise<T> {
  const now = running(app);
  if (now.count >= mostAtOnce) {
    throw new CapacityError(`${mostAtOnce} redeliveries are under way: try again in a moment`, 1);
  }
  now.count += 1;
  try {
    return await work();
  } finally {
    now.count -= 1;
  }
}
