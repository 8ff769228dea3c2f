// All SQL on `webhook_bodies`: what is posted of an event. Rows only.
import { sql } from 'kysely';
import { change, type Db, idList, isOneOf, statement, tables } from '../store/db.ts';
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

/** The bodies that are kept, by event: read up to `budget` bytes in all, null beyond. */
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

/** False where there is one of this event already. */
export async function insertBody(trx: Db, row: BodyRow): Promise<boolean> {
  return (await keepBody(trx, row)) > 0;
}

/** Puts a body in the place of the one that is kept, if any. */
export async function replaceBody(trx: Db, row: BodyRow): Promise<void> {
  await tables<WebhookTables>(trx)
    .insertInto('webhook_bodies')
    .values(row)
    .onConflict((conflict) => conflict.column('event_id').doUpdateSet({ body: row.body }))
    .execute();
}

/** Events of a message that were to be delivered, once each. */
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
