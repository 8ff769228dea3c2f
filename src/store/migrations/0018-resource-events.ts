// Events on all resources but messages, in order. Before, they were kept among the timelines of messages, as
// rows without a message.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const resourceEvents: Migration = {
  name: '0018-resource-events',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `data` is the resource as it was then, `facts` what else is to be known: JSON.
      `create table resource_events (
        organization_id text not null, id text not null, event_type text not null,
        subject text not null, timestamp bigint not null, data text not null, facts text,
        primary key (organization_id, id)) ${compact}`,
      `insert into resource_events (organization_id, id, event_type, subject, timestamp, data, facts)
        select organization_id, id, event_type, organization_id, timestamp,
          '{"id":"' || organization_id || '","sendingStatus":"' || status || '"}', metadata
        from events where message_id = ''`,
      `delete from events where message_id = ''`,
    ];
  },
};
