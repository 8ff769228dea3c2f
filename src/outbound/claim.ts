// Claims due deliveries: a short transaction that leases them and begins the attempt in the
// timeline; then, outside of it, reads what the attempt needs.
import type { App } from '../app.ts';
import { recordEvents } from '../events/events.ts';
import { claimDue, type DeliveryRow } from '../messages/delivery-queries.ts';
import {
  type ContentRow,
  findContents,
  findMessageRows,
  findRecipients,
  type MessageRow,
  markProcessing,
  type RecipientRow,
} from '../messages/queries.ts';

/** A message with the deliveries of it that were claimed together. */
export interface ClaimedMessage {
  message: MessageRow;
  content: ContentRow | null;
  recipients: RecipientRow[];
  deliveries: DeliveryRow[];
}

export interface ClaimOptions {
  worker: string;
  leaseMs: number;
  limit: number;
}

/** Takes up to `limit` due deliveries, grouped by message; empty when nothing is due. */
export async function claimMessages(
  app: App,
  { worker, leaseMs, limit }: ClaimOptions,
): Promise<ClaimedMessage[]> {
  const deliveries = await app.store.write(async (trx) => {
    const now = app.clock.now();
    const claimed = await claimDue(trx, { worker, now, leaseUntil: now + leaseMs, limit });
    if (claimed.length === 0) return claimed;
    const ids = [...new Set(claimed.map((row) => row.message_id))];
    const started = await markProcessing(trx, ids, now);
    await recordEvents(
      app,
      trx,
      started.map((row) => ({
        organizationId: row.organization_id,
        messageId: row.id,
        recipientId: null,
        eventType: 'processing',
        status: 'processing',
        timestamp: now,
        metadata: null,
      })),
    );
    return claimed;
  }, 'soon');
  return deliveries.length === 0 ? [] : withContent(app, deliveries);
}

async function withContent(app: App, deliveries: DeliveryRow[]): Promise<ClaimedMessage[]> {
  const { db } = app.store;
  const byMessage = Map.groupBy(deliveries, (row) => row.message_id);
  const ids = [...byMessage.keys()];
  const messages = await findMessageRows(db, ids);
  const recipients = Map.groupBy(await findRecipients(db, ids), (row) => row.message_id);
  const contentIds = [...new Set(messages.flatMap((row) => row.content_id ?? []))];
  const found = contentIds.length > 0 ? await findContents(db, contentIds) : [];
  const contents = new Map(found.map((row) => [row.id, row]));
  // A message that was deleted since is absent: its deliveries went with it.
  return messages.map((message) => ({
    message,
    content: contents.get(message.content_id ?? '') ?? null,
    recipients: recipients.get(message.id) ?? [],
    deliveries: byMessage.get(message.id) ?? [],
  }));
}
