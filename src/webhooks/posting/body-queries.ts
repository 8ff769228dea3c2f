// SQL on `webhook_bodies`: the posted body of each event. Rows only.
import { sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { BodyRow, DeliveryRow, WebhookTables } from '../rows.ts';

const own = ownTables<WebhookTables>();

/** Returns stored bodies by event. A body that exceeds the total of `budget` bytes is null. */
export const findBodies = own.all(
  (db, eventIds: readonly string[], budget: number) => {
    const bytes = sql<number>`sum(octet_length(body)) over (order by event_id)`;
    const sized = db
      .selectFrom('webhook_bodies')
      .select(['event_id', bytes.as('bytes')])
      .where('event_id', ...isOneOf(db, eventIds))
      .as('sized');
    return db
      .selectFrom(sized)
      .leftJoin('webhook_bodies as within', (join) =>
        join.onRef('within.event_id', '=', 'sized.event_id').on('sized.bytes', '<=', budget),
      )
      .select(['sized.event_id', 'within.body']);
  },
  (rows) => new Map(rows.map(({ event_id, body }) => [event_id, body])),
);

/** Inserts a body. Returns false if the event already has a body. */
export const insertBody = own.change(
  (db, row: BodyRow) =>
    db
      .insertInto('webhook_bodies')
      .values({
        event_id: row.event_id,
        organization_id: row.organization_id,
        message_id: row.message_id,
        body: row.body,
        created_at: row.created_at,
      })
      .onConflict((conflict) => conflict.column('event_id').doNothing()),
  (count) => count > 0,
);

/** Inserts a body, or replaces the stored body. */
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
