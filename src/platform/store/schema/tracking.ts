// Tables of tracking: links, opens and clicks, and the tracking hosts of customers.
import type { EngineWords } from '../migration.ts';

export const tracking = ({ clustered }: EngineWords) => `
-- Targets of the links in tracked contents.
create table content_links (
  content_id text not null references contents on delete cascade,
  -- Number of the link.
  link integer not null,
  url text not null,
  primary key (content_id, link)
) ${clustered};

-- Places at which the HTML of a tracked content is cut.
-- One row for all cuts of a content: composing reads it for each message.
create table content_cuts (
  content_id text primary key references contents on delete cascade,
  -- JSON.
  cuts text not null
) ${clustered};

-- Opens and clicks of one recipient.
create table engagements (
  message_id text not null references messages on delete cascade,
  delivery_id text not null,
  -- First open and click by a person.
  opened_at bigint, clicked_at bigint,
  -- All of them, by persons and by machines.
  opens bigint not null, clicks bigint not null, automated bigint not null,
  -- JSON: time of the last event by link, because a quick repeat makes no event.
  recorded text not null,
  -- Events of this delivery, which are bounded.
  recorded_count integer not null default 0,
  primary key (message_id, delivery_id)
) ${clustered};

-- Hosts for links on customers' domains. Keys are encrypted.
create table tracking_hosts (
  id text primary key,
  organization_id text not null references organizations,
  domain_id text not null unique references domains on delete cascade,
  label text not null, hostname text not null,
  status text not null, reason_code text, reason_message text,
  caa_blocked integer not null,
  -- JSON: a list of texts.
  verification_errors text not null,
  -- Consecutive failures of the certificate authority.
  failures integer not null,
  enabled_at bigint not null,
  -- Time since which its DNS record is missing.
  missing_since bigint,
  last_checked_at bigint, next_check_at bigint,
  -- Lease of the daemon that checks the host.
  claimed_by text, claimed_until bigint,
  teardown_at bigint,
  -- The order in progress at the authority, and the earliest time of the next one.
  order_url text, order_since bigint, order_key text, order_after bigint,
  -- End of a rate limit of the authority. A manual check does not shorten it.
  rate_limited_until bigint,
  challenge_url text, challenge_token text, challenge_value text,
  certificate text, certificate_key text, certificate_since bigint,
  certificate_expires_at bigint, certificate_renew_at bigint,
  created_at bigint not null, updated_at bigint not null
);
create index tracking_hosts_organization on tracking_hosts (organization_id, id);
-- A disabled host leaves its name to others.
create unique index tracking_hosts_hostname on tracking_hosts (hostname)
  where status <> 'disabled';
create index tracking_hosts_due on tracking_hosts (next_check_at) where next_check_at is not null;

-- A counter of changes to served hosts.
-- Every process polls it.
create table tracking_host_changes (counter bigint not null);
insert into tracking_host_changes (counter) values (0);

-- Accounts at certificate authorities, their keys encrypted.
create table acme_accounts (
  directory_url text primary key,
  -- Null before the registration.
  url text,
  private_key text not null,
  created_at bigint not null
) ${clustered};
`;
