// Records events in the transaction of their change. A change of a resource (`record`) is written
// to the audit if a caller made it, and to the event log if a kind exists for it. Steps of messages
// are written to timelines (`recordTimeline`). Only this module writes audit or events.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import {
  type Actor,
  actorOf,
  type Details,
  operatorActor,
  serviceActor,
  writeAudit,
} from '../audit/audit.ts';
import type { AuditAction } from '../audit/schema.ts';
import { freshEvents } from './fresh.ts';
import type { LoggedEvent } from './hooks.ts';
import { typeOfStep, unloggedSteps } from './names.ts';
import { type EventRow, insertEvents, insertResourceEvents } from './queries.ts';
import { insertUnsealed } from './unsealed-queries.ts';

/** Author of a change, and the organization of the changed resource. */
export interface ChangeAuthor {
  actor: Actor;
  organizationId: string;
}

/** Author of changes at the command line. */
export function byOperator(organizationId: string): ChangeAuthor {
  return { actor: operatorActor, organizationId };
}

/** Author of changes by the service itself. */
export function byService(organizationId: string): ChangeAuthor {
  return { actor: serviceActor, organizationId };
}

/** Event to record; `eventToRecord` creates it. */
export interface EventToRecord {
  /** Id of the event; generated unless the caller chooses it. */
  id?: string;
  type: string;
  data: unknown;
  facts: Details | null;
}

/** Creates an event. `data` is the resource as it is now, `facts` has further facts. */
export function eventToRecord<Data>(
  { type }: { type: string; sample: Data },
  data: NoInfer<Data>,
  facts: Details | null = null,
): EventToRecord {
  return { type, data, facts };
}

/** A change of a resource, made by a caller or by the service. */
export interface Change {
  /** Id of the changed resource. Null for a change of many resources, which publishes no event. */
  subject: string | null;
  /** Action for the audit; without an action nothing is audited. */
  action?: AuditAction;
  /** Details for the audit. Null and undefined values are left out. */
  details?: Details;
  /** Event for the log; without an event only the audit records the change. */
  event?: EventToRecord | null;
}

/**
 * Records a change, inside the transaction of the change: all of it is stored, or nothing.
 * @returns the id of the audit entry, '' without `action`.
 */
export async function record(
  app: App,
  trx: Db,
  by: Caller | ChangeAuthor,
  { subject, action, details = {}, event }: Change,
): Promise<string> {
  const { organizationId } = by;
  if (event && subject !== null) await recordEvents(app, trx, organizationId, [{ subject, event }]);
  if (action === undefined) return '';
  const actor = 'actor' in by ? by.actor : actorOf(by);
  return writeAudit(app, trx, { actor, organizationId, action, resourceId: subject, details });
}

/**
 * Records events on several resources of an organization in the log; see `record` for a single
 * event.
 */
export async function recordEvents(
  app: App,
  trx: Db,
  organizationId: string,
  events: readonly { subject: string; event: EventToRecord }[],
): Promise<void> {
  if (events.length === 0) return;
  const timestamp = app.clock.now();
  const rows = events.map(({ subject, event }) => ({
    organization_id: organizationId,
    id: event.id ?? app.newId('event'),
    event_type: event.type,
    subject,
    timestamp,
    data: JSON.stringify(event.data),
    facts: toJson(event.facts),
  }));
  await insertResourceEvents(trx, rows);
  await insertUnsealed(trx, rows);
  const fresh = freshEvents(app);
  for (const row of rows) fresh.note({ ...row, recipient_id: null, status: '' });
  for (const sink of app.hooks.eventSinks) {
    if (!sink.wants(app, organizationId)) continue;
    const logged = rows.map(({ id, event_type: type, subject }) => ({
      id,
      organizationId,
      type,
      subject,
      recipientId: null,
      timestamp,
    }));
    await sink.take(app, trx, logged);
  }
}

/** Kinds of steps in a timeline, without the prefix `message.`. */
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

/** Records steps of messages, and passes them to the sinks in the given order. */
export async function recordTimeline(
  app: App,
  trx: Db,
  events: readonly MessageEvent[],
): Promise<void> {
  const rows = events.map((event) => ({
    id: app.newId('event'),
    organization_id: event.organizationId,
    message_id: event.messageId,
    recipient_id: event.recipientId,
    event_type: event.eventType,
    status: event.status,
    timestamp: event.timestamp,
    metadata: toJson(event.metadata),
  }));
  await insertEvents(trx, rows);
  const logged = rows.filter(isLogged);
  await insertUnsealed(trx, logged);
  const fresh = freshEvents(app);
  for (const row of logged) {
    fresh.note({ ...row, subject: row.message_id, data: null, facts: row.metadata });
  }
  for (const sink of app.hooks.eventSinks) {
    if (sink.resourcesOnly) continue;
    const wanted = logged.filter((row) => sink.wants(app, row.organization_id));
    if (wanted.length > 0) await sink.take(app, trx, wanted.map(toLogged));
  }
}

const unlogged: readonly string[] = unloggedSteps;

/** Tells whether a step is an event too: internal steps and mail of the service are not logged. */
function isLogged({ event_type, organization_id }: EventRow): boolean {
  return !unlogged.includes(event_type) && organization_id !== serviceOrganizationId;
}

function toLogged(row: EventRow): LoggedEvent {
  return {
    id: row.id,
    organizationId: row.organization_id,
    type: typeOfStep(row.event_type),
    subject: row.message_id,
    recipientId: row.recipient_id,
    timestamp: row.timestamp,
  };
}
