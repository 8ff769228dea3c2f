// Filters by time: one rule for all lists and commands that have any of them. `after` (or `since`)
// includes its instant, `before` (or `until`) does not.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { plainPaths } from '../../daemon/http/openapi/plain-routes.ts';
import { routes } from '../../daemon/http/routes.ts';
import { queryFlag } from '../../src/core/api/resource-schema.ts';
import { boundsOf } from '../../src/platform/store/rows/time-range.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import { commandClass } from '../docs/write.ts';
import { stores } from '../support/command.ts';
import { pathOf, type Row, rows } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld } from './permission-world.ts';

const starts = ['after', 'since'];
const ends = ['before', 'until'];
const bounds = [...starts, ...ends];

/** Parts of a request that have a field of a time range. */
const ranged = [...routes, ...plainPaths].flatMap((route) => {
  const { method, path, query } = route;
  const body = 'body' in route ? route.body : undefined;
  return [query, body].flatMap((part) => {
    const shape = part instanceof z.ZodObject ? (part.shape as Record<string, z.ZodType>) : {};
    const names = Object.keys(shape).filter((name) => bounds.includes(name));
    return names.length > 0 ? [{ name: `${method} ${path}`, names, shape }] : [];
  });
});

/** Streams and waits have a start only: they wait for new events. */
const streams = [
  'GET /v1/events/stream',
  'GET /v1/mailboxes/{id}/events/stream',
  'GET /v1/messages/expect',
];

/** Lists of items without a time, and lists with different bounds. */
const untimed = [
  // Takes startDate and endDate.
  'GET /v1/analytics/domains',
  'GET /v1/contact-groups/{id}/members',
  'GET /v1/contacts/tags',
  // Takes days.
  'GET /v1/email/domains/{id}/dmarc-reports',
  // The author of a commit chooses the time.
  'GET /v1/templates/{id}/workspace/history',
];

/** Commands with flags that name a time, but no filter of a list. */
const noFilters = ['threads:snooze'];
/** Commands that wait for new events or mail. */
const following = ['events:tail', 'messages:expect', 'messages:tail', 'webhooks:listen'];

interface FlagWords {
  aliases?: readonly string[];
}

async function rangeFlagsOf(id: string): Promise<string[]> {
  const { flags = {} } = (await commandClass(id)) as { flags?: Record<string, FlagWords> };
  const names = Object.entries(flags).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
  return names.filter((name) => bounds.includes(name)).sort();
}

describe('routes that filter by time', () => {
  it('are all lists whose items have a time', () => {
    const listing = routes.filter(
      ({ method, query }) =>
        method === 'GET' && query instanceof z.ZodObject && 'limit' in query.shape,
    );
    const timed = new Set(ranged.map(({ name }) => name));
    const names = listing.map(({ method, path }) => `${method} ${path}`);
    expect(names.filter((name) => !timed.has(name)).sort()).toEqual(untimed);
  });

  it.each(ranged)('$name takes both names of each bound', ({ name, names }) => {
    expect(names.sort()).toEqual([...(streams.includes(name) ? starts : bounds)].sort());
  });

  it.each(ranged)('$name takes an instant or a date, and no other text', ({ names, shape }) => {
    for (const name of names) {
      const accepts = (text: string) => shape[name]?.safeParse(text).success;
      expect(accepts('2026-01-05T12:00:00+01:00')).toBe(true);
      expect(accepts('2026-01-05')).toBe(true);
      expect(accepts('yesterday')).toBe(false);
      expect(accepts('2026-01-05T12:00:00')).toBe(false);
    }
  });
});

describe('commands that filter by time', () => {
  it.each(listCommandIds().filter((id) => !noFilters.includes(id)))(
    '%s names each bound by both names',
    async (id) => {
      const names = await rangeFlagsOf(id);
      const expected = following.includes(id) ? starts : bounds;
      expect(names).toEqual(names.length === 0 ? [] : [...expected].sort());
    },
  );

  it('are at least eleven', async () => {
    const all = await Promise.all(listCommandIds().map(rangeFlagsOf));
    expect(all.filter((names) => names.length > 0).length).toBeGreaterThanOrEqual(11);
  });
});

describe('the bounds of a time range', () => {
  const noon = '2026-01-05T12:00:00Z';

  it('have the same meaning by either name', () => {
    const at = { from: Date.parse(noon), to: Date.parse('2026-01-06T00:00:00Z') };
    expect(boundsOf({ after: noon, before: '2026-01-06' })).toEqual(at);
    expect(boundsOf({ since: noon, until: '2026-01-06' })).toEqual(at);
    expect(boundsOf({ after: noon, since: '2026-01-05T13:00:00+01:00' }).from).toBe(at.from);
    expect(boundsOf({})).toEqual({ from: undefined, to: undefined });
  });

  it('refuse two names with different times', () => {
    expect(() => boundsOf({ after: noon, since: '2026-01-05' })).toThrow(/since/);
    expect(() => boundsOf({ before: noon, until: '2026-01-05' })).toThrow(/until/);
  });
});

describe('booleans in a query', () => {
  const fields = routes.flatMap(({ method, path, query }) =>
    Object.entries(query instanceof z.ZodObject ? query.shape : {}).map(([field, schema]) => ({
      name: `${method} ${path} ${field}`,
      schema: schema as z.ZodType,
    })),
  );
  const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;
  const flags = fields.filter(
    ({ schema }) =>
      accepts(schema, 'true') && accepts(schema, 'false') && !accepts(schema, 'other'),
  );

  it('stand in five routes at least', () => {
    expect(flags.length).toBeGreaterThanOrEqual(5);
  });

  it.each([{ name: 'the schema itself', schema: queryFlag }, ...flags])(
    '$name is true or false, and no other word',
    ({ schema }) => {
      const words = ['yes', 'no', '1', '0', 'on', 'off', 'TRUE', 'False', 'y', 'n', 'enabled', ''];
      expect(words.filter((word) => accepts(schema, word))).toEqual([]);
    },
  );
});

const runPath = '/v1/campaigns/{id}/runs/{runId}';
const past = '1990-01-01T00:00:00Z';
const future = '2090-01-01T00:00:00Z';
const lists = routes.filter(
  ({ method, path, query }) =>
    method === 'GET' &&
    !path.endsWith('/agent-activity') &&
    query instanceof z.ZodObject &&
    'before' in query.shape,
);

/**
 * Lists that a read on the event loop answers: an organization has few such items, or the index by
 * time leads to them (test/platform/store/query-plans.test.ts).
 */
const few = [
  ...['api-keys', 'brands', 'campaigns', 'campaigns/{id}/runs', 'contact-groups'],
  ...['email/domains', 'email/senders', 'extension-installations'],
  ...['extension-installations/{id}/version-changes', 'extensions', 'extensions/{id}/versions'],
  ...['mailbox-namespaces', 'mailboxes', 'mailboxes/{id}/drafts'],
  ...['mailboxes/{id}/threads/{threadId}/messages', 'mailboxes/{id}/threads/{threadId}/notes'],
  ...['members', 'saved-replies', 'templates', 'templates/families', 'templates/{id}/versions'],
  ...['unsubscribe-groups', 'webhooks'],
];
const indexed = [
  ...['audit', 'events', 'mailboxes/{id}/events', 'mailboxes/{id}/threads', 'messages'],
  'webhooks/{id}/deliveries',
];
const readDirectly = [...few, ...indexed].map((path) => `/v1/${path}`).sort();

describe.each(stores)('lists by time on %s', (store) => {
  let world: PermissionWorld;
  beforeAll(async () => {
    world = await permissionWorld(store);
    await fill();
  });
  afterAll(() => world.close());

  function urlOf(path: string): string {
    const row = rows[`GET ${path}`] as Row;
    return pathOf(path, row, world.own, row.on ? world.own.shared[row.on] : null);
  }

  /** Adds items to the empty lists of the world. */
  async function fill(): Promise<void> {
    const { own, test } = world;
    const template = urlOf('/v1/templates/{id}/versions').replace('versions', 'publish');
    expect((await own.api.post(template, undefined)).status).toBe(200);
    const [, campaignId = ''] =
      /campaigns\/(.+)\/runs/.exec(urlOf('/v1/campaigns/{id}/runs')) ?? [];
    const caller = { ...test.caller, organizationId: own.organizationId };
    await storedRun(test.app, caller, 'completed', { campaign_id: campaignId });
    const [, runId] = /runs\/(.+)\/rec/.exec(urlOf(`${runPath}/recipients`)) ?? [];
    const [, groupId] =
      /groups\/(.+)\/mem/.exec(urlOf('/v1/unsubscribe-groups/{id}/members')) ?? [];
    const contact = own.shared.contact;
    const now = test.clock.now();
    await test.app.store.write(async (trx) => {
      await sql`insert into campaign_recipients (run_id, contact_id, outcome, created_at)
        values (${runId}, ${contact}, 'skipped', ${now})`.execute(trx);
      await sql`insert into group_confirmations
        (group_id, contact_id, organization_id, status, mails, created_at)
        select id, ${contact}, organization_id, 'pending', 0, ${now}
        from unsubscribe_groups where id = ${groupId}`.execute(trx);
    });
  }

  async function ids(path: string, query: string): Promise<string[]> {
    const { own } = world;
    const url = urlOf(path);
    const { status, body } = await own.api.request('GET', `${url}?limit=100&${query}`, {});
    expect([status, query]).toEqual([200, query]);
    const { items } = body as { items: { id?: string; contactId?: string }[] };
    return items.map((item) => item.id ?? item.contactId ?? '');
  }

  it.each(lists.map(({ path }) => path))('GET %s keeps to both bounds', async (path) => {
    const all = await ids(path, '');
    expect(all).not.toEqual([]);
    for (const name of starts) {
      expect(await ids(path, `${name}=${past}`)).toEqual(all);
      expect(await ids(path, `${name}=${future}`)).toEqual([]);
    }
    for (const name of ends) {
      expect(await ids(path, `${name}=${future}`)).toEqual(all);
      expect(await ids(path, `${name}=${past}`)).toEqual([]);
    }
  });

  it('reads beside the event loop, except lists with few rows or an index by time', async () => {
    const aside = vi.spyOn(world.test.app.store, 'aside');
    const direct = [];
    for (const { path } of lists) {
      aside.mockClear();
      await ids(path, `before=${past}`);
      if (aside.mock.calls.length === 0) direct.push(path);
    }
    expect(direct.sort()).toEqual(readDirectly);
  });
});
