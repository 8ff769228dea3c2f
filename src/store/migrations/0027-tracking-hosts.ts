// Hosts of the customers' own domains that open and click links point to, their certificates, and the
// accounts at the authorities that issue those.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const trackingHosts: Migration = {
  name: '0027-tracking-hosts',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // One for a domain. `claimed_by` holds the lease of who looks at it, until `claimed_until`.
      // `order_…` and `challenge_…`: what is under way at the authority. `order_after`: none before;
      // `peace_until`: because the authority said so.
      `create table tracking_hosts (
        id text primary key, organization_id text not null references organizations (id),
        domain_id text not null unique references domains (id) on delete cascade,
        label text not null, hostname text not null, status text not null,
        reason_code text, reason_message text, caa_blocked integer not null,
        verification_errors text not null, failures integer not null,
        enabled_at bigint not null, missing_since bigint, last_checked_at bigint,
        next_check_at bigint, claimed_by text, claimed_until bigint, teardown_at bigint,
        order_url text, order_since bigint, order_key text, order_after bigint,
        peace_until bigint,
        challenge_url text, challenge_token text, challenge_value text,
        certificate text, certificate_key text, certificate_since bigint,
        certificate_expires_at bigint, certificate_renew_at bigint,
        created_at bigint not null, updated_at bigint not null)`,
      'create index tracking_hosts_organization on tracking_hosts (organization_id, id)',
      `create unique index tracking_hosts_hostname on tracking_hosts (hostname)
        where status <> 'disabled'`,
      `create index tracking_hosts_due on tracking_hosts (next_check_at)
        where next_check_at is not null`,

      // Counts what hosts are served and how, so that every process learns of it.
      'create table tracking_host_changes (counter bigint not null)',
      'insert into tracking_host_changes (counter) values (0)',

      `create table acme_accounts (
        directory_url text primary key, url text, private_key text not null,
        created_at bigint not null) ${compact}`,
    ];
  },
};
