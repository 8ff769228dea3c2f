// Members of a double opt-in group: contacts that were asked to confirm it. Adding a member never
// counts as consent: only the button behind the link in the mail does (confirm.ts).
import { openAllowances } from '../../access/admission/quota.ts';
import { refusedServiceMail } from '../../access/keys/constraints.ts';
import { type CursorPage, cutPage, readCursor } from '../../core/api/cursor.ts';
import { readByTime } from '../../core/api/filtered-page.ts';
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { findBlocked } from '../../people/blocks/suppression.ts';
import { findAddressed, lockContacts } from '../../people/contacts/queries.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { unsubscribeGroupNoun } from '../../people/unsubscribe-groups/schema.ts';
import { ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { added, addressesLeft, checkAsking, optInGroup, readTexts, unasked } from './asking.ts';
import {
  type ConfirmationRow,
  findConfirmations,
  insertConfirmations,
  removeMembers as removeRows,
  selectMembers,
  updateConfirmation,
} from './queries.ts';
import type { AddedMember, ListMembers, Member } from './schema.ts';

function present(row: ConfirmationRow): Member {
  const isConfirmed = row.status === 'confirmed';
  return {
    contactId: row.contact_id,
    status: isConfirmed ? 'confirmed' : 'pending',
    confirmedAt: isConfirmed ? isoTime(row.confirmed_at) : null,
    mails: row.mails,
    lastMailAt: isoTime(row.mailed_at),
    linkExpiresAt: isoTime(row.expires_at),
    nextMailAt: isoTime(row.due_at),
    waitReason: row.due_at === null ? null : row.wait_reason,
    createdAt: isoTime(row.created_at),
  };
}

/**
 * Returns the addresses of locked contacts, in the order of `ids`. `places` has the ids in the
 * order of the request, for the position in the error.
 * @throws ResourceNotFoundError for an unknown contact; ValidationError for a contact without an
 * address.
 */
async function addressesOf(
  trx: Db,
  organizationId: string,
  ids: readonly string[],
  places: readonly string[],
): Promise<string[]> {
  const found = new Map(
    (await findAddressed(trx, organizationId, ids)).map(({ id, email }) => [id, email]),
  );
  return ids.map((id) => {
    const email = found.get(id);
    if (email === undefined) throw new ResourceNotFoundError('contact', id);
    if (email !== null) return email;
    throw ValidationError.of(`contactIds.${places.indexOf(id)}`, `${id} has no email address`);
  });
}

/**
 * Adds contacts to a double opt-in group and returns the result for each, in the order of the
 * request.
 * @throws ForbiddenError for a key that may not send at once, ResourceNotFoundError for an unknown
 * group or contact, ValidationError for a contact without an address, ConflictError for a group
 * without `confirm` or an organization without a sender; nothing is added then
 */
export async function addMembers(
  app: App,
  caller: Caller,
  groupId: string,
  contactIds: readonly string[],
): Promise<{ items: AddedMember[] }> {
  const refused = refusedServiceMail(caller, 'asking contacts to confirm');
  if (refused) throw refused;
  const { organizationId } = caller;
  const keyId = callerId(caller);
  const ids = [...new Set(contactIds)].sort();
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    const allowances = await openAllowances(app, trx, [organizationId]);
    const group = await optInGroup(trx, organizationId, groupId);
    await lockContacts(trx, ids);
    const addresses = await addressesOf(trx, organizationId, ids, contactIds);
    await checkAsking(app, trx, allowances, { caller, groupId, addresses });
    const folded = addresses.map(foldAddress);
    const blocked = await findBlocked(trx, organizationId, folded);
    const left = await addressesLeft(trx, group, folded);
    const known = new Map(
      (await findConfirmations(trx, groupId, ids)).map((row) => [row.contact_id, row]),
    );
    const texts = await readTexts(trx, group);
    const results = ids.map((id, at) => {
      const address = folded[at] ?? '';
      const standing = { isBlocked: blocked.has(address), hasLeft: left.has(address) };
      return added(known.get(id) ?? unasked(group, id, now), standing, { now, keyId, texts });
    });
    const isNew = ({ contact_id }: ConfirmationRow) => !known.has(contact_id);
    const rows = results.map(({ row }) => row);
    const changed = rows.filter((row) => row !== known.get(row.contact_id));
    await insertConfirmations(trx, changed.filter(isNew));
    for (const row of changed) if (!isNew(row)) await updateConfirmation(trx, row);
    if (changed.length > 0) {
      const details = { members: { asked: changed.length } };
      const action = unsubscribeGroupNoun.updated;
      await record(app, trx, caller, { subject: groupId, action, details });
    }
    const items = new Map(
      results.map(({ row, result }) => [row.contact_id, { ...present(row), result }]),
    );
    return { items: [...new Set(contactIds)].flatMap((id) => items.get(id) ?? []) };
  });
}

/**
 * Returns a page of members, the newest contact first. @throws ResourceNotFoundError,
 * ValidationError (cursor)
 */
export async function listMembers(
  app: App,
  { organizationId }: Caller,
  groupId: string,
  { status, limit, cursor, ...times }: ListMembers,
): Promise<CursorPage<Member>> {
  const { db } = app.store;
  await unsubscribeGroups.get(db, organizationId, groupId);
  const { from, to } = boundsOf(times);
  const scope = ['unsubscribe-group-members', groupId, status, from, to];
  const page = {
    ...(status !== undefined && { status }),
    ...(cursor !== undefined && { before: readCursor(scope, cursor).id }),
    within: createdWithin(times),
    limit: limit + 1,
  };
  const rows = await readByTime(app.store, organizationId, times, (on) =>
    selectMembers(on, groupId, page),
  );
  const { shown, nextCursor } = cutPage(scope, rows, limit, (row) => ({
    at: row.created_at,
    id: row.contact_id,
  }));
  return { items: shown.map(present), nextCursor };
}

/**
 * Removes contacts from a group. They get no campaign of the group until they confirm again.
 * Contacts outside of the group are ignored. @throws ResourceNotFoundError
 */
export function removeMembers(
  app: App,
  caller: Caller,
  groupId: string,
  contactIds: readonly string[],
): Promise<{ removed: number }> {
  const { organizationId } = caller;
  const ids = [...new Set(contactIds)].sort();
  return app.store.write(async (trx) => {
    await unsubscribeGroups.get(trx, organizationId, groupId);
    await lockContacts(trx, ids);
    const removed = await removeRows(trx, groupId, ids);
    if (removed > 0) {
      const details = { members: { removed } };
      const action = unsubscribeGroupNoun.updated;
      await record(app, trx, caller, { subject: groupId, action, details });
    }
    return { removed };
  });
}
