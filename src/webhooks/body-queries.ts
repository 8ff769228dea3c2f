// All SQL on `webhook_bodies`: what is posted of an event. Rows only.
import { change, type Db, idList, isOneOf, statement, tables } from '../store/db.ts';
import type { BodyRow, DeliveryRow, WebhookTables } from './rows.ts';

const bodies = statement<WebhookTables, { ids: unknown }, Pick<BodyRow, 'event_id' | 'body'>>(
  (db, parameter) =>
    db
      .selectFrom('webhook_bodies')
      .select(['event_id', 'body'])
      .where(isOneOf(db, 'event_id', parameter('ids'))),
);

/** The bodies that are kept, by event. */
export async function findBodies(
  db: Db,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await bodies(db, { ids: idList(db, eventIds) });
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
