// SQL of erasures in messages: contacts in recipients, and names in origins.
import { sql } from 'kysely';
import { type Db, tables } from '../../../platform/store/db.ts';
import { type MessageTables, own } from '../queries.ts';

/**
 * Removes a contact and the name from up to `most` recipients with this contact. Addresses stay.
 * Returns the number of changed recipients.
 */
export async function forgetRecipients(trx: Db, contactId: string, most: number): Promise<number> {
  const { rows } = await sql<{ message_id: string; position: number }>`
    select message_id, position from recipients where contact_id = ${contactId}
    order by message_id, position limit ${most}`.execute(trx);
  for (const { message_id, position } of rows) {
    await tables<MessageTables>(trx)
      .updateTable('recipients')
      .set({ name: null, contact_id: null })
      .where('message_id', '=', message_id)
      .where('position', '=', position)
      .execute();
  }
  return rows.length;
}

export const eraseSenderNames = own.namesIn('messages', { origin: 'origin' });
