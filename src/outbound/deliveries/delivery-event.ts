// Steps of a recipient in the timeline of the message. Written by src/history/events.

import type { MessageEvent, MessageEventType } from '../../history/events/record.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { DeliveryRow } from './queries.ts';
import type { MessageStatus } from './status.ts';

type Told = Pick<DeliveryRow, 'id' | 'message_id' | 'recipient_id' | 'organization_id' | 'email'>;

/**
 * Builds a timeline step. `status` is the status of the message after the step; `timestamp` is in
 * ms since 1970.
 */
export function deliveryEvent(
  row: Told,
  eventType: MessageEventType,
  status: MessageStatus,
  timestamp: number,
  details: Readonly<Record<string, unknown>> = {},
): MessageEvent {
  return {
    organizationId: row.organization_id,
    messageId: row.message_id,
    recipientId: row.recipient_id,
    eventType,
    status,
    timestamp,
    metadata: { recipient: row.email, deliveryId: row.id, ...details },
  };
}

/** Builds the last step of a delivery that was never attempted, with the reason. */
export function unsentEvent(
  row: Told,
  end: Pick<DeliveryRow, 'error_code'> & Partial<Pick<DeliveryRow, 'error_details'>>,
  status: MessageStatus,
  timestamp: number,
): MessageEvent {
  const why = fromJson<Record<string, unknown>>(end.error_details ?? null);
  return deliveryEvent(row, 'failed', status, timestamp, { errorCode: end.error_code, ...why });
}
