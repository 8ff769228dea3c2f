-- Labels of contacts.
create table labels (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, color text,
  is_pinned integer not null default 0,
  created_at bigint not null, updated_at bigint not null
);
create index labels_organization on labels (organization_id, id);
