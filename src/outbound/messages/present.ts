// Turns rows into the objects of the API. Pure: the accept path builds its 201 answer from the rows
// that it is about to insert, so that later reads give the same answer by construction.

import type { EventRow } from '../../history/events/queries.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { HoldRow } from '../deliveries/hold-queries.ts';
import { type Holds, noHolds } from '../deliveries/holds-in-force.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import { metadataOf } from './captured.ts';
import type { ListedMessageRow, RecipientRow } from './queries.ts';
import type { Attempt, Delivery, Message, StoredOrigin, TimelineEvent } from './schema.ts';

const currency = 'USD';
const noCost = '0';

/** Presents a hold of the operator with the command that lifts it. */
function presentHold({ id, note }: HoldRow): NonNullable<Delivery['scheduling']>['hold'] {
  return { id, reason: note, release: `svc queue release ${id}` };
}

/** Presents a delivery with the attempt history (specification 2.2). */
export function presentDelivery(row: DeliveryRow, hold: HoldRow | null): Delivery {
  const isWaiting = row.due_at !== null;
  const attempts = fromJson<Attempt[]>(row.attempts) ?? [];
  return {
    id: row.id,
    messageId: row.message_id,
    recipientId: row.recipient_id,
    channel: 'email',
    status: row.status,
    attemptCount: row.attempt_count,
    maxAttempts: row.max_attempts,
    queuedAt: isoTime(row.queued_at),
    claimedAt: isoTime(row.claimed_at),
    lastAttemptAt: isoTime(row.last_attempt_at),
    nextRetryAt: row.wait_reason === 'retry' ? isoTime(row.due_at) : null,
    sentAt: isoTime(row.sent_at),
    deliveredAt: isoTime(row.delivered_at),
    readAt: isoTime(row.read_at),
    failedAt: isoTime(row.failed_at),
    terminalAt: isoTime(row.terminal_at),
    errorCode: row.error_code,
    errorMessage: row.error_message,
    errorDetails: fromJson<unknown>(row.error_details),
    cost: noCost,
    currency,
    idempotencyKey: null,
    metadata: metadataOf(attempts),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    scheduling: isWaiting
      ? {
          dueAt: isoTime(row.claimed_by === null ? row.due_at : row.claimed_at),
          expiresAt: isoTime(row.expires_at),
          waitReason: row.wait_reason,
          hold: hold && presentHold(hold),
        }
      : null,
    attempts,
  };
}

/**
 * Presents a message. `recipients` and `deliveries` are the rows of this message only; `holds` may
 * be left out for new mail.
 */
export function presentMessage(
  row: ListedMessageRow,
  recipients: readonly RecipientRow[],
  deliveries: readonly DeliveryRow[],
  holds: Holds = noHolds,
): Message {
  const statusOf = new Map(deliveries.map((one) => [one.recipient_id, one.status]));
  const party = ({ email, name, contact_id }: RecipientRow) => ({
    email,
    name,
    contactId: contact_id,
  });
  const partiesOf = (kind: RecipientRow['kind']) =>
    recipients.filter((one) => one.kind === kind).map(party);
  return {
    id: row.id,
    organizationId: row.organization_id,
    channel: 'email',
    direction: row.direction,
    status: row.status,
    conversationId: row.conversation_id,
    campaignRunId: row.campaign_run_id,
    unsubscribeGroupId: deliveries[0]?.unsubscribe_group_id ?? null,
    subject: row.subject,
    from: { email: row.from_email, name: row.from_name },
    replyTo: fromJson<string[]>(row.reply_to),
    to: partiesOf('to'),
    cc: partiesOf('cc'),
    bcc: partiesOf('bcc'),
    recipients: recipients.map((one) => ({
      id: one.id,
      kind: one.kind,
      ...party(one),
      status: statusOf.get(one.id) ?? row.status,
    })),
    deliveries: deliveries.map((one) => presentDelivery(one, holds.of(one))),
    templateId: row.template_id,
    tags: fromJson<string[]>(row.tags) ?? [],
    metadata: fromJson<Message['metadata']>(row.metadata) ?? {},
    tracking: { opens: row.track_opens === 1, clicks: row.track_clicks === 1 },
    scheduledFor: isoTime(row.scheduled_for),
    ...originOf(row),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

function originOf({
  origin: stored,
}: ListedMessageRow): Pick<Message, 'templateVersion' | 'resendOf' | 'origin'> {
  if (stored === null) return { templateVersion: null, resendOf: null, origin: null };
  const { resendOf = null, templateVersion = null, ...origin } = fromJson<StoredOrigin>(stored);
  return { templateVersion, resendOf, origin };
}

export function presentEvent(row: EventRow): TimelineEvent {
  return {
    id: row.id,
    messageId: row.message_id,
    eventType: row.event_type,
    status: row.status,
    timestamp: isoTime(row.timestamp),
    metadata: fromJson<Record<string, unknown>>(row.metadata) ?? {},
  };
}
