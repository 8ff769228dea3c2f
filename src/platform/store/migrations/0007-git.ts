// The git repositories of templates: objects and refs.
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
  -- 1 for a commit whose ancestors are all commits before it.
  closes_history integer not null,
  primary key (repository_id, oid)
);
create index git_objects_position on git_objects (repository_id, position);

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
`,
};
