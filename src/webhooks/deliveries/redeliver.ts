// A redelivery: a single attempt now, awaited, in any state of the delivery and the endpoint. It
// leaves the schedule unchanged: status, count of attempts and next time stay.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { CapacityError, ResourceNotFoundError } from '../../platform/errors.ts';
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { endpoints, setFailingSince } from '../endpoints/queries.ts';
import { createPoster } from '../posting/post.ts';
import { attempt, attemptRow, openEndpoint } from '../posting/post-attempt.ts';
import { insertAttempts } from './delivery-queries.ts';
import { findDelivery } from './list-queries.ts';

const mostAtOnce = 50;

/** Redeliveries under way in this process. Organizations share the limit fairly. */
const places = perApp((_app: App) => new FairShare(mostAtOnce));

const crowded = () =>
  new CapacityError('Too many redeliveries of your organization are under way: try again', 1);

export interface Redelivered {
  accepted: true;
  deliveryId: string;
  attemptId: string;
  outcome: 'succeeded' | 'failed';
}

/**
 * Posts a delivery once more, under the same `webhook-id`. Two calls at once make two attempts.
 * @throws ResourceNotFoundError; CapacityError if too many redeliveries are under way.
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
  const ended = await places(app).within(organizationId, crowded, async () => {
    const poster = createPoster(app);
    try {
      return await attempt(app, poster, openEndpoint(app, endpoint), delivery);
    } finally {
      await poster.close();
    }
  });
  const row = attemptRow(app, ended, 'manual');
  await app.store.write(async (trx) => {
    // The endpoint works now, so earlier failures no longer count towards disabling it.
    if (ended.outcome.isSuccess && endpoint.failing_since !== null) {
      await setFailingSince(trx, endpointId, null);
    }
    await insertAttempts(trx, [row]);
  });
  return { accepted: true, deliveryId, attemptId: row.id, outcome: row.outcome };
}
