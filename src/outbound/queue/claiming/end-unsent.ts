// Ends queued mail that must not be sent any more, like mail that the owner cancels (cancel.ts):
// mail of cancelled campaign runs, and mail of the service that comes too late.
import type { App } from '../../../core/app.ts';
import { recordTimeline } from '../../../history/events/record.ts';
import type { Db } from '../../../platform/store/db.ts';
import { deliveryEvent } from '../../deliveries/delivery-event.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import { cancelDelivery } from '../../deliveries/queue-queries.ts';
import type { MessageStatus } from '../../deliveries/status.ts';
import { restateMessage } from '../../messages/restate.ts';

/** The `errorMessage` of mail of a cancelled run. */
const runWords = 'Its campaign run was cancelled before it was sent';
/** The `errorMessage` of late mail of the service. */
export const lateWords = 'It could not be sent in time';

/**
 * Ends these deliveries as cancelled, in status and timeline. The default of `reason` is for mail
 * of cancelled runs. Returns the ended deliveries, without deliveries that an attempt holds. The
 * caller has locked their rows and messages, and counts the ended deliveries last.
 */
export async function endUnsent(
  app: App,
  trx: Db,
  rows: readonly DeliveryRow[],
  reason = runWords,
): Promise<DeliveryRow[]> {
  const now = app.clock.now();
  const ended: DeliveryRow[] = [];
  for (const row of rows) {
    if (await cancelDelivery(trx, row.id, reason, now)) ended.push(row);
  }
  if (ended.length === 0) return ended;
  const statuses = new Map<string, MessageStatus>();
  for (const id of new Set(ended.map((row) => row.message_id))) {
    statuses.set(id, await restateMessage(trx, id, now));
  }
  const details = { by: 'service', action: 'cancel', reason };
  await recordTimeline(
    app,
    trx,
    ended.map((row) => {
      const status = statuses.get(row.message_id) ?? 'failed';
      return deliveryEvent(row, 'cancelled', status, now, details);
    }),
  );
  return ended;
}
