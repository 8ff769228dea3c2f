// Groups of contacts, the resource: lists filled by hand, while tags describe a contact. A request
// adds or removes many members. A deleted contact leaves all groups. A group may instead have a
// query: each read then finds the contacts that match now.
import { type Page, toPage } from '../../../core/api/pagination.ts';
import type { Deleted } from '../../../core/api/resource-schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { changesOf } from '../../../history/audit/audit.ts';
import { plainNoun } from '../../../history/events/plain-noun.ts';
import { record } from '../../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../../platform/errors.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { presentContacts } from '../present.ts';
import { findContactRows } from '../queries.ts';
import type { Contact } from '../schema.ts';
import { countMembers, listQueryMembers } from './matches.ts';
import * as queries from './queries.ts';
import { type ContactQuery, campaignsIn } from './query-schema.ts';
import {
  type ContactGroup,
  type CreateContactGroup,
  contactGroupFields,
  contactGroupNoun,
  type ListContactGroups,
  type UpdateContactGroup,
} from './schema.ts';

/** Members removed per transaction while a group is deleted. */
const membersPerTransaction = 5_000;

const byQuery =
  'The members of this group follow from its query: change the query, or create a group without one';
const withoutQuery = 'This group has members by hand: create a group with the query';

function present(row: queries.ContactGroupRow): ContactGroup {
  return contactGroupFields.present(row, {
    memberCount: row.query === null ? row.member_count : null,
  });
}

function settings(row: queries.ContactGroupRow) {
  const { query, ...others } = contactGroupFields.settings(row);
  return query === null ? others : { ...others, query };
}

const { create, list, get } = plainNoun({
  noun: contactGroupNoun,
  rows: queries.contactGroups,
  fields: {
    ...contactGroupFields,
    present,
    settings,
    created: (input: CreateContactGroup) => ({
      ...contactGroupFields.created(input),
      member_count: 0,
    }),
  },
});

/** @throws ResourceNotFoundError for an unknown campaign. */
async function assertCampaigns(app: App, organizationId: string, query: ContactQuery) {
  const ids = campaignsIn(query);
  if (ids.length === 0) return;
  const known = new Set(await app.hooks.findKnownCampaigns(app.store.db, organizationId, ids));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw new ResourceNotFoundError('campaign', unknown);
}

/**
 * Creates an empty group, or a group with a query.
 * @throws ResourceNotFoundError for an unknown campaign in the query.
 */
export async function createContactGroup(
  app: App,
  caller: Caller,
  input: CreateContactGroup,
): Promise<ContactGroup> {
  if (input.query) await assertCampaigns(app, caller.organizationId, input.query);
  return create(app, caller, input);
}

export { list as listContactGroups };

/** Returns a group; with a query, counts the members now. @throws ResourceNotFoundError. */
export async function getContactGroup(app: App, caller: Caller, id: string): Promise<ContactGroup> {
  const group = await get(app, caller, id);
  if (group.query === null) return group;
  const { organizationId } = caller;
  const asked = { organizationId, query: group.query, at: app.clock.now() };
  return { ...group, memberCount: await countMembers(app.store, asked) };
}

/**
 * Changes the given fields. @throws ResourceNotFoundError; ConflictError for a query if the group
 * was created without a query.
 */
export async function updateContactGroup(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateContactGroup,
): Promise<ContactGroup> {
  const { organizationId } = caller;
  const { query } = input;
  if (query) await assertCampaigns(app, organizationId, query);
  return app.store.write(async (trx) => {
    await queries.lockGroups(trx, [id]);
    const row = await queries.contactGroups.get(trx, organizationId, id);
    if (query && row.query === null) throw new ConflictError('contact-group', withoutQuery);
    const change = { ...contactGroupFields.changed(input), updated_at: app.clock.now() };
    const changed = await queries.contactGroups.update(trx, organizationId, id, change);
    const details = changesOf(settings(row), settings(changed));
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: id, action: contactGroupNoun.updated, details });
    }
    return present(changed);
  });
}

/**
 * Deletes a group and keeps the members as contacts. The group exists until the last transaction,
 * so a repeated request completes an interrupted deletion.
 * @throws ResourceNotFoundError.
 */
export async function deleteContactGroup(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  const step = () =>
    app.store.write(async (trx) => {
      await queries.lockGroups(trx, [id]);
      await queries.contactGroups.get(trx, organizationId, id);
      const range = { limit: membersPerTransaction, offset: 0 };
      const members = await queries.selectMemberIds(trx, id, range);
      if (members.length === membersPerTransaction) {
        await queries.removeMembers(trx, id, members);
        return false;
      }
      const { name } = await queries.contactGroups.remove(trx, organizationId, id);
      const change = { subject: id, details: { name } };
      await record(app, trx, caller, { ...change, action: contactGroupNoun.deleted });
      return true;
    });
  while (!(await step()));
  return { success: true, message: `Contact group ${id} is deleted` };
}

/** Returns a page of the contacts of a group, newest first. @throws ResourceNotFoundError. */
export async function listMembers(
  app: App,
  { organizationId }: Caller,
  id: string,
  query: ListContactGroups,
): Promise<Page<Contact>> {
  const { db } = app.store;
  const { page, limit } = query;
  const range = { limit, offset: (page - 1) * limit };
  const row = await queries.contactGroups.get(db, organizationId, id);
  const conditions = fromJson<ContactQuery>(row.query);
  const asked = conditions && { organizationId, query: conditions, at: app.clock.now() };
  const [ids, total] = asked
    ? await Promise.all([listQueryMembers(app.store, asked, range), countMembers(app.store, asked)])
    : [await queries.selectMemberIds(db, id, range), row.member_count];
  const rows = await findContactRows(db, organizationId, ids);
  const newestFirst = rows.sort((a, b) => (a.id < b.id ? 1 : -1));
  return toPage(await presentContacts(db, organizationId, newestFirst), total, query);
}

function changeMembers(
  app: App,
  caller: Caller,
  id: string,
  contactIds: readonly string[],
  way: 'added' | 'removed',
): Promise<ContactGroup> {
  const { organizationId } = caller;
  const ids = [...new Set(contactIds)].sort();
  return app.store.write(async (trx) => {
    // Locks contacts before the group, in the same order as deleting a contact.
    const known = new Set((await findContactRows(trx, organizationId, ids)).map((row) => row.id));
    await queries.lockGroups(trx, [id]);
    const row = await queries.contactGroups.get(trx, organizationId, id);
    if (row.query !== null) throw new ConflictError('contact-group', byQuery);
    const missing = ids.find((one) => !known.has(one));
    if (missing !== undefined && way === 'added')
      throw new ResourceNotFoundError('contact', missing);
    const work = way === 'added' ? queries.addMembers : queries.removeMembers;
    const count = await work(trx, id, ids);
    if (count === 0) return present(row);
    const changed = await queries.contactGroups.update(trx, organizationId, id, {
      updated_at: app.clock.now(),
    });
    const details = { members: { [way]: count } };
    await record(app, trx, caller, { subject: id, action: contactGroupNoun.updated, details });
    const more = way === 'added' ? count : -count;
    return present({ ...changed, member_count: row.member_count + more });
  });
}

/**
 * Adds contacts and keeps existing members. Adds nothing if it throws. @throws
 * ResourceNotFoundError for an unknown group or contact; ConflictError for a group with a query.
 */
export function addGroupMembers(app: App, caller: Caller, id: string, ids: readonly string[]) {
  return changeMembers(app, caller, id, ids, 'added');
}

/**
 * Removes contacts. Ignores contacts outside the group.
 * @throws ResourceNotFoundError; ConflictError for a group with a query.
 */
export function removeGroupMembers(app: App, caller: Caller, id: string, ids: readonly string[]) {
  return changeMembers(app, caller, id, ids, 'removed');
}
