// Relay mode: the 250 of a smarthost is not a delivery. Mail without a bounce within
// `delivery.relay.assumeDeliveredAfterMinutes` counts as delivered.
import type { App } from '../../../core/app.ts';
import { recordTimeline } from '../../../history/events/record.ts';
import type { Db } from '../../../platform/store/db.ts';
import { deliveryEvent } from '../../deliveries/delivery-event.ts';
import {
  confirmSent,
  type DeliveryRow,
  findDeliveryStatuses,
  oldestSentAt,
} from '../../deliveries/queries.ts';
import { overallStatus } from '../../deliveries/status.ts';
import { lockMessages } from '../../messages/queries.ts';
import { moveMessages } from '../../messages/restate.ts';
import { countCohorts } from '../../tracking/cohorts.ts';
import { countConfirmed } from './outcome-counts.ts';

const batch = 500;

/**
 * Marks up to 500 sent deliveries as delivered once they have waited long enough. Reads a single
 * row when nothing is due.
 */
export async function confirmDelivered(app: App): Promise<void> {
  const sentAt = await oldestSentAt(app.store.db);
  const waitMs = app.config.delivery.relay.assumeDeliveredAfterMinutes * 60_000;
  const sentBefore = app.clock.now() - waitMs;
  if (sentAt === null || sentAt > sentBefore) return;
  await app.store.write(async (trx) => {
    const now = app.clock.now();
    const rows = await confirmSent(trx, sentBefore, now, batch);
    if (rows.length > 0) await recordDelivered(app, trx, rows, now);
  });
}

async function recordDelivered(
  app: App,
  trx: Db,
  rows: readonly DeliveryRow[],
  now: number,
): Promise<void> {
  const ids = [...new Set(rows.map((row) => row.message_id))];
  await lockMessages(trx, ids);
  const byMessage = Map.groupBy(await findDeliveryStatuses(trx, ids), (row) => row.message_id);
  const statusOf = (messageId: string) =>
    overallStatus((byMessage.get(messageId) ?? []).map((row) => row.status));
  await moveMessages(trx, new Map(ids.map((id) => [id, statusOf(id)])), now);
  await recordTimeline(
    app,
    trx,
    rows.map((row) =>
      deliveryEvent(row, 'delivered', statusOf(row.message_id), now, { assumed: true }),
    ),
  );
  await countConfirmed(app, trx, rows);
  await countCohorts(
    app,
    trx,
    rows.map((row) => ({ row, had: false })),
  );
}
