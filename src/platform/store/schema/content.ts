// Tables of content: brands, templates and their git repositories.
import type { EngineWords } from '../migration.ts';

export const content = ({ clustered, bytes }: EngineWords) => `
-- Looks of mail, by slug: CSS, logos and footer.
create table brands (
  id text primary key,
  organization_id text not null references organizations,
  slug text not null,
  name text not null,
  is_default integer not null,
  css text,
  logo_url text,
  logo_dark_url text,
  icon_url text,
  company_name text,
  -- JSON object.
  address text,
  -- JSON array of {label, url}.
  social_links text not null,
  -- Digest over name, slug, CSS, logos and footer.
  digest text not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (organization_id, slug)
);
create index brands_organization on brands (organization_id, id);
create unique index brands_default on brands (organization_id) where is_default = 1;

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

-- Objects of the git repositories of templates: commits, trees and files.
create table git_objects (
  -- Id of the template.
  repository_id text not null,
  oid text not null,
  organization_id text not null references organizations(id),
  -- commit, tree or blob.
  type text not null,
  -- Bytes before compression.
  size bigint not null,
  -- Compressed without git's header: a pack has the same bytes.
  content ${bytes} not null,
  -- Place of a commit in the history of main, from 1. Trees and files: place of the first commit
  -- with them. Null for objects that await a merge.
  position bigint,
  -- 1 for a commit with every earlier commit among its ancestors.
  closes_history integer not null,
  primary key (repository_id, oid)
);
create index git_objects_position on git_objects (repository_id, position, oid);

-- Branches of the git repositories of templates.
create table git_refs (
  repository_id text not null,
  name text not null,
  organization_id text not null references organizations(id),
  oid text not null,
  -- Commits in its history.
  commits bigint not null,
  primary key (repository_id, name)
);

-- Workspaces of templates: staged files on the head of main.
create table template_workspaces (
  template_id text primary key references templates(id) on delete cascade,
  organization_id text not null references organizations(id),
  -- Grows with each change.
  revision bigint not null,
  -- Head of main.
  base_commit text not null,
  -- Commit of a bundle that awaits a merge.
  pending_head text,
  -- JSON: staged files by path; null deletes one.
  overlay text not null,
  -- JSON: conflicts of the staged files with the pending commit, or with a push.
  conflicts text not null,
  -- JSON: sources of the staged files.
  provenance text not null,
  created_at bigint not null,
  updated_at bigint not null,
  -- JSON: author and face of the change.
  created_by text not null,
  updated_by text not null
);

-- Answers to changes of workspaces, by key.
create table workspace_answers (
  template_id text not null references templates(id) on delete cascade,
  idempotency_key text not null,
  organization_id text not null references organizations(id),
  fingerprint text not null,
  -- Compressed JSON.
  answer ${bytes} not null,
  created_at bigint not null,
  primary key (template_id, idempotency_key)
);
create index workspace_answers_age on workspace_answers (created_at);
`;
