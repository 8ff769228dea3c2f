// Summaries of DMARC aggregate reports of receivers on mail of our domains. A report that comes twice has one
// row; old rows are deleted (src/reports/dmarc/dmarc-reports.ts).
import type { Migration } from '../migration.ts';

export const dmarcReports: Migration = {
  name: '0007-dmarc-reports',
  statements() {
    return [
      // `sources` is JSON: at most 200 of DmarcSource.
      `create table dmarc_reports (
        id text primary key, organization_id text not null references organizations,
        domain text not null, reporter text not null, report_id text not null,
        begins_at bigint not null, ends_at bigint not null, messages bigint not null,
        passed bigint not null, failed bigint not null, sources text not null,
        created_at bigint not null, unique (organization_id, reporter, report_id))`,
      'create index dmarc_reports_domain on dmarc_reports (organization_id, domain, begins_at, id)',
      'create index dmarc_reports_age on dmarc_reports (organization_id, created_at)',
    ];
  },
};
