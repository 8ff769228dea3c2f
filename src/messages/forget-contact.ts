// Forgetting a contact: it is taken out of the recipients of messages too, whose addresses stay with them. Its
// blocks stay: who wanted no mail gets none. Stands here, as contacts know no messages.
import type { Deleted } from '../api/resource-schema.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { contactDeleted } from '../contacts/events.ts';
import { contacts, deleteContactRow, lockContacts } from '../contacts/queries.ts';
import { requestErasure } from '../erasures/request.ts';
import { deletedResource } from '../events/log.ts';
import { record, told } from '../events/record.ts';
import { fromJson } from '../store/db.ts';
import { overwriting } from '../store/overwriting.ts';
import { forgetRecipients } from './queries.ts';

/** So many recipients a transaction: sends go on between. */
const recipientsPerTransaction = 1_000;

/**
 * Deletes a contact for good. Until the last transaction it is there, so that a deletion that was cut
 * off is done by asking again.
 * @throws ResourceNotFoundError.
 */
export async function deleteContact(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  let isGone = false;
  while (!isGone) {
    isGone = await app.store.write(async (trx) => {
      // An update alone lets those in who only need the row: no send names it meanwhile, no group takes it.
      await lockContacts(trx, [id]);
      const now = app.clock.now();
      const row = await contacts.update(trx, organizationId, id, { updated_at: now });
      const forgotten = await forgetRecipients(trx, id, recipientsPerTransaction);
      if (forgotten === recipientsPerTransaction) return false;
      const tags = fromJson<string[]>(row.tags) ?? [];
      await overwriting(trx, () => deleteContactRow(trx, organizationId, id, tags));
      await requestErasure(app, trx, { organizationId, id, kind: 'resource' });
      const event = told(contactDeleted, deletedResource(id));
      await record(app, trx, caller, { subject: id, action: 'contact.deleted', event });
      return true;
    });
  }
  return { success: true, message: `Contact ${id} is deleted` };
}
