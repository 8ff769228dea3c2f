// Confirms a member of a double opt-in group on behalf of the person: by the link in the mail
// (confirm.ts), or because the person subscribes again.
import type { App } from '../../core/app.ts';
import { byService, record } from '../../history/events/record.ts';
import { type Leaving, liftLeave } from '../../outbound/unsubscribe-links/leave.ts';
import type { Leaver } from '../../outbound/unsubscribe-links/tokens.ts';
import { findIdentitiesNamed, lockContacts } from '../../people/contacts/queries.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { type ConfirmationRow, findConfirmations, updateConfirmation } from './queries.ts';

/** Confirms a row; the transaction has locked the contact. */
export async function confirmMember(app: App, trx: Db, row: ConfirmationRow): Promise<void> {
  const now = app.clock.now();
  await updateConfirmation(trx, { ...row, status: 'confirmed', confirmed_at: now, due_at: null });
  await record(app, trx, byService(row.organization_id), {
    subject: row.group_id,
    action: 'unsubscribe-group.confirmed',
    details: { contactId: row.contact_id, by: 'recipient' },
  });
}

/**
 * Locks the contact if `address` is the first address of that contact. Returns the confirmation if
 * the contact is a pending member of the group; else null.
 */
async function lockPending(
  trx: Db,
  { organizationId, groupId, address }: Pick<Leaver, 'organizationId' | 'groupId' | 'address'>,
): Promise<ConfirmationRow | null> {
  const [identity] = await findIdentitiesNamed(trx, organizationId, [foldAddress(address)]);
  if (identity?.position !== 0) return null;
  await lockContacts(trx, [identity.contact_id]);
  const [row] = await findConfirmations(trx, groupId, [identity.contact_id]);
  return row?.status === 'pending' ? row : null;
}

/**
 * Takes an unsubscription back. If this lifts the block of a double opt-in group, it also confirms
 * a pending member: the person asked for the group's mail.
 */
export async function comeBack(app: App, trx: Db, leaving: Leaving): Promise<void> {
  // Contacts are locked before blocks, in this order everywhere.
  const pending = leaving.scope === 'group' ? await lockPending(trx, leaving) : null;
  const isLifted = await liftLeave(app, trx, leaving);
  if (isLifted && pending) await confirmMember(app, trx, pending);
}
