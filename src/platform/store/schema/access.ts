// Tables of access: organizations, API keys, sessions of the console, and the limits of sending.
import type { EngineWords } from '../migration.ts';

export const access = ({ clustered }: EngineWords) => `
-- Organizations: name, plan, sending status.
create table organizations (
  id text primary key,
  name text not null unique,
  plan text not null,
  payment_method_on_file integer not null,
  timezone text not null,
  sending_status text not null, paused_at bigint, pause_reason text,
  -- Each new application adds one to the generation.
  onboarding_status text not null, onboarding_generation integer not null,
  created_at bigint not null, updated_at bigint not null,
  -- Defaults of a send that does not say whether to track.
  track_opens integer not null default 0, track_clicks integer not null default 0,
  -- 'any' or 'strong': the proofs that open its console.
  sign_in text not null default 'any',
  -- Days after which messages go, and their content. Null: those of the configuration alone.
  messages_days integer,
  content_days integer,
  is_first integer not null default 0,
  -- JSON: keys of the metadata of messages that are searched by index. Null without one.
  metadata_keys text,
  -- Id up to which earlier messages are indexed by these keys; '' before the terms of earlier keys
  -- are gone. Null once all are indexed.
  metadata_indexed_to text
) ${clustered};
create index organizations_to_index on organizations (id) where metadata_indexed_to is not null;
-- Every claim reads the paused organizations.
create index organizations_sending on organizations (sending_status);
create unique index organizations_first on organizations (is_first) where is_first = 1;

-- A counter of changes to organizations.
-- Every process polls it.
create table organization_changes (counter bigint not null);
insert into organization_changes (counter) values (0);

-- API keys: hashes, permissions and constraints.
create table api_keys (
  id text primary key,
  organization_id text not null references organizations,
  name text, description text,
  hash text not null unique,
  -- First characters of the key, by which people recognize it.
  start text not null,
  role_name text not null,
  -- JSON.
  permissions text,
  owner text not null,
  is_active integer not null,
  expires_at bigint, last_used_at bigint,
  created_at bigint not null,
  -- JSON: allowed networks and senders; null for a key without constraints.
  constraints text,
  -- Id of the first key in a chain of rotations. At most one key of a chain is active.
  lineage text,
  -- Whether its mail is sent or waits for approval.
  send_mode text not null default 'send',
  -- Id of the key that replaced this one by rotation.
  replaced_by text,
  -- The installation that a key belongs to; null for all other keys.
  installation_id text,
  -- JSON: the kinds of events that the installation may read.
  events text,
  -- Member or key that made it; null for the operator.
  created_by text
);
create index api_keys_of_organization on api_keys (organization_id, id);
-- A scheduled message finds the active key that replaced its own.
create index api_keys_of_lineage on api_keys (lineage);
-- Lists of keys leave out those of installations.
create index api_keys_by_hand on api_keys (organization_id, id) where installation_id is null;
-- A deleted member's keys.
create index api_keys_by_maker on api_keys (organization_id, created_by, id)
  where installation_id is null and created_by is not null;
create index api_keys_of_installation on api_keys (installation_id) where installation_id is not null;

-- A counter of changes that remove rights from keys, which every process polls.
create table key_changes (counter bigint not null);
insert into key_changes (counter) values (0);

-- Sends of an organization by day, in shards.
create table daily_usage (
  organization_id text not null,
  day bigint not null,
  -- 0 for an organization with a quota, whose transactions wait for each other.
  shard integer not null,
  emails bigint not null, messages bigint not null,
  primary key (organization_id, day, shard)
) ${clustered};

-- Heartbeats of daemons, on PostgreSQL only.
create table daemons (
  id text primary key, beats bigint not null,
  -- Ids of the root keys that a daemon has. Null for a daemon of an earlier version.
  root_keys text,
  -- JSON: keyed digests of settings by key of the configuration. Null for a daemon of an earlier
  -- version.
  settings text
);

-- Rate limits that several daemons share.
create table rate_buckets (
  -- Id of an organization or of a key.
  id text primary key,
  -- Millionths of a request.
  level bigint not null,
  at bigint not null
) ${clustered};

-- Persons: an address and ways to sign in, for all organizations.
create table persons (
  id text primary key,
  -- Normal form of src/access/members/address.ts.
  email text not null unique,
  created_at bigint not null,
  last_signed_in_at bigint,
  -- Subject at a provider of single sign-on.
  oidc_issuer text, oidc_client text, oidc_subject text, bound_at bigint,
  -- Time at which the operator allowed a mailed link to add a passkey.
  new_start_at bigint,
  -- A change of address: the asked address, or the former one and the time of the change.
  new_email text, former_email text, moved_at bigint,
  unique (oidc_issuer, oidc_client, oidc_subject)
);

-- Members: places of persons in organizations, and invitations.
create table members (
  id text primary key,
  organization_id text not null references organizations,
  -- Null while invited.
  person_id text references persons,
  -- The address of the person, moved with it.
  email text not null,
  name text,
  role text not null,
  -- 'invited', 'active' or 'disabled'.
  status text not null,
  -- Id of the member or key that invited; null for the operator.
  invited_by text,
  -- Of the last invitation: hash of the token, the encrypted token, its mail and its end.
  invitation_hash text unique, invitation_token text, invitation_message_id text, expires_at bigint,
  accepted_at bigint, last_seen_at bigint,
  created_at bigint not null, updated_at bigint not null,
  unique (organization_id, email),
  unique (organization_id, person_id)
);
create index members_of_organization on members (organization_id, id);
create index members_of_person on members (person_id) where person_id is not null;
create index members_by_email on members (email);
-- Open invitations, and active owners.
create index members_by_status on members (organization_id, status, role);
create index members_by_mail on members (invitation_message_id)
  where invitation_message_id is not null;

-- A signed-in browser: of the operator, of a key, or of a person.
create table console_sessions (
  -- Hash of the token in the cookie.
  hash text primary key,
  organization_id text not null references organizations,
  key_id text references api_keys,
  person_id text references persons,
  -- Place of the person in the organization of the session.
  member_id text references members,
  -- Proof that began the session: 'key', 'operator', 'link', 'passkey' or 'provider'.
  proof text not null,
  -- JSON: times of the last proof of each kind.
  proofs text not null,
  -- Words such as "Firefox on Windows", and a network of /24 or /48.
  browser text, network text,
  -- 1 for a session that opens no other organization of the person.
  is_alone integer not null default 0,
  -- Longest life from its creation; null for the usual time.
  longest_ms bigint,
  -- Form that awaits a proof, encrypted by the token of the session, and its time.
  kept_input text, kept_at bigint,
  -- Sentence about the last action, encrypted likewise; the next page shows it.
  toast text,
  -- Secret that can be seen for ten minutes: hash of its id, the secret encrypted likewise, its time.
  secret_id text, secret text, secret_at bigint,
  created_at bigint not null,
  last_seen_at bigint not null
) ${clustered};
create index console_sessions_by_person on console_sessions (person_id) where person_id is not null;
create index console_sessions_by_member on console_sessions (member_id) where member_id is not null;
create index console_sessions_by_key on console_sessions (key_id);
create index console_sessions_by_creation on console_sessions (created_at);
create index console_sessions_by_organization on console_sessions (organization_id);

-- A link of "svc open": it begins one session of the operator.
create table console_links (
  hash text primary key,
  organization_id text not null references organizations,
  expires_at bigint not null
) ${clustered};
create index console_links_by_expiry on console_links (expires_at);
create index console_links_by_organization on console_links (organization_id);

-- Passkeys of persons.
create table passkeys (
  id text primary key,
  person_id text not null references persons,
  -- Host that the passkey belongs to.
  rp_id text not null,
  -- Id by the authenticator, in base64url.
  credential_id text not null unique,
  -- COSE key, in base64url.
  public_key text not null,
  counter bigint not null,
  -- Whether the passkey is copied between devices.
  is_synced integer not null,
  name text not null,
  created_at bigint not null, last_used_at bigint,
  -- Time at which the counter did not grow: refused since then.
  refused_at bigint
) ${clustered};
create index passkeys_of_person on passkeys (person_id, id);
create index passkeys_by_site on passkeys (rp_id);

-- Challenges of passkeys that were answered, until they are too old.
create table used_challenges (
  hash text primary key,
  used_at bigint not null
) ${clustered};
create index used_challenges_by_time on used_challenges (used_at);

-- A mailed link of a person (src/access/sessions/mailed-links.ts).
create table mailed_links (
  -- Hash of the token.
  hash text primary key,
  person_id text not null references persons,
  purpose text not null,
  -- Encrypted token for the copy of the mail that leaves, and the mail.
  token text, message_id text unique,
  email text not null,
  browser text not null, network text not null,
  asked_at bigint not null,
  -- Session that asks for a proof.
  session_hash text,
  expires_at bigint not null
) ${clustered};
create index mailed_links_of_person on mailed_links (person_id);
create index mailed_links_by_expiry on mailed_links (expires_at);

-- Browsers in which a person signed in before.
create table known_browsers (
  -- Hash of person and cookie.
  hash text primary key,
  person_id text not null references persons,
  last_at bigint not null
) ${clustered};
create index known_browsers_of_person on known_browsers (person_id);
create index known_browsers_by_age on known_browsers (last_at);

-- Mails to persons, and to addresses of senders, that count for a limit.
create table sign_in_mails (
  key text primary key,
  -- JSON: times.
  mailed_at text not null,
  last_mailed_at bigint not null
) ${clustered};
create index sign_in_mails_by_age on sign_in_mails (last_mailed_at);
`;
