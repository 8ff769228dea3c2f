// The first schema. Times are milliseconds since 1970, booleans 0/1, JSON is text
// (JSON column types differ too much between the engines). Ids are time-ordered, so primary keys
// append. `compact` tables are clustered by their key on SQLite: one B-tree less per insert. Each
// further index of the tables of a send costs about 3 % of the accept rate: none that is not needed.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const initial: Migration = {
  name: '0001-initial',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    const bytes = engine === 'sqlite' ? 'blob' : 'bytea';
    return [
      'create table migrations (name text primary key, applied_at bigint not null)',
      'create table probe (counter bigint not null)',
      'insert into probe (counter) values (0)',

      `create table organizations (
        id text primary key, name text not null unique, plan text not null,
        payment_method_on_file integer not null, timezone text not null,
        sending_status text not null, paused_at bigint, pause_reason text,
        onboarding_status text not null, onboarding_generation integer not null,
        created_at bigint not null, updated_at bigint not null) ${compact}`,

      `create table api_keys (
        id text primary key, organization_id text not null references organizations,
        name text, description text, hash text not null unique, start text not null,
        role_name text not null, permissions text, owner text not null,
        is_active integer not null, expires_at bigint, last_used_at bigint,
        created_at bigint not null)`,
      'create index api_keys_of_organization on api_keys (organization_id, id)',
      // Counts changes that remove rights, so that every process learns of them within a second (src/keys).
      'create table key_changes (counter bigint not null)',
      'insert into key_changes (counter) values (0)',

      `create table domains (
        id text primary key, organization_id text not null references organizations,
        domain text not null, status text not null, return_path text not null,
        is_local integer not null, record_checks text, verified_at bigint,
        last_checked_at bigint, next_check_at bigint, failing_since bigint,
        created_at bigint not null, updated_at bigint not null,
        unique (organization_id, domain))`,
      'create index domains_by_return_path on domains (return_path)',
      'create index domains_to_check on domains (next_check_at) where next_check_at is not null',

      `create table domain_keys (
        id text primary key, domain_id text not null references domains on delete cascade,
        selector text not null, algorithm text not null, generation integer not null,
        public_key text not null, private_key text not null, is_active integer not null, is_published integer not null,
        created_at bigint not null, unique (domain_id, selector))`,

      `create table senders (
        id text primary key, organization_id text not null references organizations,
        email text not null, folded_email text not null, domain text not null, name text,
        verified_at bigint, verification_token_hash text,
        is_default integer not null, reply_to_emails text, is_active integer not null,
        created_at bigint not null, updated_at bigint not null,
        unique (organization_id, folded_email))`,
      'create unique index default_sender on senders (organization_id) where is_default = 1',

      `create table mailboxes (
        id text primary key, organization_id text not null references organizations,
        slug text not null, display_name text, status text not null, primary_address text not null,
        created_at bigint not null, updated_at bigint not null, unique (organization_id, slug))`,
      `create table mailbox_addresses (
        id text primary key, mailbox_id text not null references mailboxes on delete cascade,
        address text not null unique, source text not null,
        domain_id text references domains on delete cascade, display_name text,
        created_at bigint not null)`,

      `create table blobs (
        id text primary key, organization_id text not null references organizations,
        size bigint not null, data ${bytes} not null, created_at bigint not null)`,

      `create table contents (
        id text primary key, organization_id text not null references organizations,
        html text, text text, attachments text, uses bigint not null,
        created_at bigint not null)`,

      `create table messages (
        id text primary key, organization_id text not null references organizations,
        direction text not null, status text not null, subject text,
        from_email text not null, from_name text, reply_to text, message_id_header text not null,
        in_reply_to text, message_references text, priority text, headers text,
        content_id text references contents, raw_blob_id text references blobs,
        mailbox_id text references mailboxes, sender_domain_id text, conversation_id text,
        campaign_run_id text, template_id text, tags text, metadata text,
        track_opens integer not null, track_clicks integer not null, scheduled_for bigint,
        inbound_envelope text, is_test integer not null, delivery_count integer not null,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      'create index messages_of_organization on messages (organization_id, id)',
      'create index messages_of_conversation on messages (conversation_id, id) where conversation_id is not null',

      `create table recipients (
        id text not null, message_id text not null references messages on delete cascade,
        kind text not null, email text not null, name text, contact_id text,
        position integer not null, primary key (message_id, position)) ${compact}`,
      'create index recipients_of_contact on recipients (contact_id) where contact_id is not null',

      `create table deliveries (
        id text primary key, message_id text not null references messages on delete cascade,
        recipient_id text not null,
        organization_id text not null, sender_domain text not null,
        email text not null, domain text not null, lane text, turn bigint, status text not null, attempt_count integer not null, max_attempts integer not null,
        due_at bigint, claimed_by text, wait_reason text, queued_at bigint, claimed_at bigint,
        last_attempt_at bigint, sent_at bigint, delivered_at bigint, read_at bigint,
        failed_at bigint, terminal_at bigint, expires_at bigint not null, error_code text,
        error_message text, error_details text, attempts text,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      'create index deliveries_of_message on deliveries (message_id)',
      // The queue: a ready delivery holds a turn; others wait for their time (or the end of a lease).
      'create index deliveries_ready on deliveries (turn) where turn is not null',
      'create index deliveries_due on deliveries (due_at) where turn is null and due_at is not null',
      // Those that wait for their lane, so that it can take them as soon as it has room.
      'create index deliveries_of_lane on deliveries (lane, due_at) where lane is not null',
      "create index deliveries_unconfirmed on deliveries (sent_at) where status = 'sent'",
      'create index deliveries_claimed on deliveries (claimed_by) where claimed_by is not null',

      // An event of no message has the empty text for it: part of the key.
      `create table events (
        id text not null, organization_id text not null, message_id text not null,
        recipient_id text, event_type text not null, status text not null,
        timestamp bigint not null, metadata text, primary key (message_id, id)) ${compact}`,

      `create table idempotency_claims (
        organization_id text not null, claim_key text not null, fingerprint text not null,
        message_id text not null, response text not null, created_at bigint not null,
        primary key (organization_id, claim_key)) ${compact}`,
      'create index idempotency_claims_of_message on idempotency_claims (message_id)',
      'create index idempotency_claims_by_age on idempotency_claims (created_at)',
    ];
  },
};
