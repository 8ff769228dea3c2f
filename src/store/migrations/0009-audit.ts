// Audit log (src/audit): one row for each change of an organization, a key, a domain and so on,
// written in the transaction of the change.
import type { Migration } from '../migration.ts';

export const audit: Migration = {
  name: '0009-audit',
  statements() {
    return [
      // `actor` is `key`, `operator` or `service`; the name and role are those of the time. `details` is
      // JSON. The resource may be gone.
      `create table audit_entries (
        id text primary key, organization_id text not null references organizations,
        actor text not null, key_id text, key_name text, role text, action text not null,
        resource_id text, details text, created_at bigint not null)`,
      'create index audit_entries_list on audit_entries (organization_id, created_at, id)',
      'create index audit_entries_action on audit_entries (organization_id, action, created_at, id)',
      `create index audit_entries_resource on audit_entries
        (organization_id, resource_id, created_at, id)`,
    ];
  },
};
