// Deletes contacts. Recipients of messages lose the contact and keep the address. Ledgers of
// campaign runs keep only the id. Blocks stay, so that an opt-out survives. This file is with the
// messages, because contacts must not depend on messages.

import type { Deleted } from '../../../core/api/resource-schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { requestErasure } from '../../../history/erasures/request.ts';
import { deletedResource } from '../../../history/events/log.ts';
import { eventToRecord, record } from '../../../history/events/record.ts';
import { contactDeleted } from '../../../people/contacts/events.ts';
import { contacts, deleteContactRow, lockContacts } from '../../../people/contacts/queries.ts';
import { contactNoun } from '../../../people/contacts/schema.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { overwriting } from '../../../platform/store/rows/overwriting.ts';
import { forgetInLedger } from '../../../run-ledger/queries.ts';
import { forgetKeptResponse } from '../idempotency-queries.ts';
import { forgetRecipients } from './forget-queries.ts';

/** Most recipients per transaction, so that sends can commit in between. */
const recipientsPerTransaction = 1_000;

/**
 * Deletes a contact for good. The contact exists until the last transaction, so a repeated request
 * completes an interrupted deletion.
 * @throws ResourceNotFoundError.
 */
export async function deleteContact(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  let isGone = false;
  while (!isGone) {
    isGone = await app.store.write(async (trx) => {
      // Locks the contact: an update alone does not exclude transactions that only need the row to
      // exist. The lock keeps sends and groups from naming the contact meanwhile.
      await lockContacts(trx, [id]);
      const now = app.clock.now();
      const row = await contacts.update(trx, organizationId, id, { updated_at: now });
      const forgotten = await forgetRecipients(trx, id, recipientsPerTransaction);
      if (forgotten === recipientsPerTransaction) return false;
      const tags = fromJson<string[]>(row.tags) ?? [];
      await overwriting(trx, async () => {
        await forgetInLedger(trx, organizationId, id);
        await deleteContactRow(trx, organizationId, id, tags);
      });
      await forgetKeptResponse(trx, organizationId, id);
      await requestErasure(app, trx, { organizationId, id, kind: 'resource' });
      const event = eventToRecord(contactDeleted, deletedResource(id));
      await record(app, trx, caller, { subject: id, action: contactNoun.deleted, event });
      return true;
    });
  }
  return { success: true, message: `Contact ${id} is deleted` };
}
