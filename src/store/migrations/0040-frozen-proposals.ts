// Mail of a proposal, byte for byte: the MIME of the mail (part 0) and its attachments (from 1 on).
// Proposals from before hold no bytes: they expire.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const frozenProposals: Migration = {
  name: '0040-frozen-proposals',
  statements(engine: StoreKind): string[] {
    const bytes = engine === 'sqlite' ? 'blob' : 'bytea';
    return [
      // Of the mail as it was proposed, and as a person edited it; and what the proposal takes.
      'alter table mailbox_actions add column digest text',
      'alter table mailbox_actions add column edited_digest text',
      'alter table mailbox_actions add column proposal_bytes bigint not null default 0',
      `create table mailbox_proposal_parts (
        action_id text not null references mailbox_proposals on delete cascade,
        part integer not null, data ${bytes} not null, primary key (action_id, part))`,
      'delete from mailbox_proposals',
      `update mailbox_actions set expires_at = created_at where state = 'proposed'`,
    ];
  },
};
