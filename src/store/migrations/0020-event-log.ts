// The log of events can be read in the order in which things happened, by organization: timelines lie by
// message. Steps that the log does not have are not in the index: half of all rows.
import type { Migration } from '../migration.ts';

export const eventLog: Migration = {
  name: '0020-event-log',
  statements() {
    return [
      `create index events_in_order on events (organization_id, id)
        where event_type not in ('queued', 'processing')`,
      'create index resource_events_of_subject on resource_events (organization_id, subject, id)',
    ];
  },
};
