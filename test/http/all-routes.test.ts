// The table of routes fails closed: these tests run over the list, so that each new route is
// covered once it is mounted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { permissionMapOf } from '../../src/access/keys/roles.ts';
import { createKeyInput } from '../../src/access/keys/schema.ts';
import { everyPermission, type Permission } from '../../src/core/api/permission.ts';
import type { Route } from '../../src/core/api/route.ts';
import { openApiCheck } from '../support/openapi-check.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

/** Descriptions of the areas, by name. */
const areas = Object.fromEntries(
  openApiDocument(routes, '/').tags.map(({ name, description }) => [name, description]),
);

let service: TestApp;
let http: HttpServer;
const check = openApiCheck(routes);
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await testApp();
  const authenticator = createAuthenticator(service.app);
  http = createHttpServer(service.app, {
    routes,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    isQueueRunning: () => true,
    onResponse: check.onResponse,
  });
});

afterAll(async () => {
  await http.close();
  await service.close();
});

/** Creates a key with exactly these permissions. */
async function keyWith(permissions: readonly Permission[]): Promise<string> {
  const name = permissions.join(' ');
  const known = keys.get(name);
  if (known) return known;
  const input = createKeyInput.parse({ permissions: permissionMapOf(permissions) });
  const { key } = await createKey(service.app, service.operator, input);
  if (key === null) throw new Error('a new key has no plaintext');
  keys.set(name, key);
  return key;
}

async function call(route: Route, key: string | null) {
  const { method, path } = route;
  const response = await http.inject({
    method,
    url: path.replaceAll(/\{\w+\}/g, 'x'),
    headers: {
      ...(key !== null && { 'x-api-key': key }),
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
    },
    ...(method !== 'GET' && { payload: '{"unknownField":1}' }),
  });
  const isStream = route.streams !== undefined && response.statusCode === 200;
  return { status: response.statusCode, body: isStream ? {} : response.json() };
}

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    it('answers 401 without a key', async () => {
      const { status, body } = await call(route, null);
      expect([status, body._tag]).toEqual([401, 'UnauthorizedError']);
    });

    it('answers 403 to a key with every other permission', async () => {
      const others = everyPermission().filter((permission) => permission !== route.permission);
      const { status, body } = await call(route, await keyWith(others));
      expect([status, body]).toEqual([
        403,
        { _tag: 'ForbiddenError', message: `This key lacks the permission ${route.permission}` },
      ]);
    });

    it('accepts a key with only its permission', async () => {
      const { status, body } = await call(route, await keyWith([route.permission]));
      expect(String(body.message)).not.toContain('lacks the permission');
      expect([400, 401, 500, 503]).not.toContain(status);
    });

    it('belongs to an area with a description', () => {
      expect(areas[route.area]).toBeDefined();
    });
  },
);

it('every response above fits the OpenAPI document', () => {
  expect(check.faults).toEqual([]);
});

/** Fields that are bounded by code of their own, or only by the bound of the whole body. */
const boundedElsewhere = [
  // At most 50 conditions in a tree: src/people/contacts/groups/query-schema.ts.
  'body all',
  'body any',
  'body content',
  'body data',
  'body events',
  'body files',
  'body headers',
  'body permissions',
  'body templateData',
];

type JsonSchema = { [key: string]: unknown };

/** Lists the fields of a schema, by name, with a text or a list of any length. */
function unboundedIn(schema: unknown, name: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const {
    type,
    maxLength,
    maxItems,
    pattern,
    format,
    enum: values,
    const: value,
  } = schema as JsonSchema;
  const isFixed = values !== undefined || value !== undefined || /^date/.test(String(format));
  const isShort = maxLength !== undefined || (typeof pattern === 'string' && !/[*+]/.test(pattern));
  const isEndless =
    (type === 'string' && !isFixed && !isShort) || (type === 'array' && maxItems === undefined);
  const below = Object.entries(schema).flatMap(([key, inner]) => {
    if (key !== 'properties') return unboundedIn(inner, name);
    return Object.entries(inner as JsonSchema).flatMap(([field, property]) =>
      unboundedIn(property, field),
    );
  });
  return isEndless ? [name, ...below] : below;
}

it('every text and every list in a request has a bound of its own', () => {
  const places = routes.flatMap((route) =>
    (['params', 'query', 'body'] as const).flatMap((part) => {
      const schema = route[part];
      if (!schema) return [];
      const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return unboundedIn(json, '').map((name) => `${part} ${name}`);
    }),
  );
  expect([...new Set(places)].sort()).toEqual(boundedElsewhere);
});

describe('the id in a path', () => {
  const withId = routes.filter(({ path }) => path.includes('{id}'));

  it.each(withId.map((route) => [route.name, route] as const))(
    'of %s has a noun in its error',
    (_name, { params }) => {
      const { error } = params?.safeParse({ id: 'x' }) ?? {};
      const ofId = error?.issues.find(({ path }) => path[0] === 'id');
      expect(ofId?.message).toMatch(/^is not (?:an?|the) [a-z]+(?: [a-z]+)* id$/i);
    },
  );
});
