// Every route × every caller × own and foreign organization: 401, 403, 404 or success by the table
// in permission-rows.ts. The list of routes is the service's own.
// Slow: each route for each caller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import type { ApiKey, CreateKey } from '../../src/access/keys/schema.ts';
import type { Method, Route } from '../../src/core/api/route.ts';
import { type Role, roles } from '../../src/core/config/roles.ts';
import type { Answer, HttpApi, RequestOptions } from '../support/http-client.ts';
import { pathOf, type ResourceKind, type Row, resources, rows } from './permission-rows.ts';
import {
  callerNames,
  type PermissionWorld,
  permissionWorld,
  type Side,
} from './permission-world.ts';

interface Ask {
  method: Method;
  url: string;
  options: RequestOptions;
}

function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** Finds the ids in a body. */
function idsIn(body: unknown): string[] {
  return JSON.stringify(body).match(/\b[a-z]+_[0-9a-z]{20,}\b/g) ?? [];
}

let serial = 0;

/** Builds the request of a row on a resource `id`, with a body of its own. */
function askOf(route: Route, row: Row, own: Side, id: string | null): Ask {
  serial++;
  const url = `${pathOf(route.path, row, own, id)}${row.query ?? ''}`;
  const options = {
    ...(row.body && { body: row.body(own, serial) }),
    ...(row.headers && { headers: row.headers(serial) }),
  };
  return { method: route.method, url, options };
}

function send(api: HttpApi, { method, url, options }: Ask) {
  return api.request<Record<string, unknown>>(method, url, options);
}

it('every route has a row in the table of permissions, and every row a route', () => {
  const names = routes.map(nameOf);
  const missing = names.filter((name) => !Object.hasOwn(rows, name));
  const stale = Object.keys(rows).filter((name) => !names.includes(name));
  const message =
    'add (or remove) their rows in test/http/permission-rows.ts, with the callers that they admit';
  expect({ missing, stale }, message).toEqual({ missing: [], stale: [] });
});

// On one store: keys and permissions are decided before it, and resources.test.ts holds the
// ownership of all nouns on both.
describe('the permissions of routes', () => {
  let world: PermissionWorld;
  /** Snapshot of the foreign organization: no test changes it. */
  let untouched: Awaited<ReturnType<typeof snapshot>>;
  beforeAll(async () => {
    world = await permissionWorld('sqlite');
    untouched = await snapshot(world.foreign);
  });
  afterAll(() => world.close());

  /** Expects nothing of the foreign organization in the answer except the requested ids. */
  function expectNothingForeign({ body }: Answer, asked: readonly string[] = []): void {
    const { organizationId, name, shared } = world.foreign;
    const text = asked.reduce((rest, id) => rest.replaceAll(id, ''), JSON.stringify(body));
    for (const mark of [
      organizationId,
      `${name}.example`,
      `of ${name}`,
      ...Object.values(shared),
    ]) {
      expect(text).not.toContain(mark);
    }
  }

  const known = routes.flatMap((route) => {
    const row = rows[nameOf(route)];
    return row ? [{ name: nameOf(route), route, row }] : [];
  });

  describe.each(known)('$name', ({ route, row }) => {
    const { on } = row;
    const idOf = async (side: Side) => {
      if (on === undefined) return null;
      return row.spends ? side.fresh(on) : side.shared[on];
    };

    it.each(callerNames)('answers %s by the permission table', async (caller) => {
      const isAllowed = row.may.includes(caller);
      const id = on === undefined || isAllowed ? await idOf(world.own) : world.own.shared[on];
      const answer = await send(world.as(caller), askOf(route, row, world.own, id));
      expect(answer.status).toBe(isAllowed ? row.gives : 403);
      if (!isAllowed) expect(answer.body._tag).toBe('ForbiddenError');
      expectNothingForeign(answer);
    });

    if (on !== undefined || row.foreignBody) {
      it('answers for a foreign resource like for a missing one', async () => {
        const { own, foreign } = world;
        const id = on === undefined ? null : foreign.shared[on];
        const foreignBody = row.foreignBody?.(foreign);
        for (const caller of callerNames) {
          const ask = askOf(route, row, own, id);
          if (foreignBody !== undefined) ask.options.body = foreignBody;
          const answer = await send(world.as(caller), ask);
          const expected = row.may.includes(caller)
            ? [404, 'ResourceNotFoundError']
            : [403, 'ForbiddenError'];
          expect([caller, answer.status, answer.body._tag]).toEqual([caller, ...expected]);
          expectNothingForeign(answer, id === null ? idsIn(foreignBody) : [id]);
          if (on === undefined || id === null) continue;
          // A missing resource gets an answer in the same words.
          const unknown = world.unknownId(on);
          const other = await send(world.as(caller), askOf(route, row, own, unknown));
          const text = JSON.stringify(other.body).replaceAll(unknown, id);
          expect(JSON.parse(text)).toEqual(answer.body);
        }
        expect(await snapshot(foreign)).toEqual(untouched);
      });
    }

    if (row.foreignQuery) {
      it('finds nothing by a value of the foreign organization', async () => {
        const url = `${route.path}${row.foreignQuery?.(world.foreign)}`;
        const theirs = await world.foreign.api.get<{ items: unknown[] }>(url);
        expect(theirs.body.items.length).toBeGreaterThan(0);
        const ours = await world.own.api.get<{ items: unknown[] }>(url);
        expect([ours.status, ours.body.items]).toEqual([200, []]);
      });
    }

    it('answers 401 in one text without a valid key', async () => {
      for (const side of [world.own, world.foreign]) {
        const id = on === undefined ? null : side.shared[on];
        for (const [fault, apiKey] of world.badKeys) {
          const ask = askOf(route, row, world.own, id);
          const answer = await send(world.own.api, {
            ...ask,
            options: { ...ask.options, apiKey },
          });
          expect([fault, answer.status, answer.body]).toEqual([
            fault,
            401,
            {
              _tag: 'UnauthorizedError',
              message: apiKey
                ? 'The API key is not valid'
                : 'An API key is missing: send it in the X-API-Key header',
            },
          ]);
        }
      }
    });
  });

  it('values of another organization can be added as if they were new', async () => {
    const { own, foreign } = world;
    for (const route of routes) {
      const body = rows[nameOf(route)]?.sameBody?.(foreign);
      if (body === undefined) continue;
      const answer = await own.api.post(route.path, body);
      expect([route.path, answer.status]).toEqual([route.path, 201]);
      const text = JSON.stringify(answer.body);
      expect(text).not.toContain(foreign.organizationId);
    }
  });

  /** Reads the resources of an organization as its owner. */
  async function snapshot({ api, shared }: Side) {
    const urls = Object.entries(resources).map(
      ([kind, { path }]) => `${path}/${shared[kind as ResourceKind]}`,
    );
    urls.push('/v1/messages?limit=100');
    const seen = [];
    for (const url of urls) {
      const { status, body } = await api.get<Record<string, unknown>>(url);
      expect(status).toBe(200);
      seen.push(body);
    }
    return seen;
  }
});

/** Keys that manage keys: the roles, and two keys whose permissions cover one role each. */
const managers = {
  owner: { role: 'owner' },
  admin: { role: 'admin' },
  developer: { role: 'developer' },
  editor: { role: 'editor' },
  support: { role: 'support' },
  analyst: { role: 'analyst' },
  sender: { role: 'sender' },
  viewer: { role: 'viewer' },
  "keys and a sender's permissions": {
    permissions: { keys: ['*'], messages: ['send', 'read'], templates: ['read'] },
  },
  "keys and a viewer's permissions": { permissions: { keys: ['*'], '*': ['read'] } },
} as const satisfies Record<string, CreateKey>;

/** Roles of the keys that each manager may create, change, rotate and revoke. */
const manages: Readonly<Record<keyof typeof managers, readonly Role[]>> = {
  owner: roles,
  admin: roles.filter((role) => role !== 'owner'),
  developer: [],
  editor: [],
  support: [],
  analyst: [],
  sender: [],
  viewer: [],
  "keys and a sender's permissions": ['sender'],
  "keys and a viewer's permissions": ['analyst', 'viewer'],
};

const operations = {
  make: (_id: string, role: Role) => ['POST', '/v1/api-keys', { role }] as const,
  rename: (id: string) => ['PATCH', `/v1/api-keys/${id}`, { name: 'changed' }] as const,
  constrain: (id: string) =>
    ['PATCH', `/v1/api-keys/${id}`, { constraints: { domains: ['a.example'] } }] as const,
  rotate: (id: string) => ['POST', `/v1/api-keys/${id}/rotate`, undefined] as const,
  revoke: (id: string) => ['DELETE', `/v1/api-keys/${id}`, undefined] as const,
};

describe('the management of keys', () => {
  let world: PermissionWorld;
  beforeAll(async () => {
    world = await permissionWorld('sqlite');
  });
  afterAll(() => world.close());

  const makeKey = async (input: CreateKey) =>
    (await world.own.api.post<ApiKey>('/v1/api-keys', input)).body;

  const names = Object.keys(managers) as (keyof typeof managers)[];

  it.each(names)("is limited to keys no stronger than the caller's: %s", async (name) => {
    const manager = world.own.api.as((await makeKey(managers[name])).key ?? '');
    for (const role of roles) {
      for (const [operation, requestOf] of Object.entries(operations)) {
        const { key: _, ...target } = await makeKey({ role, name: 'target' });
        const [method, url, body] = requestOf(target.id, role);
        const answer = await manager.request<Record<string, unknown>>(method, url, { body });
        const context = [operation, role];
        if (manages[name].includes(role)) {
          expect([...context, answer.status < 300]).toEqual([...context, true]);
        } else {
          expect([...context, answer.status, answer.body._tag]).toEqual([
            ...context,
            403,
            'ForbiddenError',
          ]);
          const { body: now } = await world.own.api.get<ApiKey>(`/v1/api-keys/${target.id}`);
          expect(now).toEqual({ ...target, key: null });
        }
      }
    }
  });
});
