// Tables of extensions: versions, and installations with their grants.
import type { EngineWords } from '../migration.ts';

export const extensions = ({ clustered }: EngineWords) => `
-- Programs of other makers.
create table extensions (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, display_name text, description text,
  -- 'webhook' or 'hosted'.
  runtime text not null,
  -- Whether all organizations may install it.
  is_public integer not null,
  -- The version that is installed without a choice; null before the first.
  latest_version_id text,
  created_at bigint not null, updated_at bigint not null,
  unique (organization_id, name)
) ${clustered};
create index extensions_of_organization on extensions (organization_id, id);
create index extensions_public on extensions (id) where is_public = 1;

-- Published versions. Only their withdrawal changes them.
create table extension_versions (
  id text primary key,
  extension_id text not null references extensions on delete cascade,
  organization_id text not null references organizations,
  version text not null,
  -- The version without its build metadata: two of the same precedence cannot be ordered.
  precedence text not null,
  -- JSON, sorted.
  permissions text not null, events text not null, send_modes text not null,
  runtime text not null, changelog text,
  withdrawn_at bigint,
  created_at bigint not null,
  unique (extension_id, precedence)
) ${clustered};
create index extension_versions_of_extension on extension_versions (extension_id, id);
create index extension_versions_of_organization on extension_versions (organization_id, id);

-- Versions that organizations have accepted. The key and the endpoint hold the grants.
create table extension_installations (
  id text primary key,
  organization_id text not null references organizations,
  extension_id text not null references extensions,
  version_id text not null references extension_versions,
  -- Named: a rotation replaces the key.
  key_id text not null,
  -- Null for an installation without a webhook.
  endpoint_id text,
  -- 'active', 'failing' (its endpoint was disabled for its failures) or 'disabled'.
  status text not null,
  send_mode text not null,
  -- The reached mailboxes: JSON of ids, or a namespace; null for all.
  mailbox_ids text, namespace_id text,
  -- JSON: who installed it.
  created_by text not null,
  created_at bigint not null, updated_at bigint not null, disabled_at bigint
) ${clustered};
create index extension_installations_of_organization
  on extension_installations (organization_id, id);
create index extension_installations_of_status
  on extension_installations (organization_id, status, id);
create index extension_installations_of_extension on extension_installations (extension_id, id);
create index extension_installations_of_version on extension_installations (version_id);
create index extension_installations_of_endpoint on extension_installations (endpoint_id)
  where endpoint_id is not null;

-- Upgrades and rollbacks, kept for good. Named: they outlive the installation and the extension.
create table installation_version_changes (
  id text primary key,
  organization_id text not null references organizations,
  installation_id text not null, extension_id text not null,
  from_version_id text not null, from_version text not null,
  to_version_id text not null, to_version text not null,
  -- JSON: the sorted difference of the grants.
  added text not null, removed text not null,
  -- JSON: who changed it.
  changed_by text not null, changed_at bigint not null
) ${clustered};
create index installation_version_changes_list
  on installation_version_changes (organization_id, installation_id, id);
`;
