// Disables an endpoint that failed too long or answered 410. Cancels waiting deliveries: some in
// this transaction, the rest in the loop, since there may be a million.
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import { moveCounts } from '../deliveries/counters.ts';
import { cancelWaiting } from '../deliveries/delivery-queries.ts';
import { webhookDisabled } from '../events.ts';
import { toWebhook } from '../present.ts';
import type { DeliveryRow, EndpointRow } from '../rows.ts';
import { endpointChanges, setEndpoint } from './queries.ts';

/** Number of deliveries that a transaction cancels. */
const mostCancelled = 1_000;

/** Disables an endpoint locked by the caller. Logs nothing, as the transaction may run again. */
export async function disableEndpoint(
  app: App,
  trx: Db,
  endpoint: EndpointRow,
  reason: string,
): Promise<void> {
  const now = app.clock.now();
  const change = {
    status: 'disabled',
    disabled_reason: reason,
    cancel_before: now,
    updated_at: now,
  } as const;
  await setEndpoint(trx, endpoint.id, change);
  await cancelSome(app, trx, endpoint.id);
  // Marks the change before the event is recorded, so that the disabled endpoint does not receive
  // the event.
  endpointChanges.note(trx);
  const event = eventToRecord(webhookDisabled, toWebhook(app, { ...endpoint, ...change }));
  const audited = { action: 'webhook.disabled', details: { reason } } as const;
  const by = byService(endpoint.organization_id);
  await record(app, trx, by, { subject: endpoint.id, ...audited, event });
  const { installation_id: installationId, organization_id: organizationId } = endpoint;
  if (installationId === null) return;
  await app.hooks.endpointDisabled(app, trx, { organizationId, installationId });
}

/**
 * Cancels some waiting deliveries of an endpoint. Deliveries being posted stay. Returns whether
 * more may remain.
 */
export async function cancelSome(app: App, trx: Db, endpointId: string): Promise<boolean> {
  const rows = await cancelWaiting(trx, endpointId, app.clock.now(), mostCancelled);
  countCancelled(trx, rows);
  return rows.length === mostCancelled;
}

export function countCancelled(trx: Db, rows: readonly DeliveryRow[]): void {
  moveCounts(
    trx,
    rows.map((row) => ({
      endpointId: row.endpoint_id,
      madeAt: row.created_at,
      from: 'pending',
      to: 'cancelled',
    })),
  );
}
