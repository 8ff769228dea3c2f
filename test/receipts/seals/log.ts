// An organization's log to seal: steps of messages and events of resources, read as leaves by plain
// SQL.
import { sql } from 'kysely';
import type { App } from '../../../src/core/app.ts';
import { recordEvents, recordTimeline } from '../../../src/history/events/record.ts';
import type { Db } from '../../../src/platform/store/db.ts';

/** Builds a step of a message. */
function stepOf(app: App, organizationId: string, messageId: string) {
  return {
    organizationId,
    messageId,
    recipientId: 'rcp_1',
    eventType: 'sent' as const,
    status: 'sent',
    timestamp: app.clock.now(),
    metadata: { recipient: 'ada@example.com', reply: 'quoted "ök"\n' },
  };
}

/** Records a step for each message; returns their ids. */
export async function recordSteps(
  app: App,
  trx: Db,
  organizationId: string,
  ids: readonly string[],
) {
  await recordTimeline(
    app,
    trx,
    ids.map((id) => stepOf(app, organizationId, id)),
  );
}

/** Records an event of a resource whose data has about this many characters. */
export async function recordResource(
  app: App,
  trx: Db,
  organizationId: string,
  id: string,
  size = 10,
) {
  const event = {
    type: 'contact.updated',
    data: { id, name: 'x'.repeat(size) },
    facts: { by: 'a' },
  };
  await recordEvents(app, trx, organizationId, [{ subject: id, event }]);
}

/** Returns the texts of all leaves of an organization, in the order of ids. */
export async function leafTexts(app: App, organizationId: string): Promise<string[]> {
  const { rows } = await sql<Record<string, string | number | null>>`
    select id, event_type, message_id as subject, recipient_id, status, timestamp,
      null as data, metadata as facts, 'message.' as prefix
    from events where organization_id = ${organizationId} and event_type not in ('queued', 'processing')
    union all
    select id, event_type, subject, null, '', timestamp, data, facts, ''
    from resource_events where organization_id = ${organizationId}
    order by id`.execute(app.store.db);
  const parsed = (text: unknown) => (text === null ? null : JSON.parse(String(text)));
  return rows
    .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
    .map((row) =>
      JSON.stringify([
        row.id,
        organizationId,
        `${row.prefix}${row.event_type}`,
        row.subject,
        row.recipient_id,
        row.status,
        Number(row.timestamp),
        parsed(row.data),
        parsed(row.facts),
      ]),
    );
}
