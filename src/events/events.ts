// What happened, written in the same transaction as the change it tells of (contract 7).
import type { App } from '../app.ts';
import { type Db, toJson } from '../store/db.ts';
import { insertEvents } from './queries.ts';

/** Timeline kinds (contract 5). */
export type MessageEventType =
  | 'accepted'
  | 'scheduled'
  | 'queued'
  | 'processing'
  | 'deferred'
  | 'sent'
  | 'delivered'
  | 'opened'
  | 'clicked'
  | 'bounced'
  | 'complained'
  | 'unsubscribed'
  | 'failed'
  | 'cancelled';

export interface MessageEvent {
  organizationId: string;
  messageId: string;
  recipientId: string | null;
  eventType: MessageEventType;
  /** The message's status after the event. */
  status: string;
  timestamp: number;
  metadata: Record<string, unknown> | null;
}

/** Kinds of events that are no message's (contract 7). */
export type WorkspaceEventType = 'workspace.warning' | 'workspace.paused' | 'workspace.resumed';

export interface WorkspaceEvent {
  organizationId: string;
  eventType: WorkspaceEventType;
  /** The organization's sending status after the event. */
  status: 'enabled' | 'paused';
  timestamp: number;
  metadata: Record<string, unknown> | null;
}

/** Writes what happened to an organization: rows without a message. */
export async function recordWorkspaceEvent(
  app: App,
  trx: Db,
  event: WorkspaceEvent,
): Promise<void> {
  await insertEvents(trx, [
    {
      id: app.newId('event'),
      organization_id: event.organizationId,
      message_id: '',
      recipient_id: null,
      event_type: event.eventType,
      status: event.status,
      timestamp: event.timestamp,
      metadata: toJson(event.metadata),
    },
  ]);
}

/** Writes timeline rows; the order given is the order told. */
export async function recordEvents(
  app: App,
  trx: Db,
  events: readonly MessageEvent[],
): Promise<void> {
  await insertEvents(
    trx,
    events.map((event) => ({
      id: app.newId('event'),
      organization_id: event.organizationId,
      message_id: event.messageId,
      recipient_id: event.recipientId,
      event_type: event.eventType,
      status: event.status,
      timestamp: event.timestamp,
      metadata: toJson(event.metadata),
    })),
  );
}
