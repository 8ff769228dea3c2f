// Links a report to the deliveries that it may report on: the SMTP transaction that they shared, and the one
// named by the return path of the report (src/queue/return-path.ts).
import type { Migration } from '../migration.ts';

export const reportTransactions: Migration = {
  name: '0014-report-transactions',
  statements() {
    return [
      // Null for the first or only delivery of a transaction: nearly all.
      'alter table deliveries add column transaction_id text',
      'alter table inbound_reports add column transaction_id text',
    ];
  },
};
