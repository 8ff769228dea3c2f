// Seals in the order of commits: each transaction lists the events that it recorded until they are
// sealed. Older versions list none, so none of them goes on beside it.
import type { Migration } from '../migration.ts';

export const unsealedEvents: Migration = {
  name: '0025-unsealed-events',
  sql: ({ clustered }) => `
-- Events that are not sealed yet, in lists of up to 256.
create table unsealed_events (
  organization_id text not null,
  first_id text not null,
  -- Ids of the events, each after a space but the first.
  ids text not null,
  primary key (organization_id, first_id)
) ${clustered};
insert into unsealed_events (organization_id, first_id, ids)
  select e.organization_id, e.id, e.id from organizations o
    left join event_trees t on t.organization_id = o.id
    join events e on e.organization_id = o.id and e.id > coalesce(t.sealed_to, '')
    where e.event_type not in ('queued', 'processing');
insert into unsealed_events (organization_id, first_id, ids)
  select e.organization_id, e.id, e.id from organizations o
    left join event_trees t on t.organization_id = o.id
    join resource_events e on e.organization_id = o.id and e.id > coalesce(t.sealed_to, '');

-- Least id of the events under a tile of level 0. Ids of several tiles overlap after a clock was set back.
alter table event_tiles add column first_id text not null default '';
update event_tiles set first_id = coalesce((select last_id from event_tiles before
  where before.organization_id = event_tiles.organization_id and before.level = 0
    and before.number = event_tiles.number - 1), '')
  where level = 0;
drop index event_tiles_by_event;
-- The tiles that may have an event.
create index event_tiles_by_range on event_tiles (organization_id, last_id, first_id) where level = 0;
`,
};
