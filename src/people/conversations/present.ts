// Presentation of conversation rows in the API.

import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { findContactRows, findIdentities } from '../contacts/queries.ts';
import { type ConversationRow, findContactLinks } from './queries.ts';
import type { ContextInput, Conversation } from './schema.ts';

type Party = Conversation['contacts'][number];

/** Returns the contacts of conversations of an organization, by conversation id. */
async function contactsOf(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Party[]>> {
  const links = await findContactLinks(db, ids);
  if (links.length === 0) return new Map();
  const contactIds = [...new Set(links.map(({ contact_id }) => contact_id))].sort();
  const rows = await findContactRows(db, organizationId, contactIds);
  const identities = Map.groupBy(
    await findIdentities(db, contactIds),
    ({ contact_id }) => contact_id,
  );
  const parties = new Map(
    rows.map(({ id, name, display_name: displayName }): [string, Party] => [
      id,
      {
        id,
        name,
        displayName,
        identities: (identities.get(id) ?? []).map(({ identifier, verified_at }) => ({
          channel: 'email',
          identifier,
          verified: verified_at !== null,
        })),
      },
    ]),
  );
  const grouped = Map.groupBy(links, ({ conversation_id }) => conversation_id);
  return new Map(
    [...grouped].map(([id, own]) => [
      id,
      own.flatMap(({ contact_id }) => parties.get(contact_id) ?? []),
    ]),
  );
}

function presentContext(context: ContextInput | null): Conversation['context'] {
  const { customerData, previousConversations, sessionVariables, workflowState } = context ?? {};
  const { currentStep, completedSteps, pendingSteps, workflowData } = workflowState ?? {};
  return {
    customerData: customerData ?? {},
    previousConversations: previousConversations ?? [],
    sessionVariables: sessionVariables ?? {},
    workflowState: {
      currentStep: currentStep ?? null,
      completedSteps: completedSteps ?? [],
      pendingSteps: pendingSteps ?? [],
      workflowData: workflowData ?? {},
    },
  };
}

/** Presents conversations of an organization, in the order of the rows. */
export async function presentConversations(
  db: Db,
  organizationId: string,
  rows: readonly ConversationRow[],
): Promise<Conversation[]> {
  if (rows.length === 0) return [];
  const contacts = await contactsOf(
    db,
    organizationId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    externalId: row.external_id,
    status: row.status,
    primaryChannel: 'email',
    channels: ['email'],
    priority: row.priority,
    urgency: row.urgency,
    tags: fromJson<string[]>(row.tags) ?? [],
    isTest: row.is_test === 1,
    messageCount: row.message_count,
    lastActivityAt: isoTime(row.last_activity_at),
    createdAt: isoTime(row.created_at),
    description: row.description,
    parentConversationId: row.parent_conversation_id,
    statusReason: row.status_reason,
    complexity: row.complexity,
    categories: fromJson<string[]>(row.categories) ?? [],
    metadata: fromJson<Record<string, unknown>>(row.metadata) ?? {},
    context: presentContext(fromJson<ContextInput>(row.context)),
    isInternal: row.is_internal === 1,
    isPrivate: row.is_private === 1,
    contacts: [...(contacts.get(row.id) ?? [])],
    startedAt: isoTime(row.started_at),
    lastHumanActivityAt: isoTime(row.last_human_activity_at),
    resolvedAt: isoTime(row.resolved_at),
    archivedAt: isoTime(row.archived_at),
    resolutionType: row.resolution_type,
    resolutionNotes: row.resolution_notes,
    updatedAt: isoTime(row.updated_at),
  }));
}

export async function presentConversation(db: Db, row: ConversationRow): Promise<Conversation> {
  const [conversation] = await presentConversations(db, row.organization_id, [row]);
  return conversation as Conversation;
}
