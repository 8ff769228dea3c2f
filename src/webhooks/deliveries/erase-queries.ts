// SQL that erases posted bodies of events, and the receivers' responses, which may echo them. Rows
// only.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { WebhookTables } from '../rows.ts';

const own = ownTables<WebhookTables>();

/** Replaces the body of an event, if a body is stored. */
export async function setBody(trx: Db, eventId: string, body: string): Promise<void> {
  await tables<WebhookTables>(trx)
    .updateTable('webhook_bodies')
    .set({ body })
    .where('event_id', '=', eventId)
    .execute();
}

/** Clears up to `limit` responses in attempts of a resource event; returns the number. */
export function clearAnswersOfEvent(trx: Db, eventId: string, limit: number): Promise<number> {
  return clearAnswers(trx, sql`event_id = ${eventId} and message_id is null`, limit);
}

/** Clears up to `limit` responses in attempts of all events on a message; returns the number. */
export function clearAnswersOfMessage(trx: Db, messageId: string, limit: number): Promise<number> {
  return clearAnswers(trx, sql`message_id = ${messageId}`, limit);
}

async function clearAnswers(
  trx: Db,
  deliveries: ReturnType<typeof sql>,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`update webhook_attempts set response = null where id in (
    select a.id from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id
    where ${deliveries} and a.response is not null limit ${limit})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Erases names in posted bodies. */
export const eraseBodyNames = own.namesIn('webhook_bodies', { body: 'body' }, { key: 'event_id' });

/** Erases names in responses, which may echo a body. */
export const eraseAnswerNames = own.namesIn('webhook_attempts', { response: 'response' });
