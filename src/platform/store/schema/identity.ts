// Tables of identity: sending domains, senders, mailboxes, warming, and counters of usage and
// health.
import type { EngineWords } from '../migration.ts';

/** Columns of mail counts, in rows by the hour or day of acceptance. */
const metrics = [
  'accepted',
  'emails',
  'attempted',
  'sent',
  'delivered',
  'bounced',
  'failed',
  'complained',
  'opened',
  'clicked',
  'open_eligible',
  'click_eligible',
  'inbound',
]
  .map((name) => `${name} bigint not null default 0`)
  .join(',\n  ');

export const identity = ({ clustered }: EngineWords) => `
-- Sending domains and the results of their DNS checks.
create table domains (
  id text primary key,
  organization_id text not null references organizations,
  domain text not null,
  status text not null,
  return_path text not null,
  -- Whether its mail never leaves the machine.
  is_local integer not null,
  -- JSON: the last check of each DNS record.
  record_checks text,
  verified_at bigint, last_checked_at bigint, next_check_at bigint, failing_since bigint,
  created_at bigint not null, updated_at bigint not null,
  -- Whether a mailbox has an address of it or takes all of its mail.
  receives_mail integer not null default 0,
  -- Copied from catch_alls, which domains cannot read: mailboxes build on domains.
  catch_all_mailbox_id text,
  unique (organization_id, domain)
);
-- Received reports find their domain.
create index domains_by_return_path on domains (return_path);
create index domains_to_check on domains (next_check_at) where next_check_at is not null;
-- All organizations with a domain of one name.
create index domains_by_name on domains (domain, id);

-- Links to the records of a domain, for somebody without a key.
create table domain_links (
  domain_id text primary key references domains on delete cascade,
  hash text not null unique,
  created_at bigint not null, expires_at bigint not null
);

-- DKIM keys, the private half encrypted.
create table domain_keys (
  id text primary key,
  domain_id text not null references domains on delete cascade,
  selector text not null, algorithm text not null,
  -- From 1; keys made together share one.
  generation integer not null,
  public_key text not null,
  -- Empty once the key is retired.
  private_key text not null,
  is_active integer not null, is_published integer not null,
  created_at bigint not null,
  -- When a key in use was retired: its record stays in DNS for mail on its way. Null for keys that
  -- were never in use.
  retired_at bigint,
  unique (domain_id, selector)
);

-- Addresses from which mail may be sent.
create table senders (
  id text primary key,
  organization_id text not null references organizations,
  -- As given, and in lower case for comparison.
  email text not null, folded_email text not null,
  domain text not null, name text,
  verified_at bigint, verification_token_hash text,
  is_default integer not null,
  -- JSON.
  reply_to_emails text,
  is_active integer not null,
  created_at bigint not null, updated_at bigint not null,
  -- The last mail that asks for proof of the address: its message, its token (encrypted, for the
  -- copy that leaves), and the end of the token. Null before the first mail, and after the proof.
  proof_message_id text,
  proof_token text,
  proof_expires_at bigint,
  unique (organization_id, folded_email)
);
create unique index default_sender on senders (organization_id) where is_default = 1;
create index senders_by_proof on senders (proof_message_id) where proof_message_id is not null;
create index senders_by_token on senders (verification_token_hash)
  where verification_token_hash is not null;
-- A name that changed hands ends the proofs of its addresses; a hosted address asks for its
-- senders.
create index senders_by_domain on senders (domain);

-- Groups of mailboxes to which keys can be limited.
create table mailbox_namespaces (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  created_at bigint not null, updated_at bigint not null,
  unique (organization_id, name)
) ${clustered};

-- Mailboxes of people and agents, which receive and send mail.
create table mailboxes (
  id text primary key,
  organization_id text not null references organizations,
  slug text not null, display_name text,
  -- A deleted mailbox keeps its row for its mail.
  status text not null,
  primary_address text not null,
  created_at bigint not null, updated_at bigint not null,
  namespace_id text references mailbox_namespaces,
  description text,
  -- JSON: texts by key.
  metadata text not null default '{}',
  -- JSON: allowed and blocked senders, each a list of addresses and domains.
  filters text not null default '{"allow":[],"block":[]}',
  -- Default From of its mail; null: the primary address, with the name of the mailbox.
  default_from text, default_from_name text,
  deleted_at bigint,
  unique (organization_id, slug)
);
create index mailboxes_listed on mailboxes (organization_id, id) where status <> 'deleted';
create index mailboxes_deleted on mailboxes (deleted_at) where deleted_at is not null;
create index mailboxes_of_namespace on mailboxes (namespace_id);

-- Addresses of mailboxes.
create table mailbox_addresses (
  id text primary key,
  mailbox_id text not null references mailboxes on delete cascade,
  -- In lower case, so that no two mailboxes differ only in case.
  address text not null unique,
  source text not null,
  domain_id text references domains on delete cascade,
  display_name text,
  created_at bigint not null
);
-- The deletion of a domain deletes its addresses.
create index mailbox_addresses_of_domain on mailbox_addresses (domain_id);
create index mailbox_addresses_of_mailbox on mailbox_addresses (mailbox_id, id);

-- Mailboxes for mail to any other address of a domain.
-- The name is unique over all organizations: received mail has only the name.
create table catch_alls (
  domain text primary key,
  domain_id text not null unique references domains on delete cascade,
  mailbox_id text not null references mailboxes on delete cascade,
  created_at bigint not null
) ${clustered};
create index catch_alls_of_mailbox on catch_alls (mailbox_id);

-- Plans that grow the daily volume of a sending domain.
create table warming_plans (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null references domains on delete cascade, domain text not null,
  status text not null,
  -- Reputation of the domain at the start: new, migrating or returning.
  identity text not null,
  initial_daily_recipients integer not null,
  daily_growth_percent integer not null,
  target_daily_recipients integer not null,
  -- Hours that began earlier do not count as evidence.
  evidence_since bigint not null,
  hold_reason text, held_at bigint, paused_at bigint, completed_at bigint,
  created_at bigint not null, updated_at bigint not null,
  -- Whether direct sends only count in the window, or wait above its allowance: count or defer.
  direct text not null default 'count',
  -- Recipients of first attempts in the open window of a plan that defers.
  taken_recipients integer not null default 0
);
create index warming_plans_domain on warming_plans (domain_id, id);
-- One live plan for a domain, and the domains of an organization that have one.
create unique index warming_plans_live on warming_plans (organization_id, domain_id)
  where status in ('active', 'paused', 'held');
create index warming_plans_deferring on warming_plans (organization_id, domain)
  where direct = 'defer';

-- Windows of a plan: allowed and accepted recipients of 24 hours.
create table warming_batches (
  id text primary key,
  plan_id text not null references warming_plans on delete cascade,
  domain_id text not null,
  sequence integer not null,
  state text not null,
  starts_at bigint not null, ends_at bigint not null,
  allowance_recipients integer not null,
  reserved_recipients integer not null,
  accepted_recipients integer not null,
  cancelled_at bigint,
  created_at bigint not null
);
create unique index warming_batches_sequence on warming_batches (plan_id, sequence);
create unique index warming_batches_open on warming_batches (domain_id) where state = 'open';
create index warming_batches_ends on warming_batches (ends_at) where state = 'open';

-- Decisions on a plan, with their authors.
create table warming_decisions (
  id text primary key,
  plan_id text not null references warming_plans on delete cascade,
  kind text not null,
  batch_id text,
  actor text not null, note text,
  created_at bigint not null
) ${clustered};
create index warming_decisions_plan on warming_decisions (plan_id, id);

-- A counter of plans that began or ended, which every process polls.
create table warming_changes (counter bigint not null);
insert into warming_changes (counter) values (0);

-- Mail of an organization by the hour of its acceptance, in shards.
create table counters (
  organization_id text not null, bucket_start bigint not null, shard integer not null,
  ${metrics},
  primary key (organization_id, bucket_start, shard)
) ${clustered};

-- Mail of an organization by day and trait, such as its campaign.
create table breakdown_counters (
  organization_id text not null,
  -- 'domain', 'campaign', 'template' or 'sender'.
  kind text not null,
  bucket_start bigint not null,
  -- The domain, or the id; '*' for all beyond the bound.
  name text not null,
  shard integer not null,
  ${metrics},
  primary key (organization_id, kind, bucket_start, name, shard)
) ${clustered};

-- Attempts, hard bounces and complaints by the hour.
create table health_counters (
  organization_id text not null,
  -- '' (all mail), 'sender:…' or 'from:…' (a sending domain).
  scope text not null,
  bucket_start bigint not null,
  -- Bounces and complaints are in shard 0: each is judged with all earlier counts.
  shard integer not null,
  attempted bigint not null, hard_bounced bigint not null, complained bigint not null,
  primary key (organization_id, scope, bucket_start, shard)
) ${clustered};
-- For retention.
create index health_counters_age on health_counters (bucket_start);

-- Standing warnings and held domains.
create table health_reviews (
  organization_id text not null,
  -- '' (all mail) or 'from:…', as in health_counters.
  scope text not null,
  -- Earlier outcomes do not count: a review by the operator forgives them.
  since bigint not null,
  warned_at bigint, held_at bigint, hold_reason text,
  primary key (organization_id, scope)
) ${clustered};
-- Every claim reads the held domains.
create index health_reviews_held on health_reviews (held_at) where held_at is not null;
`;
