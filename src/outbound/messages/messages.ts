// Reads and deletes messages (specification 4.1). A message of a foreign organization counts as not
// found.

import { readFilteredPage } from '../../core/api/filtered-page.ts';
import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { requestErasure } from '../../history/erasures/request.ts';
import { deleteEventRows, listEventRows } from '../../history/events/queries.ts';
import { record } from '../../history/events/record.ts';
import { insertUnsubscribeAddresses } from '../../people/unsubscribe-groups/queries.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import type { Db, Store } from '../../platform/store/db.ts';
import { overwriting } from '../../platform/store/rows/overwriting.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { forgetMessage } from '../../webhooks/posting/body.ts';
import { findHolds } from '../deliveries/holds-in-force.ts';
import {
  findDeliveries,
  findLeavable,
  findListedDeliveries,
  lockDeliveriesOf,
} from '../deliveries/queries.ts';
import { forgetKeptResponse } from './idempotency-queries.ts';
import { growsWithStore, totalOf } from './lists/counts.ts';
import { listMessageIds, type MessageFilter } from './lists/list-queries.ts';
import type { ListMessagesQuery } from './lists/list-schema.ts';
import { byIndex, pageByMetadata, pairsOf } from './lists/metadata.ts';
import { presentDelivery, presentEvent, presentMessage } from './present.ts';
import {
  deleteMessageRow,
  findListedMessages,
  findMessageRow,
  findRecipients,
  type ListedMessageRow,
  lockMessages,
  type MessageRow,
} from './queries.ts';
import type { Delivery, Message, TimelineEvent } from './schema.ts';

const mostEvents = 1_000;

/** Returns the row of a message of this organization. @throws ResourceNotFoundError */
export async function getMessageRow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<MessageRow> {
  const row = await findMessageRow(db, id);
  if (row?.organization_id !== organizationId) throw new ResourceNotFoundError('message', id);
  return row;
}

function grouped<T extends { message_id: string }>(rows: readonly T[]): Map<string, T[]> {
  return Map.groupBy(rows, (row) => row.message_id);
}

/** Adds recipients and deliveries to messages, in the order of the rows. */
async function withParts(db: Db, rows: readonly ListedMessageRow[]): Promise<Message[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const recipients = grouped(await findRecipients(db, ids));
  const found = await findListedDeliveries(db, ids);
  const holds = await findHolds(db, found);
  const deliveries = grouped(found);
  return rows.map((row) =>
    presentMessage(row, recipients.get(row.id) ?? [], deliveries.get(row.id) ?? [], holds),
  );
}

/**
 * Returns the ids of a page, and the total. Queries without a counter run outside of the event
 * loop.
 */
async function pageOfMessages(
  store: Store,
  filter: MessageFilter,
  { page, limit }: PageRequest,
): Promise<{ ids: string[]; total: number | null }> {
  const rows = (db: Db) => listMessageIds(db, filter, limit, (page - 1) * limit);
  if (!growsWithStore(filter)) {
    return { ids: await rows(store.db), total: await totalOf(store.db, filter) };
  }
  const names = [
    ...(['recipient', 'sender', 'subject', 'tag', 'campaignRunId', 'templateId'] as const),
    ...(['contactId', 'conversationId'] as const),
  ];
  const named = filter.metadata?.map(([key]) => `metadata.${key}`)[0];
  const field = named ?? names.find((name) => filter[name] !== undefined) ?? 'status';
  const total = (db: Db) => totalOf(db, filter);
  const found = await readFilteredPage(store, {
    organizationId: filter.organizationId,
    field,
    rows,
    total,
  });
  return { ids: found.rows, total: found.total };
}

/** Returns the ids of a page, and the total. Filters by the metadata that the query names. */
async function pageWithMetadata(
  store: Store,
  filter: MessageFilter,
  query: ListMessagesQuery,
): Promise<{ ids: string[]; total: number | null }> {
  const pairs = pairsOf(query.metadata);
  if (pairs.length === 0) return pageOfMessages(store, filter, query);
  const metadata = await byIndex(store.db, filter.organizationId, pairs);
  if (metadata === null) return pageByMetadata(store, filter, pairs, query);
  return pageOfMessages(store, { ...filter, metadata }, query);
}

/** Returns the later of two times; an absent bound sets no limit. */
function latestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** Returns the earlier of two times; an absent bound sets no limit. */
function earliestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Returns one page of the organization's messages, newest first. */
export async function listMessages(
  app: App,
  caller: Caller,
  query: ListMessagesQuery,
): Promise<Page<Message>> {
  const { db } = app.store;
  const { from, to } = boundsOf(query);
  const filter = {
    organizationId: caller.organizationId,
    direction: query.direction,
    status: query.status,
    conversationId: query.conversationId,
    contactId: query.contactId,
    createdFrom: latestOf(query.startDate, from),
    createdTo: earliestOf(query.endDate, to === undefined ? undefined : to - 1),
    recipient: query.recipient,
    sender: query.sender,
    subject: query.subject,
    tag: query.tag,
    campaignRunId: query.campaignRunId,
    templateId: query.templateId,
  };
  const { ids, total } = await pageWithMetadata(app.store, filter, query);
  const rows = new Map((await findListedMessages(db, ids)).map((row) => [row.id, row]));
  const items = await withParts(
    db,
    ids.flatMap((id) => rows.get(id) ?? []),
  );
  return toPage(items, total, query);
}

/** Returns the messages of this organization among `ids`, by id. */
export async function findMessages(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, Message>> {
  const rows = await findListedMessages(db, ids);
  const own = rows.filter((row) => row.organization_id === organizationId);
  return new Map((await withParts(db, own)).map((message) => [message.id, message]));
}

/** @throws ResourceNotFoundError */
export async function getMessage(app: App, caller: Caller, id: string): Promise<Message> {
  const message = (await findMessages(app.store.db, caller.organizationId, [id])).get(id);
  if (!message) throw new ResourceNotFoundError('message', id);
  return message;
}

/** Returns the id of the message sent last. @throws ResourceNotFoundError before the first */
export async function lastSentId(
  { store }: App,
  { organizationId }: Pick<Caller, 'organizationId'>,
): Promise<string> {
  const [id] = await listMessageIds(store.db, { organizationId, direction: 'outbound' }, 1, 0);
  if (id === undefined) throw new ResourceNotFoundError('message', '@last');
  return id;
}

/** Returns the newest 1,000 events of the timeline, oldest first. @throws ResourceNotFoundError */
export async function listMessageEvents(
  app: App,
  caller: Caller,
  id: string,
): Promise<TimelineEvent[]> {
  await getMessageRow(app.store.db, caller.organizationId, id);
  return (await listEventRows(app.store.db, id, mostEvents)).map(presentEvent);
}

/** Returns status, attempts and schedule of each recipient. @throws ResourceNotFoundError */
export async function listMessageDeliveries(
  app: App,
  caller: Caller,
  id: string,
): Promise<Delivery[]> {
  await getMessageRow(app.store.db, caller.organizationId, id);
  const deliveries = await findDeliveries(app.store.db, [id]);
  const holds = await findHolds(app.store.db, deliveries);
  return deliveries.map((one) => presentDelivery(one, holds.of(one)));
}

/** Deletes a message with all dependent rows. Returns false if it is gone already. */
export function removeMessage(app: App, trx: Db, id: string): Promise<boolean> {
  return overwriting(trx, () => removeWhole(app, trx, id));
}

async function removeWhole(app: App, trx: Db, id: string): Promise<boolean> {
  await lockDeliveriesOf(trx, [id]);
  const row = await findMessageRow(trx, id);
  if (!row) return false;
  const leavable = await findLeavable(trx, [id]);
  await lockMessages(trx, [id]);
  const place = await app.hooks.threads.forget(app, trx, id);
  if (!(await deleteMessageRow(trx, row))) return false;
  // Recipients still have the deleted mail, so the unsubscribe addresses must keep working.
  await insertUnsubscribeAddresses(
    trx,
    leavable.map(({ id: delivery_id, email: address, ...owned }) => ({
      delivery_id,
      address,
      ...owned,
    })),
  );
  const posted = await forgetMessage(app, trx, id);
  if (place || posted > 0) {
    const { organization_id: organizationId } = row;
    await requestErasure(app, trx, { organizationId, id, kind: 'message', about: place });
  }
  await deleteEventRows(trx, id);
  await forgetKeptResponse(trx, row.organization_id, id);
  return true;
}

/**
 * Deletes a message for good: rows, timeline, and unshared content and blobs.
 * Unsent deliveries are never sent. An attempt that runs at this moment cannot be recalled.
 * @throws ResourceNotFoundError
 */
export async function deleteMessage(
  app: App,
  caller: Caller,
  id: string,
): Promise<{ success: boolean; message: string }> {
  await app.store.write(async (trx) => {
    const row = await getMessageRow(trx, caller.organizationId, id);
    if (!(await removeMessage(app, trx, id))) throw new ResourceNotFoundError('message', id);
    const { direction, status } = row;
    const details = { direction, status };
    await record(app, trx, caller, { subject: id, action: 'message.deleted', details });
  });
  return { success: true, message: `Message ${id} was deleted` };
}
