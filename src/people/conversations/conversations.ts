// Conversations, the resource (specification 2.7, 4.5): a function per verb. Deletion is in
// src/outbound/messages/forget/forget-conversation.ts, because it also changes messages.
// arrivals.ts updates conversations after messages.
import { readFilteredPage } from '../../core/api/filtered-page.ts';
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
import type { AuditAction } from '../../history/audit/schema.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { ConflictError, ValidationError } from '../../platform/errors.ts';
import { orAgain } from '../../platform/store/again.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { conversationCreated, conversationUpdated } from './events.ts';
import { countConversations, selectConversations } from './list-queries.ts';
import { presentConversation, presentConversations } from './present.ts';
import * as queries from './queries.ts';
import {
  type Conversation,
  type CreateConversation,
  conversationNoun,
  type ListConversations,
  type Move,
  mostTags,
  type Resolve,
  type UpdateConversation,
} from './schema.ts';
import { type MoveName, stateAfterMove } from './states.ts';

/** Returns the columns that an input sets, without the remaining columns. */
function columnsOf(input: UpdateConversation) {
  const { categories, metadata, context, isInternal, isPrivate } = input;
  const json = (value: unknown) => (value === undefined ? undefined : toJson(value));
  const flag = (value: boolean | undefined) => (value === undefined ? undefined : Number(value));
  const columns = {
    title: input.title,
    external_id: input.externalId,
    description: input.description,
    parent_conversation_id: input.parentConversationId,
    priority: input.priority,
    urgency: input.urgency,
    complexity: input.complexity,
    categories: json(categories && [...new Set(categories)]),
    metadata: json(metadata),
    context: json(context),
    is_internal: flag(isInternal),
    is_private: flag(isPrivate),
  };
  const said = Object.entries(columns).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as Partial<queries.ConversationRow>;
}

function newRow(app: App, caller: Caller, input: CreateConversation): queries.ConversationRow {
  const now = app.clock.now();
  return {
    id: app.newId(conversationNoun),
    organization_id: caller.organizationId,
    status: 'active',
    status_reason: null,
    title: null,
    external_id: null,
    description: null,
    parent_conversation_id: null,
    priority: 0,
    urgency: 'normal',
    complexity: null,
    tags: toJson(uniqueTags(input.tags)),
    categories: null,
    metadata: null,
    context: null,
    is_internal: 0,
    is_private: 0,
    is_test: Number(caller.isTest),
    message_count: 0,
    started_at: null,
    last_activity_at: null,
    last_human_activity_at: null,
    resolved_at: null,
    resolution_type: null,
    resolution_notes: null,
    archived_at: null,
    created_at: now,
    updated_at: now,
    ...columnsOf(input),
  };
}

/**
 * Checks the external id and the parent.
 * @throws ConflictError that names the conversation with this external id; ResourceNotFoundError
 * for a missing parent; ValidationError for a conversation that would be parent of itself.
 */
async function assertFits(
  db: Db,
  organizationId: string,
  ownId: string | null,
  { externalId, parentConversationId: parent }: UpdateConversation,
): Promise<void> {
  if (parent && parent === ownId) {
    throw ValidationError.of('parentConversationId', 'is the conversation itself');
  }
  if (parent) await queries.conversations.get(db, organizationId, parent);
  if (externalId === null || externalId === undefined) return;
  const range = { limit: 1, offset: 0 };
  const [other] = await selectConversations(db, organizationId, { externalId }, range);
  if (!other || other.id === ownId) return;
  const text = `${other.id} already has the external id ${externalId}`;
  throw new ConflictError('conversation', text);
}

/**
 * Creates a conversation.
 * @throws as `assertFits`.
 */
export function createConversation(
  app: App,
  caller: Caller,
  input: CreateConversation,
): Promise<Conversation> {
  const row = newRow(app, caller, input);
  const make = () =>
    app.store.write(async (trx) => {
      await assertFits(trx, caller.organizationId, null, input);
      await queries.insertConversation(trx, row, fromJson<string[]>(row.tags) ?? []);
      const conversation = await presentConversation(trx, row);
      const { title, externalId, tags } = conversation;
      await record(app, trx, caller, {
        subject: row.id,
        action: conversationNoun.created,
        details: { title, externalId, tags },
        event: eventToRecord(conversationCreated, conversation),
      });
      return conversation;
    });
  return orAgain(make);
}

/** Lists a page of the organization's conversations, newest first. */
export async function listConversations(
  app: App,
  { organizationId }: Caller,
  query: ListConversations,
): Promise<Page<Conversation>> {
  const { db } = app.store;
  const { page, limit, status, tag, externalId, contactId, ...times } = query;
  const { from, to } = boundsOf(times);
  const filter = { status, tag, externalId, contactId, from, to };
  const range = { limit, offset: (page - 1) * limit };
  // Reads the total of a status from a counter, but counts the matches of a tag, a contact or a
  // time.
  const isFiltered = [tag, contactId, from, to].some((bound) => bound !== undefined);
  const reading = {
    organizationId,
    field: tag === undefined && contactId === undefined ? 'after' : 'tag',
    rows: (aside: Db) => selectConversations(aside, organizationId, filter, range),
    total: (aside: Db) => countConversations(aside, organizationId, filter),
  };
  const { rows, total } = isFiltered
    ? await readFilteredPage(app.store, reading)
    : { rows: await reading.rows(db), total: await reading.total(db) };
  return toPage(await presentConversations(db, organizationId, rows), total, query);
}

/** Returns a conversation. @throws ResourceNotFoundError. */
export async function getConversation(
  app: App,
  { organizationId }: Caller,
  id: string,
): Promise<Conversation> {
  const { db } = app.store;
  return presentConversation(db, await queries.conversations.get(db, organizationId, id));
}

/** Updates the index of tags from the old tags of the row to the new tags. */
async function moveTags(
  trx: Db,
  row: queries.ConversationRow,
  tags: readonly string[],
): Promise<void> {
  const { lost, found } = tagMoves(fromJson<string[]>(row.tags) ?? [], tags);
  if (lost.length > 0) await queries.removeTags(trx, row, lost);
  await queries.addTags(trx, row, found);
}

/** Parts of a change. `columns` and `tags` receive the row, or the tags, before the change. */
interface ConversationChange {
  action?: AuditAction;
  input?: UpdateConversation;
  columns?: (row: queries.ConversationRow) => Partial<queries.ConversationRow>;
  tags?: TagsAfter | undefined;
}

function change(
  app: App,
  caller: Caller,
  id: string,
  { action = conversationNoun.updated, input = {}, columns, tags }: ConversationChange,
): Promise<Conversation> {
  const { organizationId } = caller;
  const run = () =>
    app.store.write(async (trx) => {
      const now = app.clock.now();
      await assertFits(trx, organizationId, id, input);
      // Locks the row, because the following decisions depend on its columns.
      const row = await queries.conversations.update(trx, organizationId, id, { updated_at: now });
      const before = await presentConversation(trx, row);
      const newTags = tags && keptTags(before.tags, tags(before.tags));
      if (newTags) await moveTags(trx, row, newTags);
      const changed = await queries.updateConversation(trx, row, {
        ...columns?.(row),
        ...(newTags && { tags: toJson(newTags) }),
        updated_at: now,
      });
      const conversation = await presentConversation(trx, changed);
      const details = changesOf(before, conversation);
      if (Object.keys(details).length > 0) {
        const event = eventToRecord(conversationUpdated, conversation);
        await record(app, trx, caller, { subject: id, action, details, event });
      }
      return conversation;
    });
  return orAgain(run);
}

/** Changes the given fields. @throws ResourceNotFoundError; errors of `createConversation`. */
export function updateConversation(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateConversation,
): Promise<Conversation> {
  const { tags } = input;
  const columns = columnsOf(input);
  return change(app, caller, id, { input, columns: () => columns, tags: tags && (() => tags) });
}

/**
 * Adds tags and keeps the present tags.
 * @throws ResourceNotFoundError; ValidationError above the limit of tags.
 */
export function addTags(
  app: App,
  caller: Caller,
  id: string,
  tags: readonly string[],
): Promise<Conversation> {
  return change(app, caller, id, { tags: withTags(tags, mostTags, 'a conversation') });
}

/** Removes tags; a tag that the conversation lacks is ignored. @throws ResourceNotFoundError. */
export function removeTags(
  app: App,
  caller: Caller,
  id: string,
  tags: readonly string[],
): Promise<Conversation> {
  return change(app, caller, id, { tags: withoutTags(tags) });
}

const actions = {
  resolve: 'conversation.resolved',
  archive: 'conversation.archived',
  reopen: 'conversation.reopened',
} as const satisfies Record<MoveName, AuditAction>;

/**
 * Resolves, archives or reopens a conversation.
 * @throws ResourceNotFoundError; ConflictError if the state does not allow the change.
 */
export function moveConversation(
  app: App,
  caller: Caller,
  id: string,
  move: MoveName,
  input: Move | Resolve = {},
): Promise<Conversation> {
  const columns = (row: queries.ConversationRow) =>
    stateAfterMove(row, move, input, app.clock.now());
  return change(app, caller, id, { action: actions[move], columns });
}
