// Brands, and unsubscribe groups that recipients see on their page.
import type { Migration } from '../migration.ts';

export const brands: Migration = {
  name: '0005-brands',
  sql: () => `
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

-- Whether the unsubscribe page lists the group for every recipient of the organization.
alter table unsubscribe_groups add column is_public integer not null default 0;
create index unsubscribe_groups_public on unsubscribe_groups (organization_id, name, id)
  where is_public = 1;
`,
};
