// Campaigns, their runs, the ledger of who got what, and messages that are filled when they are
// composed.
import type { Migration } from '../migration.ts';

export const campaigns: Migration = {
  name: '0008-campaigns',
  sql: ({ clustered }) => `
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
  forgiven text,
  -- The last judged contact, and the last one that the run judges.
  last_contact_id text, last_of_audience text,
  wait_reason text, next_dispatch_at bigint,
  -- Time of the last page that made a message.
  dispatched_at bigint,
  -- The daemon that walks the run, and until when.
  worker text, leased_until bigint,
  -- Time of the next step; null for a run without one.
  due_at bigint,
  -- The key that made the run; null for the operator.
  created_by text, member_role text, is_test integer not null,
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

-- Contents that are filled when each message is composed.
create table merged_contents (
  content_id text primary key references contents on delete cascade,
  -- JSON: the compiled template, and the values that all its messages share.
  compiled text not null
);

-- Values of one message of such a content.
create table message_values (
  message_id text primary key references messages on delete cascade,
  -- JSON, at most 8 KB.
  merge_data text not null
) ${clustered};

alter table deliveries add column campaign_run_id text;
-- Mail of a run that is still in the queue.
create index deliveries_of_run on deliveries (campaign_run_id, id)
  where campaign_run_id is not null and due_at is not null;

-- Audiences are read in the order of ids.
create index contacts_by_id on contacts (organization_id, id);
-- Contacts that want no mail, in the words of src/people/contacts/fate-queries.ts.
create index contacts_without_mail on contacts (organization_id, id)
  where preferences like '%"email":false%';

-- Groups by query: JSON of the conditions; null for a group with members by hand.
alter table contact_groups add column query text;

-- Whether contacts must confirm the group.
alter table unsubscribe_groups add column confirm integer not null default 0;
-- Contacts that were asked to confirm a group.
create table group_confirmations (
  group_id text not null references unsubscribe_groups on delete cascade,
  contact_id text not null references contacts on delete cascade,
  organization_id text not null,
  -- pending, confirmed or removed; a removed row keeps the number of its mails.
  status text not null,
  -- Mails with the link: their number, the last one and the end of its link.
  mails integer not null, mailed_at bigint, expires_at bigint,
  -- Time of the next mail that is due; null for none.
  due_at bigint,
  confirmed_at bigint,
  created_at bigint not null,
  primary key (group_id, contact_id)
) ${clustered};
create index group_confirmations_of_contact on group_confirmations (contact_id);
create index group_confirmations_of_group on group_confirmations (group_id, status, contact_id);
create index group_confirmations_due on group_confirmations (organization_id, due_at)
  where due_at is not null;
`,
};
