// Lists of deliveries by status and by kind read what they show alone: (endpoint_id, status, id) stands in the
// place of (endpoint_id, id), whose lists merge the ranges of the four statuses.
import type { Migration } from '../migration.ts';

export const webhookLists: Migration = {
  name: '0021-webhook-lists',
  statements() {
    return [
      'drop index webhook_deliveries_endpoint',
      'create index webhook_deliveries_status on webhook_deliveries (endpoint_id, status, id)',
      `create index webhook_deliveries_kind on webhook_deliveries
        (endpoint_id, event_type, status, id)`,
      // For the deletion of old counters.
      'create index webhook_counters_quarter on webhook_counters (quarter)',
    ];
  },
};
