// All SQL on conversations, their tags and contacts. Reads and writes rows, decides nothing. Pages
// are in list-queries.ts, counters in count-queries.ts.
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { recordConversation } from './count-queries.ts';
import type { Conversation, ConversationStatus } from './schema.ts';

export interface ConversationRow {
  id: string;
  organization_id: string;
  status: ConversationStatus;
  status_reason: string | null;
  title: string | null;
  external_id: string | null;
  description: string | null;
  parent_conversation_id: string | null;
  priority: number;
  urgency: Conversation['urgency'];
  complexity: Conversation['complexity'];
  /** JSON of the tags. This and the next three JSON columns are null without a value. */
  tags: string | null;
  categories: string | null;
  metadata: string | null;
  context: string | null;
  is_internal: number;
  is_private: number;
  is_test: number;
  /** Number of stored messages. */
  message_count: number;
  started_at: number | null;
  last_activity_at: number | null;
  last_human_activity_at: number | null;
  resolved_at: number | null;
  resolution_type: Conversation['resolutionType'];
  resolution_notes: string | null;
  archived_at: number | null;
  created_at: number;
  updated_at: number;
}

class TagRow {
  organization_id!: string;
  /** Folded tag. `conversations.tags` has the tag as it was given. */
  tag!: string;
  conversation_id!: string;
}

class ContactLink {
  conversation_id!: string;
  contact_id!: string;
}

interface ConversationTables {
  conversations: ConversationRow;
  conversation_tags: TagRow;
  conversation_contacts: ContactLink;
}

const own = ownTables<ConversationTables>();

/** Common operations by id. Only the functions below also update the counters by status. */
export const conversations = own.rowsOf('conversations', 'conversation');

/**
 * Locks conversations until the transaction ends, in the order of ids. Call it once per
 * transaction. Hot: runs for sends that name conversations.
 */
export const holdConversations = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('conversations')
    .select(['id', 'organization_id'])
    .where('id', ...isOneOf(db, ids))
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forNoKeyUpdate()),
);

/** Returns the existing conversations, in no order. Hot. */
export const findConversations = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('conversations')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

/** Columns that a new message changes, and columns on which this change depends. */
const countedColumns = [
  ...(['id', 'organization_id', 'status', 'status_reason', 'message_count', 'started_at'] as const),
  ...(['last_activity_at', 'last_human_activity_at', 'updated_at'] as const),
] as const;

export type CountedRow = Pick<ConversationRow, (typeof countedColumns)[number]>;

/** Returns the counted columns of locked conversations. Hot. */
export const findCounted = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('conversations')
    .select(countedColumns)
    .where('id', ...isOneOf(db, ids)),
);

const countRow = own.run((db, after: CountedRow) =>
  db
    .updateTable('conversations')
    .set({
      message_count: after.message_count,
      started_at: after.started_at,
      last_activity_at: after.last_activity_at,
      last_human_activity_at: after.last_human_activity_at,
      updated_at: after.updated_at,
    })
    .where('id', '=', after.id),
);

const moveRow = own.run((db, after: CountedRow) =>
  db
    .updateTable('conversations')
    .set({
      status: after.status,
      status_reason: after.status_reason,
      resolved_at: null,
      resolution_type: null,
      resolution_notes: null,
      archived_at: null,
    })
    .where('id', '=', after.id),
);

/**
 * Writes the changes by messages to a locked conversation. Clears resolution and archive time if
 * the status changes, because a message only leads to active or waiting. Hot.
 */
export async function countMessages(db: Db, before: CountedRow, after: CountedRow): Promise<void> {
  await countRow(db, after);
  // A separate statement, because an index contains the status and most messages do not change it.
  if (after.status === before.status) return;
  await moveRow(db, after);
  recordConversation(db, before, -1);
  recordConversation(db, after, 1);
}

/** Subtracts messages that were deleted, or moved to a different conversation, from the count. */
export const countLost = own.run((db, id: string, count: number) =>
  db
    .updateTable('conversations')
    .set((set) => ({ message_count: set('message_count', '-', count) }))
    .where('id', '=', id),
);

/**
 * Inserts a conversation. Throws an error that `isDuplicate` recognizes if an existing conversation
 * has the external id.
 */
export async function insertConversation(
  db: Db,
  row: ConversationRow,
  tags: readonly string[],
): Promise<void> {
  await conversations.insert(db, row);
  recordConversation(db, row, 1);
  await addTags(db, row, tags);
}

/** Changes a locked conversation and returns the new row. Throws as `insertConversation`. */
export async function updateConversation(
  db: Db,
  before: ConversationRow,
  changes: Partial<ConversationRow>,
): Promise<ConversationRow> {
  const after = await conversations.update(db, before.organization_id, before.id, changes);
  recordConversation(db, before, -1);
  recordConversation(db, after, 1);
  return after;
}

/** Deletes a conversation; a cascade deletes the contact links. @throws ResourceNotFoundError. */
export async function deleteConversationRow(
  db: Db,
  row: ConversationRow,
  tags: readonly string[],
): Promise<void> {
  await removeTags(db, row, tags);
  await conversations.remove(db, row.organization_id, row.id);
  recordConversation(db, row, -1);
}

type Owned = Pick<ConversationRow, 'id' | 'organization_id'>;

const insertTagRows = own.bulkInsert('conversation_tags', TagRow);

/** Adds tags to the index. The caller passes only tags that the conversation lacks. */
export async function addTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  const folded = tags.map(foldCase).sort();
  await insertTagRows(
    db,
    folded.map((tag) => ({ organization_id, tag, conversation_id: id })),
  );
}

/** Removes tags from the index. */
export async function removeTags(
  db: Db,
  { id, organization_id }: Owned,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return;
  await tables<ConversationTables>(db)
    .deleteFrom('conversation_tags')
    .where('organization_id', '=', organization_id)
    .where('tag', ...isOneOf(db, tags.map(foldCase)))
    .where('conversation_id', '=', id)
    .execute();
}

/** Returns the links between these conversations and contacts, in the order of ids. */
export const findContactLinks = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('conversation_contacts')
    .selectAll()
    .where('conversation_id', ...isOneOf(db, ids))
    .orderBy('conversation_id')
    .orderBy('contact_id'),
);

const insertLinkRows = own.bulkInsert('conversation_contacts', ContactLink);

/** Inserts links of locked conversations. The caller passes only missing links. */
export async function insertContactLinks(db: Db, links: readonly ContactLink[]): Promise<void> {
  const keyOf = ({ conversation_id, contact_id }: ContactLink) =>
    `${conversation_id} ${contact_id}`;
  await insertLinkRows(
    db,
    links.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  );
}
