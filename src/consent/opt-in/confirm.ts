// Reads and uses the link in the mail that asks a person for confirmation.
//
//   link                                      | GET shows              | POST
//   ------------------------------------------+------------------------+------------------------------------
//   open: younger than 7 days, not used       | a button               | the contact is confirmed; a block of
//                                             |                        | this group on the address is lifted
//   used: the confirmation is as new as the   | day of the             | as GET
//   mail                                      | confirmation           |
//   expired: older than 7 days                | the way to a new link  | as GET
//   void: the member was removed, the contact | the same               | as GET
//   or group deleted, or the address changed  |                        |
//
// Blocks of all mail stay: the person answered about a single group.
import type { App } from '../../core/app.ts';
import { groupsLeft, liftLeave } from '../../outbound/unsubscribe-links/leave.ts';
import { findAddressed, lockContacts } from '../../people/contacts/queries.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { confirmMember } from './confirm-member.ts';
import { linkLivesMs } from './limits.ts';
import { type ConfirmationRow, findConfirmations } from './queries.ts';
import type { Asked } from './tokens.ts';

export type LinkState =
  | { is: 'open' }
  | { is: 'used'; confirmedAt: number; hasLeft: boolean }
  | { is: 'expired' | 'void' };

/** Reads the state of a link at `now`, and the row. */
async function readLink(
  db: Db,
  asked: Asked,
  now: number,
): Promise<{ state: LinkState; row: ConfirmationRow | null }> {
  const { organizationId, groupId, contactId, mailedAt, address } = asked;
  const [row = null] = await findConfirmations(db, groupId, [contactId]);
  const [contact] = await findAddressed(db, organizationId, [contactId]);
  const isOther = foldAddress(contact?.email ?? '') !== foldAddress(address);
  if (!row || row.status === 'removed' || isOther) return { state: { is: 'void' }, row };
  const { status, confirmed_at: confirmedAt } = row;
  if (confirmedAt !== null && mailedAt <= confirmedAt) {
    if (status !== 'confirmed') return { state: { is: 'void' }, row };
    const hasLeft = (await groupsLeft(db, { organizationId, address }, [groupId])).size > 0;
    return { state: { is: 'used', confirmedAt, hasLeft }, row };
  }
  return { state: { is: now - mailedAt > linkLivesMs ? 'expired' : 'open' }, row };
}

export async function linkState(app: App, asked: Asked): Promise<LinkState> {
  return (await readLink(app.store.db, asked, app.clock.now())).state;
}

/** Confirms by an open link. Returns the state that the link had. */
export function confirm(app: App, asked: Asked): Promise<LinkState> {
  const { organizationId, groupId, contactId, address } = asked;
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    await lockContacts(trx, [contactId]);
    const { state, row } = await readLink(trx, asked, now);
    if (state.is !== 'open' || !row) return state;
    await confirmMember(app, trx, row);
    const leaver = { organizationId, groupId, address, messageId: null };
    await liftLeave(app, trx, { ...leaver, scope: 'group' });
    return state;
  });
}
