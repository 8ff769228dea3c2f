// Bounces and complaint reports that were taken with a 250 and wait to be read. A row goes with its
// raw mail once it has been read; `due_at` is when the next try may begin.
import type { Migration } from '../migration.ts';

export const inboundReports: Migration = {
  name: '0005-inbound-reports',
  statements(engine) {
    const bytes = engine === 'sqlite' ? 'blob' : 'bytea';
    return [
      `create table inbound_reports (
        id text primary key, organization_id text not null references organizations,
        kind text not null, delivery_id text, envelope_from text not null, raw ${bytes} not null,
        tries integer not null, due_at bigint not null, created_at bigint not null)`,
      'create index inbound_reports_due on inbound_reports (due_at)',
    ];
  },
};
