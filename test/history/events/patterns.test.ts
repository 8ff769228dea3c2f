// Patterns of events: every filter of the API that takes a kind takes patterns too, separated by
// commas in a query and as a list in a body.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { plainPaths } from '../../../daemon/http/openapi/plain-routes.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { eventTypes } from '../../../src/history/events/names.ts';
import { eventFilter } from '../../../src/history/events/schema.ts';

interface Field {
  name: string;
  schema: z.ZodType;
}

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

/** Returns the fields of a part of a request that take each kind of event, and no unknown kind. */
function kindFieldsOf(
  { method, path }: { method: string; path: string },
  part: z.ZodType | undefined,
  wrap: (type: string) => unknown,
): Field[] {
  const shape = part instanceof z.ZodObject ? (part.shape as Record<string, z.ZodType>) : {};
  return Object.entries(shape)
    .filter(([, schema]) => eventTypes.every((type) => accepts(schema, wrap(type))))
    .filter(([, schema]) => !accepts(schema, wrap('nope.nope')))
    .map(([field, schema]) => ({ name: `${method} ${path} ${field}`, schema }));
}

const queryFilters = [...routes, ...plainPaths].flatMap((route) =>
  kindFieldsOf(route, route.query, (type) => type),
);
const bodyLists = routes.flatMap((route) => kindFieldsOf(route, route.body, (type) => [type]));

describe('filters by kinds of events', () => {
  it('stand in the log, the streams and the deliveries', () => {
    expect(queryFilters.map(({ name }) => name).sort()).toEqual([
      'GET /v1/events type',
      'GET /v1/events/stream type',
      'GET /v1/mailboxes/{id}/events type',
      'GET /v1/mailboxes/{id}/events/stream type',
      'GET /v1/webhooks/{id}/deliveries eventType',
    ]);
    expect(bodyLists.map(({ name }) => name).sort()).toEqual([
      'PATCH /v1/webhooks/{id} events',
      'POST /v1/webhooks events',
      'POST /v1/webhooks/{id}/replay events',
    ]);
  });

  it.each(queryFilters)('$name takes patterns separated by commas', ({ schema }) => {
    expect(accepts(schema, 'message.*,domain.failed')).toBe(true);
    expect(accepts(schema, '*')).toBe(true);
    expect(accepts(schema, 'message.*,nope.*')).toBe(false);
    expect(accepts(schema, 'message.*,')).toBe(false);
  });

  it.each(bodyLists)('$name takes a list of patterns', ({ schema }) => {
    expect(accepts(schema, ['message.*', 'domain.failed'])).toBe(true);
    expect(accepts(schema, ['*'])).toBe(true);
    expect(accepts(schema, ['nope.*'])).toBe(false);
  });
});

describe('a filter by kinds', () => {
  it('becomes the kinds that any of its patterns matches', () => {
    expect(eventFilter.parse('warming.*,domain.held,domain.held')).toEqual([
      'domain.held',
      'warming.held',
      'warming.completed',
    ]);
  });

  it('becomes undefined for all kinds', () => {
    expect(eventFilter.parse('domain.held,*')).toBeUndefined();
  });
});
