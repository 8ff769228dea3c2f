// The HTTP operations on the log of events. Modules that import this area declare the kinds of
// events, so daemon/http/routes.ts passes the kinds in.
import { area } from '../../core/api/area.ts';
import { type EventKind, presentKind } from './kinds.ts';
import { listLog } from './log.ts';
import { kindList, listLogQuery, logPage, type PresentedKind } from './schema.ts';

const at = area('events', {
  about: 'Events in their order, and their kinds',
  resource: 'webhooks',
});

/** Returns the routes for a service with these kinds of events. */
export function eventRoutes(kinds: readonly EventKind[]) {
  let presented: PresentedKind[] | null = null;
  /** Presents all kinds once: their JSON Schemas take 20 ms. */
  const presentAll = () => {
    presented ??= kinds.map(presentKind);
    return presented;
  };
  return {
    list: at.get('/v1/events', {
      name: 'listEvents',
      summary: 'List the events of the organization',
      description:
        'Lists the newest first, or the oldest first with `order`. `GET /v1/events/stream`, ' +
        'with the same filters, sends events as they happen, as server-sent events: `id` is ' +
        'the event, `event` its kind, `data` the object listed here. A `Last-Event-ID` ' +
        'header continues behind that event; `since` begins in the past. A comment is sent ' +
        'every 15 seconds. A key bound to mailboxes gets the events of its own there, with ' +
        '`mailboxes:read`; `GET /v1/mailboxes/{id}/events/stream` sends those of one mailbox.',
      query: listLogQuery,
      output: logPage,
      run: (app, { caller, query }) => listLog(app, caller, query),
    }),
    kinds: at.get('/v1/events/kinds', {
      name: 'listEventKinds',
      summary: 'List the kinds of events, each with the schema of its data and a sample',
      output: kindList,
      run: async () => ({ items: presentAll() }),
    }),
  };
}
