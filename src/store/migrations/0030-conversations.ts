// Conversations (src/conversations): their messages, participants and counts.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const conversations: Migration = {
  name: '0030-conversations',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `message_count` and the times move with each message. The parent is named, not referenced: it may
      // be deleted. `tags`: in the order in which they came; conversation_tags is how they are found.
      `create table conversations (
        id text primary key, organization_id text not null references organizations (id),
        status text not null, status_reason text, title text, external_id text, description text,
        parent_conversation_id text, priority integer not null, urgency text not null,
        complexity text, tags text, categories text, metadata text, context text,
        is_internal integer not null, is_private integer not null, is_test integer not null,
        message_count bigint not null, started_at bigint, last_activity_at bigint,
        last_human_activity_at bigint, resolved_at bigint, resolution_type text,
        resolution_notes text, archived_at bigint,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      'create index conversations_of_organization on conversations (organization_id, created_at, id)',
      `create index conversations_by_status
        on conversations (organization_id, status, created_at, id)`,
      // A null equals no other.
      `create unique index conversations_external_id
        on conversations (organization_id, external_id)`,

      `create table conversation_tags (
        organization_id text not null, tag text not null, conversation_id text not null,
        primary key (organization_id, tag, conversation_id)) ${compact}`,

      `create table conversation_contacts (
        conversation_id text not null references conversations (id) on delete cascade,
        contact_id text not null references contacts (id) on delete cascade,
        primary key (conversation_id, contact_id)) ${compact}`,
      `create index conversation_contacts_contact
        on conversation_contacts (contact_id, conversation_id)`,

      `create table conversation_counts (
        organization_id text not null, status text not null, count bigint not null,
        primary key (organization_id, status)) ${compact}`,
    ];
  },
};
