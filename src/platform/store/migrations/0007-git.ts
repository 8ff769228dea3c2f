// The git repositories of templates, and their workspaces.
import type { Migration } from '../migration.ts';

export const git: Migration = {
  name: '0007-git',
  sql: ({ bytes }) => `
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
  -- Place of a commit in the history of main, from 1. Trees and files: place of the first commit with them.
  -- Null for objects that await a merge.
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
`,
};
