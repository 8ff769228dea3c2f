// All SQL on `webhook_bodies`: the posted body of each event. Rows only.
import { sql } from 'kysely';
import { change, type Db, idList, isOneOf, statement, tables } from '../platform/store/db.ts';
import type { BodyRow, DeliveryRow, WebhookTables } from './rows.ts';

interface Within {
  ids: unknown;
  budget: number;
}

const bodies = statement<WebhookTables, Within, { event_id: string; body: string | null }>(
  (db, parameter) => {
    const bytes = sql<number>`sum(octet_length(body)) over (order by event_id)`;
    const sized = db
      .selectFrom('webhook_bodies')
      .select(['event_id', bytes.as('bytes')])
      .where(isOneOf(db, 'event_id', parameter('ids')))
      .as('sized');
    return db
      .selectFrom(sized)
      .leftJoin('webhook_bodies as within', (join) =>
        join
          .onRef('within.event_id', '=', 'sized.event_id')
          .on('sized.bytes', '<=', parameter('budget')),
      )
      .select(['sized.event_id', 'within.body']);
  },
);

/** Returns stored bodies by event: up to `budget` bytes in all, null beyond. */
export async function findBodies(
  db: Db,
  eventIds: readonly string[],
  budget: number,
): Promise<Map<string, string | null>> {
  const rows = await bodies(db, { ids: idList(db, eventIds), budget });
  return new Map(rows.map(({ event_id, body }) => [event_id, body]));
}

const keepBody = change<WebhookTables, BodyRow>((db, parameter) =>
  db
    .insertInto('webhook_bodies')
    .values({
      event_id: parameter('event_id'),
      organization_id: parameter('organization_id'),
      message_id: parameter('message_id'),
      body: parameter('body'),
      created_at: parameter('created_at'),
    })
    .onConflict((conflict) => conflict.column('event_id').doNothing()),
);

/** Inserts a body. Returns false if the event has one already. */
export async function insertBody(trx: Db, row: BodyRow): Promise<boolean> {
  return (await keepBody(trx, row)) > 0;
}

/** Inserts a body, or replaces the stored one. */
export async function replaceBody(trx: Db, row: BodyRow): Promise<void> {
  await tables<WebhookTables>(trx)
    .insertInto('webhook_bodies')
    .values(row)
    .onConflict((conflict) => conflict.column('event_id').doUpdateSet({ body: row.body }))
    .execute();
}

/** Returns the distinct events of a message that have deliveries. */
export function eventsOfMessage(
  db: Db,
  messageId: string,
): Promise<Pick<DeliveryRow, 'organization_id' | 'event_id' | 'event_type' | 'created_at'>[]> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => [
      'organization_id',
      'event_id',
      'event_type',
      fn.min<number>('created_at').as('created_at'),
    ])
    .where('message_id', '=', messageId)
    .groupBy(['organization_id', 'event_id', 'event_type'])
    .orderBy('event_id')
    .execute();
}
