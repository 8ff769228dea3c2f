// Tables of deliveries: the queue, with holds and lanes, and reports of other servers on sent mail.
import type { EngineWords } from '../migration.ts';

export const deliveries = ({ clustered, bytes }: EngineWords) => `
-- Recipients of sent messages, and the queue.
-- The row of a delivery is also its entry in the queue: nothing to reconcile after a crash.
create table deliveries (
  id text primary key,
  message_id text not null references messages on delete cascade,
  recipient_id text not null,
  organization_id text not null,
  -- Domain of From. Sending domains share the turns of their organization.
  sender_domain text not null,
  email text not null, domain text not null,
  -- Lane for which the delivery waits.
  lane text,
  -- Place among ready deliveries; null for all others.
  turn bigint,
  status text not null,
  attempt_count integer not null, max_attempts integer not null,
  -- Time of the next attempt, or end of the lease while it is claimed.
  due_at bigint, claimed_by text,
  wait_reason text,
  queued_at bigint, claimed_at bigint, last_attempt_at bigint, sent_at bigint,
  delivered_at bigint, read_at bigint, failed_at bigint, terminal_at bigint,
  expires_at bigint not null,
  -- JSON: details and attempts.
  error_code text, error_message text, error_details text, attempts text,
  created_at bigint not null, updated_at bigint not null,
  -- Time of the planned retry that an early attempt precedes, and early attempts so far.
  planned_at bigint, early_attempts integer not null default 0,
  -- Name of the SMTP transaction of the last attempt; null for the id of the delivery (usual).
  transaction_id text,
  unsubscribe_group_id text,
  campaign_run_id text
) ${clustered};
create index deliveries_of_message on deliveries (message_id);
create index deliveries_ready on deliveries (turn) where turn is not null;
create index deliveries_due on deliveries (due_at) where turn is null and due_at is not null;
-- A lane with room takes its next delivery.
create index deliveries_of_lane on deliveries (lane, due_at) where lane is not null;
create index deliveries_unconfirmed on deliveries (sent_at) where status = 'sent';
create index deliveries_claimed on deliveries (claimed_by) where claimed_by is not null;
-- Retries can be counted and listed among a million others. First attempts never enter this index.
create index deliveries_waiting on deliveries (due_at)
  where turn is null and due_at is not null and lane is null and claimed_by is null;
-- Mail that could not be carried to its server. It is due once the server accepts mail again.
create index deliveries_unreached on deliveries (id)
  where error_code = 'connection' and wait_reason = 'retry' and due_at is not null;
-- Mail of a run that is still in the queue.
create index deliveries_of_run on deliveries (campaign_run_id, id)
  where campaign_run_id is not null and due_at is not null;

-- Holds of the operator on queued mail.
create table queue_holds (
  id text primary key,
  -- Joins the next four columns: a unique index over them would admit duplicates of null.
  scope text not null unique,
  organization_id text, domain text, message_id text, delivery_id text,
  note text,
  created_at bigint not null, released_at bigint
);

-- Active lanes of each daemon, shown by "svc queue top".
create table lane_states (
  worker text primary key,
  reported_at bigint not null,
  -- JSON.
  lanes text not null
);

-- MTA-STS policies in force.
-- They outlive a restart: otherwise an attacker who hides the record for a moment removes the
-- protection (RFC 8461 5.1).
create table mta_sts_policies (
  domain text primary key,
  policy_id text not null, policy text not null,
  fetched_at bigint not null, expires_at bigint not null
);
-- The oldest are deleted beyond the bound.
create index mta_sts_policies_age on mta_sts_policies (fetched_at);

-- The queue of received bounces, complaints and DMARC reports.
-- A row is deleted once its mail is read.
create table inbound_reports (
  id text primary key,
  organization_id text not null references organizations,
  kind text not null,
  -- The first delivery of the SMTP transaction that the return path names.
  delivery_id text,
  envelope_from text not null,
  -- The first megabyte of the mail.
  raw ${bytes} not null,
  tries integer not null, due_at bigint not null,
  created_at bigint not null,
  -- The SMTP transaction that the return path names.
  transaction_id text
);
create index inbound_reports_due on inbound_reports (due_at);

-- DMARC aggregate reports on mail from our domains.
create table dmarc_reports (
  id text primary key,
  organization_id text not null references organizations,
  domain text not null,
  reporter text not null, report_id text not null,
  begins_at bigint not null, ends_at bigint not null,
  messages bigint not null, passed bigint not null, failed bigint not null,
  -- JSON: at most 200 of DmarcSource.
  sources text not null,
  created_at bigint not null,
  -- A repeated report adds no row.
  unique (organization_id, reporter, report_id)
);
create index dmarc_reports_domain on dmarc_reports (organization_id, domain, begins_at, id);
-- For retention.
create index dmarc_reports_age on dmarc_reports (organization_id, created_at);
`;
