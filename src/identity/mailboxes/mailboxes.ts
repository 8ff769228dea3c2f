// Mailboxes (specification 2.5): the resource. The look-up of the mailbox for an address is in
// receivers.ts, rules for addresses in addresses.ts, catch-alls in catch-all.ts.
//
//   status   moved by  to       also
//   active   pause     paused   RCPT gets 450 4.2.1; mail from it answers 409
//   paused   resume    active   it sends and receives again
//   either   delete    deleted  the addresses are free, RCPT gets 550; no look-up finds it

import { refusedPermission } from '../../access/keys/constraints.ts';
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import type { EventKind } from '../../history/events/kinds.ts';
import { listLog } from '../../history/events/log.ts';
import {
  byService,
  type ChangeAuthor,
  eventToRecord,
  record,
} from '../../history/events/record.ts';
import type { LogItem } from '../../history/events/schema.ts';
import {
  ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
  ValidationError,
} from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import type { ReleaseName } from '../domains/hooks.ts';
import { resolveSender } from '../senders/resolve.ts';
import { keepReceiving, storeAddress } from './addresses.ts';
import { reachOf } from './bound-keys.ts';
import { deleteCatchAll, selectCaughtDomains } from './catch-all-queries.ts';
import * as events from './events.ts';
import { getMailboxRow, lockMailbox, present, toMailbox } from './mailbox-rows.ts';
import { firstNamespaceId } from './namespaces.ts';
import * as queries from './queries.ts';
import {
  type AddAddress,
  type CreateMailbox,
  createMailboxInput,
  type ListMailboxes,
  type Mailbox,
  type MailboxEvents,
  type MailboxFilters,
  mailboxNoun,
  type UpdateMailbox,
} from './schema.ts';

const noFilters: MailboxFilters = { allow: [], block: [] };

/**
 * Stores a mailbox inside a transaction, with audit entry and event.
 * @throws ValidationError (slug, address, a domain of another organization), ConflictError (slug or
 * address taken, domain not verified), ResourceNotFoundError (namespace).
 */
export async function storeMailbox(
  app: App,
  trx: Db,
  by: Caller | ChangeAuthor,
  input: CreateMailbox,
): Promise<Mailbox> {
  const wanted = parseWith(createMailboxInput, input, 'body');
  const { organizationId } = by;
  const { slug, domain, displayName = null, description = null, metadata, filters } = wanted;
  const namespaceId = wanted.namespaceId ?? firstNamespaceId(organizationId);
  await queries.namespaces.get(trx, organizationId, namespaceId);
  const named = wanted.address === undefined ? 'domain' : 'address';
  const field = domain === undefined && named === 'domain' ? 'slug' : named;
  const address = wanted.address ?? `${slug}@${domain ?? app.config.mailboxes.hostedDomain}`;
  const now = app.clock.now();
  const row: queries.MailboxRow = {
    id: app.newId('mailbox'),
    organization_id: organizationId,
    namespace_id: namespaceId,
    slug,
    display_name: displayName,
    description,
    status: 'active',
    primary_address: foldAddress(address),
    metadata: JSON.stringify(metadata ?? {}),
    filters: JSON.stringify(filters ?? noFilters),
    default_from: null,
    default_from_name: null,
    deleted_at: null,
    created_at: now,
    updated_at: now,
  };
  if (!(await queries.insertMailbox(trx, row))) {
    throw new ConflictError('mailbox', `A mailbox with the slug ${slug} exists already`);
  }
  await storeAddress(app, trx, row, { address, displayName, field });
  const mailbox = await present(trx, row);
  const details = { slug: row.slug, address: row.primary_address };
  const event = eventToRecord(events.mailboxCreated, mailbox);
  await record(app, trx, by, { subject: row.id, action: mailboxNoun.created, details, event });
  return mailbox;
}

/** Runs `storeMailbox` in a transaction. */
export function createMailbox(app: App, caller: Caller, mailbox: CreateMailbox): Promise<Mailbox> {
  return app.store.write((trx) => storeMailbox(app, trx, caller, mailbox));
}

/** Returns a page of the organization's mailboxes, newest first. */
export async function listMailboxes(
  app: App,
  caller: Caller,
  query: ListMailboxes,
): Promise<Page<Mailbox>> {
  const { organizationId } = caller;
  const { db } = app.store;
  const { status, namespaceId: namespace_id } = query;
  const filter = { equal: { status, namespace_id }, where: reachOf(app, caller) };
  const { rows, total } = await queries.mailboxes.page(db, organizationId, query, filter);
  const addresses = await queries.selectAddresses(
    db,
    rows.map(({ id }) => id),
  );
  const of = Map.groupBy(addresses, ({ mailbox_id }) => mailbox_id);
  return toPage(
    rows.map((row) => toMailbox(row, of.get(row.id) ?? [])),
    total,
    query,
  );
}

/** Returns a mailbox. @throws ResourceNotFoundError. */
export async function getMailbox(app: App, caller: Caller, id: string): Promise<Mailbox> {
  const { db } = app.store;
  return present(db, await getMailboxRow(db, caller.organizationId, id));
}

/** Audit action and kind of event by which a change is reported. */
interface Told {
  action: AuditAction;
  kind: EventKind & { sample: Mailbox };
}

const updated: Told = { action: mailboxNoun.updated, kind: events.mailboxUpdated };

/** Locks a mailbox and stores the columns that `decide` returns. Audits and publishes a change. */
function changeMailbox(
  app: App,
  by: Caller | ChangeAuthor,
  id: string,
  { action, kind }: Told,
  decide: (trx: Db, row: queries.MailboxRow) => Promise<Partial<queries.MailboxRow>>,
): Promise<Mailbox> {
  const { organizationId } = by;
  return app.store.write(async (trx) => {
    const row = await lockMailbox(trx, organizationId, id);
    const before = await present(trx, row);
    const change = await decide(trx, row);
    const wanted = await present(trx, { ...row, ...change });
    const details = changesOf(before, wanted);
    if (Object.keys(details).length === 0) return before;
    const updated_at = app.clock.now();
    await queries.mailboxes.update(trx, organizationId, id, { ...change, updated_at });
    const after = { ...wanted, updatedAt: isoTime(updated_at) };
    const event = eventToRecord(kind, after);
    await record(app, trx, by, { subject: id, action, details, event });
    return after;
  });
}

/** Returns the From address unchanged. @throws ValidationError if the mailbox may not use it. */
async function checkedFrom(
  trx: Db,
  { id, organization_id }: queries.MailboxRow,
  address: string,
): Promise<string> {
  const own = await queries.selectAddresses(trx, [id]);
  if (own.some((one) => one.address === foldAddress(address))) return address;
  await resolveSender(trx, organization_id, { email: address }).catch((error: unknown) => {
    if (!(error instanceof ForbiddenError)) throw error;
    throw ValidationError.of('defaultFrom.address', error.message);
  });
  return address;
}

/**
 * Changes the given fields. From address, From name and filters need `mailboxes:configure`.
 * @throws ForbiddenError, ResourceNotFoundError, ValidationError (defaultFrom).
 */
export async function updateMailbox(
  app: App,
  caller: Caller,
  id: string,
  { displayName, description, metadata, filters, defaultFrom }: UpdateMailbox,
): Promise<Mailbox> {
  const configured = [displayName, filters, defaultFrom].some((value) => value !== undefined);
  const refused = configured ? refusedPermission(caller, 'mailboxes:configure') : null;
  if (refused) throw refused;
  return changeMailbox(app, caller, id, updated, async (trx, row) => ({
    ...(displayName !== undefined && { display_name: displayName }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata ?? {}) }),
    ...(filters !== undefined && { filters: JSON.stringify(filters) }),
    ...(defaultFrom === null && { default_from: null, default_from_name: null }),
    ...(defaultFrom && {
      default_from: await checkedFrom(trx, row, defaultFrom.address),
      default_from_name: defaultFrom.displayName ?? null,
    }),
  }));
}

/**
 * Pauses a mailbox: it neither receives nor sends until it is resumed. @throws
 * ResourceNotFoundError.
 */
export function pauseMailbox(app: App, caller: Caller, id: string): Promise<Mailbox> {
  const paused: Told = { action: 'mailbox.paused', kind: events.mailboxPaused };
  return changeMailbox(app, caller, id, paused, async () => ({ status: 'paused' }));
}

/** Resumes a paused mailbox. @throws ResourceNotFoundError. */
export function resumeMailbox(app: App, caller: Caller, id: string): Promise<Mailbox> {
  const resumed: Told = { action: 'mailbox.resumed', kind: events.mailboxResumed };
  return changeMailbox(app, caller, id, resumed, async () => ({ status: 'active' }));
}

/**
 * Adds an address to a mailbox. @throws ResourceNotFoundError, and the errors of `storeAddress`.
 */
export function addAddress(
  app: App,
  caller: Caller,
  id: string,
  { address, displayName = null }: AddAddress,
): Promise<Mailbox> {
  return changeMailbox(app, caller, id, updated, async (trx, row) => {
    const isFirst = (await queries.selectAddresses(trx, [id])).length === 0;
    const stored = await storeAddress(app, trx, row, { address, displayName, field: 'address' });
    return isFirst ? { primary_address: stored.address } : {};
  });
}

/**
 * Removes an address. In place of a primary address, the oldest remaining address becomes primary.
 * @throws ResourceNotFoundError; ConflictError for the last address.
 */
export function removeAddress(
  app: App,
  caller: Caller,
  id: string,
  addressId: string,
): Promise<Mailbox> {
  return changeMailbox(app, caller, id, updated, async (trx, row) => {
    const addresses = await queries.selectAddresses(trx, [id]);
    const gone = addresses.find((one) => one.id === addressId);
    if (!gone) throw new ResourceNotFoundError('address', addressId);
    if (addresses.length === 1) {
      const text =
        `${gone.address} is the last address of the mailbox: delete the mailbox, or add ` +
        'another address first';
      throw new ConflictError('mailbox', text);
    }
    return withoutAddresses(trx, row, [gone]);
  });
}

/**
 * Deletes addresses of a mailbox, and returns the columns to change. The oldest remaining address
 * replaces a deleted primary address. Without remaining addresses, `primary_address` keeps the text
 * of the deleted address.
 */
async function withoutAddresses(
  trx: Db,
  row: queries.MailboxRow,
  gone: readonly queries.MailboxAddressRow[],
): Promise<Partial<queries.MailboxRow>> {
  for (const { id } of gone) await queries.deleteAddresses(trx, row.id, id);
  await keepReceiving(
    trx,
    gone.map(({ domain_id }) => domain_id),
  );
  const [next] = await queries.selectAddresses(trx, [row.id]);
  const isGone = (address: string) => gone.some((one) => one.address === foldAddress(address));
  return {
    ...(next && isGone(row.primary_address) && { primary_address: next.address }),
    ...(row.default_from !== null &&
      isGone(row.default_from) && { default_from: null, default_from_name: null }),
  };
}

/**
 * Deletes the addresses that mailboxes have on domains with a name that another organization has
 * verified.
 */
export const releaseAddresses: ReleaseName = async (app, { formerIds }) => {
  const { db } = app.store;
  for (const { id, organization_id } of await queries.selectMailboxesOn(db, formerIds)) {
    await changeMailbox(app, byService(organization_id), id, updated, async (trx, row) => {
      const addresses = await queries.selectAddresses(trx, [id]);
      const gone = addresses.filter(({ domain_id }) => formerIds.includes(domain_id ?? ''));
      return withoutAddresses(trx, row, gone);
    });
  }
};

/**
 * Deletes a mailbox and frees the addresses and the slug at once. @throws ResourceNotFoundError.
 */
export async function deleteMailbox(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    const row = await lockMailbox(trx, organizationId, id);
    const addresses = await queries.selectAddresses(trx, [id]);
    const domainIds = [
      ...addresses.map(({ domain_id }) => domain_id),
      ...(await selectCaughtDomains(trx, id)),
    ];
    for (const domainId of await selectCaughtDomains(trx, id)) {
      await deleteCatchAll(trx, domainId);
    }
    await queries.deleteAddresses(trx, id, null);
    await keepReceiving(trx, domainIds);
    const now = app.clock.now();
    const deleted = { status: 'deleted', deleted_at: now, updated_at: now } as const;
    // Frees the slug: the id replaces it. An id contains an underscore, so it never equals the slug
    // of another mailbox.
    await queries.mailboxes.update(trx, organizationId, id, { ...deleted, slug: id });
    const event = eventToRecord(
      events.mailboxDeleted,
      toMailbox({ ...row, ...deleted }, addresses),
    );
    const details = { slug: row.slug, address: row.primary_address };
    await record(app, trx, caller, { subject: id, action: mailboxNoun.deleted, details, event });
  });
  return { success: true, message: `Mailbox ${id} is deleted, and its addresses are free` };
}

/**
 * Returns the events of a mailbox, by cursor. @throws ResourceNotFoundError, ValidationError
 * (cursor).
 */
export async function listMailboxEvents(
  app: App,
  caller: Caller,
  id: string,
  query: MailboxEvents,
): Promise<{ items: LogItem[]; nextCursor: string | null }> {
  await getMailboxRow(app.store.db, caller.organizationId, id);
  return listLog(app, caller, { ...query, subject: id });
}
