// Tables of campaigns, their runs and the ledger of each run.
import type { EngineWords } from '../migration.ts';

export const campaigns = ({ clustered }: EngineWords) => `
-- Content and audience of mail to many contacts.
create table campaigns (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, channel text not null,
  -- Whether it may go to tags and groups without an unsubscribe group.
  transactional integer not null,
  conversation_id text,
  -- JSON: the address it comes from, and audience and content without their large parts.
  sender text, audience text not null, email text not null, metadata text,
  -- JSON: advice about the content, as of its last change.
  warnings text not null,
  created_at bigint not null, updated_at bigint not null,
  -- JSON: HTML, text, files, template data and ids of contacts. Last, as lists do not read it.
  body text not null
) ${clustered};
create index campaigns_of_organization on campaigns (organization_id, id);

-- Runs of campaigns.
create table campaign_runs (
  id text primary key,
  organization_id text not null references organizations,
  -- Named: runs outlive their campaign.
  campaign_id text not null,
  status text not null,
  scheduled_for bigint,
  idempotency_key text,
  -- SHA-256 of the request that made the run.
  fingerprint text not null,
  -- The run whose failed contacts this one repeats.
  retry_of text,
  -- Whether contacts of earlier runs of the campaign are left out.
  only_new integer not null,
  started_at bigint, completed_at bigint,
  total_recipients bigint not null,
  dispatched_count bigint not null, failed_count bigint not null, skipped_count bigint not null,
  failure_reason text, hold_reason text, hold_domain_id text,
  -- Words of a provider, or the rates that held the run.
  hold_detail text,
  -- JSON: health of the run when it was last held for it. Earlier results no longer count.
  excluded_counts text,
  -- The last judged contact, and the last one that the run judges.
  last_contact_id text, last_of_audience text,
  wait_reason text, next_dispatch_at bigint,
  -- Time of the last page that made a message.
  dispatched_at bigint,
  -- The daemon that walks the run, and until when.
  worker text, leased_until bigint,
  -- Time of the next step; null for a run without one.
  due_at bigint,
  -- The key or member that made the run, with the member's address; null for the operator.
  created_by text, actor_email text, member_role text, is_test integer not null,
  created_at bigint not null, updated_at bigint not null,
  -- JSON: audience and policy, and what the messages of the run share.
  audience_snapshot text, policy_snapshot text, shared text,
  -- JSON: the content. Last, as lists do not read it.
  content_snapshot text
) ${clustered};
create index campaign_runs_of_campaign on campaign_runs (organization_id, campaign_id, id);
create unique index campaign_runs_by_key on campaign_runs (organization_id, idempotency_key)
  where idempotency_key is not null;
create index campaign_runs_due on campaign_runs (due_at) where due_at is not null;

-- The ledger of runs: each contact that was judged, once.
create table campaign_recipients (
  run_id text not null references campaign_runs on delete cascade,
  contact_id text not null,
  -- dispatched, failed or skipped.
  outcome text not null,
  reason text,
  -- Named: messages expire.
  message_id text,
  -- Hash of the address of a message, which finds a second contact with it.
  address_key bigint,
  created_at bigint not null,
  -- First open and click by a person, and first use of its unsubscribe link.
  opened_at bigint, clicked_at bigint, unsubscribed_at bigint,
  primary key (run_id, contact_id)
) ${clustered};
create index campaign_recipients_by_address on campaign_recipients (run_id, address_key)
  where address_key is not null;
-- Groups by query ask for the acts of a contact in all runs.
create index campaign_recipients_of_contact on campaign_recipients (contact_id, created_at)
  where outcome = 'dispatched';

-- What became of the messages of a run.
create table run_counters (
  -- Named: reports can come after the run is deleted.
  run_id text primary key,
  sent bigint not null, delivered bigint not null, bounced bigint not null,
  complained bigint not null, opened bigint not null, clicked bigint not null,
  unsubscribed bigint not null, failed bigint not null,
  -- Health, without mail to the addresses of the simulator.
  attempted bigint not null, hard_bounced bigint not null, complaints bigint not null
) ${clustered};

-- Attempts of a run by minute, and those deferred for policy or rate.
create table run_minutes (
  -- Named: a reference would lock the run at each new minute.
  run_id text not null,
  minute bigint not null,
  attempted bigint not null, deferred bigint not null,
  -- The last reply of such a deferral.
  reply text,
  primary key (run_id, minute)
) ${clustered};
`;
