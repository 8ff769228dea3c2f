// Templates, their published versions, and families of templates.
import type { Migration } from '../migration.ts';

export const templates: Migration = {
  name: '0006-templates',
  sql: ({ clustered }) => `
-- Stored content of mail, filled for each message.
create table templates (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, slug text not null, channel text not null, description text,
  -- draft, published or archived.
  status text not null,
  -- Named: a deleted family clears it.
  family_id text,
  -- The version that sends use: its id and its number. Null before the first publication.
  version_id text, version_number integer,
  -- Number of the next version.
  next_version integer not null default 1,
  published_at bigint, archived_at bigint,
  created_at bigint not null, updated_at bigint not null,
  unique (organization_id, slug)
) ${clustered};
create index templates_of_organization on templates (organization_id, id);
create index templates_by_status on templates (organization_id, status, id);
create index templates_of_family on templates (organization_id, family_id, id)
  where family_id is not null;

-- Compiled commits of templates. A version never changes.
create table template_versions (
  id text primary key,
  organization_id text not null references organizations,
  template_id text not null references templates on delete cascade,
  number integer not null,
  -- The commit of main, 40 hexadecimal characters.
  commit_hash text not null,
  -- JSON: the compiled template, and advice about it.
  compiled text not null, warnings text not null,
  html_bytes integer not null,
  -- Named: the brand whose CSS is in the HTML, and the digest of that CSS.
  brand_slug text, css_digest text not null,
  -- The publishing key; null for the operator.
  created_by text,
  created_at bigint not null,
  unique (template_id, number)
);
create index template_versions_of_organization on template_versions (organization_id, template_id);

-- Templates that belong together.
create table template_families (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  created_at bigint not null, updated_at bigint not null
) ${clustered};
create index template_families_of_organization on template_families (organization_id, id);
`,
};
