// What ties a report to the copies that it may speak for: the SMTP transaction that deliveries shared, and
// the one that the return path of a report names (src/queue/return-path.ts).
import type { Migration } from '../migration.ts';

export const reportTransactions: Migration = {
  name: '0014-report-transactions',
  statements() {
    return [
      // Null for who began it, and who was alone: nearly all.
      'alter table deliveries add column transaction_id text',
      'alter table inbound_reports add column transaction_id text',
    ];
  },
};
