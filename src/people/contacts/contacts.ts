// Contacts, the resource (specification 2.6, 4.5): a function per verb. Deletion is in
// src/outbound/messages/forget/forget-contact.ts, because it also changes messages. present.ts
// derives the status of a contact from blocks.
import { readFilteredPage, searchInTime } from '../../core/api/filtered-page.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Caller } from '../../core/api/route.ts';
import {
  keptTags,
  type TagsAfter,
  tagMoves,
  uniqueTags,
  withoutTags,
  withTags,
} from '../../core/api/tag-list.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { orAgain } from '../../platform/store/again.ts';
import { type Db, fromJson, type Store, toJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { findRefusedMembers, memberRefusalWords } from '../blocks/member-refusals.ts';
import { contactCreated, contactUpdated } from './events.ts';
import { type ContactFilter, countContacts, listContactIds } from './list-queries.ts';
import { presentContact, presentContacts } from './present.ts';
import * as queries from './queries.ts';
import {
  type Contact,
  type CreateContact,
  contactNoun,
  type ListContacts,
  mostTags,
  type UpdateContact,
} from './schema.ts';
import { searchContacts } from './search.ts';
import { wordsOf } from './words.ts';

/**
 * Returns the addresses of an input, without repeats that differ only in case. Undefined if the
 * input has neither `email` nor `identities`.
 */
function addressesIn({ email, identities }: UpdateContact): string[] | undefined {
  const given = email === undefined ? identities?.map(({ identifier }) => identifier) : [email];
  if (given === undefined) return undefined;
  const byFolded = new Map<string, string>();
  for (const address of given) {
    const folded = foldAddress(address);
    if (!byFolded.has(folded)) byFolded.set(folded, address);
  }
  return [...byFolded.values()];
}

/**
 * Builds identity rows in the given order. An address that the contact already has keeps the id and
 * the proof of ownership.
 */
function identityRows(
  app: App,
  { id, organization_id }: queries.ContactRow,
  addresses: readonly string[],
  known: readonly queries.IdentityRow[] = [],
): queries.IdentityRow[] {
  const kept = new Map(known.map((row) => [row.folded_identifier, row]));
  return addresses.map((identifier, position) => {
    const folded = foldAddress(identifier);
    const own = kept.get(folded);
    return {
      organization_id,
      folded_identifier: folded,
      id: own?.id ?? app.newId('contactIdentity'),
      contact_id: id,
      position,
      identifier,
      verified_at: own?.verified_at ?? null,
    };
  });
}

/** Maps an input to columns. Undefined columns stay unchanged. */
function columnsOf(input: UpdateContact) {
  const { name, displayName, avatar, externalId, status, profile, preferences, metadata } = input;
  const json = (value: unknown) => (value === undefined ? undefined : toJson(value));
  return {
    name,
    display_name: displayName,
    avatar,
    external_id: externalId,
    is_archived: status === undefined ? undefined : Number(status === 'archived'),
    profile: json(profile),
    preferences: json(preferences),
    metadata: json(metadata),
  };
}

function newRow(app: App, caller: Caller, input: CreateContact): queries.ContactRow {
  const columns = columnsOf(input);
  const now = app.clock.now();
  return {
    id: app.newId(contactNoun),
    organization_id: caller.organizationId,
    name: columns.name ?? null,
    display_name: columns.display_name ?? null,
    avatar: columns.avatar ?? null,
    external_id: columns.external_id ?? null,
    is_archived: columns.is_archived ?? 0,
    profile: columns.profile ?? null,
    preferences: columns.preferences ?? null,
    tags: toJson(uniqueTags(input.tags)),
    metadata: columns.metadata ?? null,
    created_at: now,
    updated_at: now,
  };
}

/** @throws ConflictError naming the contact that has any of the addresses, or the external id. */
async function assertFree(
  db: Db,
  organizationId: string,
  ownId: string | null,
  addresses: readonly string[],
  externalId: string | null | undefined,
): Promise<void> {
  const folded = addresses.map(foldAddress);
  const named = await queries.findIdentitiesNamed(db, organizationId, folded);
  const taken = named.find(({ contact_id }) => contact_id !== ownId);
  if (taken) {
    const { identifier, contact_id } = taken;
    throw new ConflictError('contact', `${identifier} is already an address of ${contact_id}`);
  }
  if (externalId === null || externalId === undefined) return;
  const other = await queries.findByExternalId(db, organizationId, externalId);
  if (!other || other.id === ownId) return;
  throw new ConflictError('contact', `${other.id} already has the external id ${externalId}`);
}

/**
 * Creates a contact. @throws ConflictError naming the contact that has the address, or external id.
 */
export function createContact(app: App, caller: Caller, input: CreateContact): Promise<Contact> {
  const { organizationId } = caller;
  const row = newRow(app, caller, input);
  const identities = identityRows(app, row, addressesIn(input) ?? []);
  const addresses = identities.map(({ identifier }) => identifier);
  const make = () =>
    app.store.write(async (trx) => {
      await assertFree(trx, organizationId, null, addresses, row.external_id);
      await queries.insertContact(trx, row, identities, fromJson<string[]>(row.tags) ?? []);
      const contact = await presentContact(trx, row);
      const details = { email: addresses[0], tags: contact.tags };
      const event = eventToRecord(contactCreated, contact);
      await record(app, trx, caller, {
        subject: row.id,
        action: contactNoun.created,
        details,
        event,
      });
      return contact;
    });
  return orAgain(make);
}

/** Rows of a page: `limit` rows after the first `offset` rows. */
interface Range {
  limit: number;
  offset: number;
}

/**
 * Lists contacts for filters with a cheap total: no filter or a tag (both have counters), an email
 * or an external id.
 */
async function listed(db: Db, filter: ContactFilter, range: Range) {
  const [ids, total] = await Promise.all([
    listContactIds(db, filter, range),
    countContacts(db, filter),
  ]);
  return { ids, total };
}

async function filtered(store: Store, filter: ContactFilter, range: Range) {
  const { organizationId } = filter;
  const byTime = filter.updatedSince === undefined ? 'after' : 'updatedSince';
  const field = filter.status === undefined ? byTime : 'status';
  const { rows, total } = await readFilteredPage(store, {
    organizationId,
    field,
    rows: (db) => listContactIds(db, filter, range),
    total: (db) => countContacts(db, filter),
  });
  return { ids: rows, total };
}

async function found(store: Store, filter: ContactFilter, q: string, { limit, offset }: Range) {
  const search = { words: wordsOf(q), prefix: foldAddress(q) };
  const ids = await searchInTime(store, filter.organizationId, 'q', (db) =>
    searchContacts(db, filter, search),
  );
  return { ids: ids.slice(offset, offset + limit), total: ids.length };
}

/**
 * Lists a page of contacts, newest first. Exceptions: with `updatedSince` alone the last changed
 * contact comes first; with a status that follows from blocks, the last blocked contact.
 */
export async function listContacts(
  app: App,
  { organizationId }: Caller,
  query: ListContacts,
): Promise<Page<Contact>> {
  const { db } = app.store;
  const { page, limit, tag, email, externalId, status, q, updatedSince } = query;
  const { from, to } = boundsOf(query);
  const filter: ContactFilter = {
    organizationId,
    createdFrom: from,
    createdTo: to,
    tag,
    externalId,
    status,
    foldedEmail: email && foldAddress(email),
    updatedSince: updatedSince === undefined ? undefined : Date.parse(updatedSince),
  };
  const range = { limit, offset: (page - 1) * limit };
  const isPlain = [status, updatedSince, from, to].every((bound) => bound === undefined);
  const read = () => (isPlain ? listed(db, filter, range) : filtered(app.store, filter, range));
  const { ids, total } = q === undefined ? await read() : await found(app.store, filter, q, range);
  const rows = await queries.findContactRows(db, organizationId, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const shown = ids.flatMap((id) => byId.get(id) ?? []);
  const contacts = await presentContacts(db, organizationId, shown);
  return toPage(await withRefusedMembers(app, organizationId, contacts), total, query);
}

/** Returns a contact. @throws ResourceNotFoundError. */
export async function getContact(app: App, caller: Caller, id: string): Promise<Contact> {
  const { db } = app.store;
  const { organizationId } = caller;
  const contact = await presentContact(db, await queries.contacts.get(db, organizationId, id));
  const [whole = contact] = await withRefusedMembers(app, organizationId, [contact]);
  return whole;
}

/** Explains in a null `statusReason` that addresses behind the first email refused mail. */
async function withRefusedMembers(
  app: App,
  organizationId: string,
  contacts: readonly Contact[],
): Promise<Contact[]> {
  const firstOf = ({ identities: [first], statusReason }: Contact) =>
    statusReason === null ? first?.identifier : undefined;
  const emails = contacts.flatMap((contact) => firstOf(contact) ?? []);
  const refused = await findRefusedMembers(app, organizationId, emails);
  if (refused.size === 0) return [...contacts];
  return contacts.map((contact) => {
    const email = firstOf(contact);
    const isRefused = email !== undefined && refused.has(foldAddress(email));
    return isRefused ? { ...contact, statusReason: memberRefusalWords(email) } : contact;
  });
}

/** Updates the index of tags from the tags in `row` to `tags`. */
async function moveTags(trx: Db, row: queries.ContactRow, tags: readonly string[]): Promise<void> {
  const { lost, found } = tagMoves(fromJson<string[]>(row.tags) ?? [], tags);
  if (lost.length > 0) await queries.removeTags(trx, row, lost);
  await queries.addTags(trx, row, found);
}

/**
 * Changes to a contact. `addresses` replaces all addresses; `tags` maps the present tags to new
 * tags.
 */
interface ContactChange {
  columns?: ReturnType<typeof columnsOf>;
  addresses?: readonly string[] | undefined;
  tags?: TagsAfter | undefined;
}

function change(
  app: App,
  caller: Caller,
  id: string,
  { columns, addresses, tags }: ContactChange,
): Promise<Contact> {
  const { organizationId } = caller;
  const run = () =>
    app.store.write(async (trx) => {
      const now = app.clock.now();
      // Locks the row, because the following decisions depend on its columns.
      const row = await queries.contacts.update(trx, organizationId, id, { updated_at: now });
      const before = await presentContact(trx, row);
      await assertFree(trx, organizationId, id, addresses ?? [], columns?.external_id);
      const newTags = tags && keptTags(before.tags, tags(before.tags));
      if (newTags) await moveTags(trx, row, newTags);
      const json = newTags && { tags: toJson(newTags) };
      const changed = await queries.contacts.update(trx, organizationId, id, {
        ...columns,
        ...json,
        updated_at: now,
      });
      await queries.moveWords(trx, row, changed);
      if (addresses) {
        const known = await queries.findIdentities(trx, [id]);
        await queries.setIdentities(trx, id, identityRows(app, row, addresses, known));
      }
      const contact = await presentContact(trx, { ...changed, updated_at: now });
      const { updatedAt: _now, ...after } = contact;
      const changes = changesOf(before, { ...before, ...after, updatedAt: before.updatedAt });
      if (Object.keys(changes).length > 0) {
        const event = eventToRecord(contactUpdated, contact);
        const details = changes;
        await record(app, trx, caller, {
          subject: id,
          action: contactNoun.updated,
          details,
          event,
        });
      }
      return contact;
    });
  return orAgain(run);
}

/** Changes the given fields. @throws ResourceNotFoundError; ConflictError as `createContact`. */
export function updateContact(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateContact,
): Promise<Contact> {
  const { tags } = input;
  const columns = columnsOf(input);
  const addresses = addressesIn(input);
  return change(app, caller, id, { columns, addresses, tags: tags && (() => tags) });
}

/**
 * Adds tags and keeps existing tags.
 * @throws ResourceNotFoundError; ValidationError above the limit of tags of a contact.
 */
export function addTags(
  app: App,
  caller: Caller,
  id: string,
  tags: readonly string[],
): Promise<Contact> {
  return change(app, caller, id, { tags: withTags(tags, mostTags, 'a contact') });
}

/** Removes tags. Ignores tags that the contact lacks. @throws ResourceNotFoundError. */
export function removeTags(
  app: App,
  caller: Caller,
  id: string,
  tags: readonly string[],
): Promise<Contact> {
  return change(app, caller, id, { tags: withoutTags(tags) });
}
