// Section 5 of the specification, line by line; docs/keys.md answers its "not shown". Left out: 5.5
// and 5.7, because extensions do not exist yet.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey, revokeKey } from '../../../src/access/keys/keys.ts';
import type { ApiKey, CreateKey } from '../../../src/access/keys/schema.ts';
import { reviewOnboarding } from '../../../src/access/organizations/onboarding.ts';
import type { Organization } from '../../../src/access/organizations/schema.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { otherOrganization, payload, send } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi, type RequestOptions } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

interface Problem {
  _tag: string;
  message: string;
}

const roleNames = ['owner', 'admin', 'developer', 'sender', 'viewer'] as const;
type RoleName = (typeof roleNames)[number];

/** The resources with their actions in `permissions`. */
const actions: Readonly<Record<string, readonly string[]>> = {
  messages: ['read', 'write', 'delete', 'send'],
  mailboxes: ['read', 'write', 'delete', 'send'],
  contacts: ['read', 'write', 'delete'],
  conversations: ['read', 'write', 'delete'],
  templates: ['read', 'write', 'delete'],
  brands: ['read', 'write', 'delete'],
  domains: ['read', 'write', 'delete'],
  senders: ['read', 'write', 'delete'],
  tracking: ['read', 'write', 'delete'],
  blocks: ['read', 'write', 'delete'],
  campaigns: ['read', 'write', 'delete', 'run'],
  webhooks: ['read', 'write', 'delete'],
  extensions: ['read', 'write', 'delete'],
  keys: ['read', 'write', 'delete'],
  organization: ['read', 'write', 'delete'],
  analytics: ['read', 'write', 'delete'],
};

describe.each(stores)('API keys over HTTP on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  async function make(input: CreateKey = {}): Promise<ApiKey & { key: string }> {
    const { status, body } = await api.post<ApiKey>('/v1/api-keys', input);
    if (status !== 201 || body.key === null) throw new Error(JSON.stringify(body));
    return { ...body, key: body.key };
  }

  const shown = async (id: string) => (await api.get<ApiKey>(`/v1/api-keys/${id}`)).body;

  describe('5.1 a request', () => {
    it.each<[string, string, RequestOptions['headers']]>([
      ['the header', '/v1/messages', { 'X-API-Key': 'KEY' }],
      ['the lower-case header', '/v1/messages', { 'x-api-key': 'KEY' }],
      ['Authorization: Bearer', '/v1/messages', { authorization: 'Bearer KEY' }],
    ])('is accepted with a key in %s', async (_what, url, headers) => {
      expect((await ask(url, headers)).status).toBe(200);
    });

    it.each<[string, string, RequestOptions['headers']]>([
      ['nothing', '/v1/messages', {}],
      ['Authorization: Basic', '/v1/messages', { authorization: 'Basic KEY' }],
      ['a query parameter', '/v1/messages?apiKey=KEY', {}],
      ['a cookie', '/v1/messages', { cookie: 'X-API-Key=KEY' }],
    ])('answers 401 with %s', async (_what, url, headers) => {
      expect((await ask(url, headers)).status).toBe(401);
    });

    function ask(url: string, headers: RequestOptions['headers'] = {}) {
      const named = Object.entries(headers).map(([name, value]) => [
        name,
        value.replace('KEY', test.apiKey),
      ]);
      return api.get<Problem>(url.replace('KEY', test.apiKey), {
        apiKey: null,
        headers: Object.fromEntries(named),
      });
    }

    it('needs a key on every route', async () => {
      for (const { method, path } of routes) {
        const { status } = await api.request(method, path.replace('{id}', 'x'), { apiKey: null });
        expect([path, status]).toEqual([path, 401]);
      }
    });

    it('reaches the organization of its key and no other', async () => {
      const other = await otherOrganization(test.app, 'acme-5-1');
      const { id } = await send(api);
      expect((await api.get(`/v1/messages/${id}`)).status).toBe(200);
      const theirs = api.as(other.apiKey);
      expect((await theirs.get(`/v1/messages/${id}`)).status).toBe(404);
      const list = await theirs.get<Page<Message>>('/v1/messages');
      expect(list.body.pagination.total).toBe(0);
    });
  });

  describe('5.2 a refused key', () => {
    const dead: Record<string, () => Promise<string | null>> = {
      missing: async () => null,
      empty: async () => '',
      malformed: async () => 'nonsense',
      mistyped: async () => `${test.apiKey.slice(0, -1)}${test.apiKey.endsWith('0') ? '1' : '0'}`,
      'in other letters': async () => test.apiKey.toUpperCase(),
      revoked: async () => {
        const { id, key } = await make({ role: 'owner' });
        await revokeKey(test.app, test.operator, id);
        return key;
      },
      expired: async () => {
        const expiresAt = new Date(test.clock.now() + 1_000).toISOString();
        const { key } = await make({ role: 'owner', expiresAt });
        expect((await api.as(key).get('/v1/messages')).status).toBe(200);
        await test.clock.advance(1_000);
        return key;
      },
    };

    it.each(Object.keys(dead))('answers 401 when %s', async (what) => {
      const apiKey = (await dead[what]?.()) ?? null;
      const { status, body } = await api.get<Problem>('/v1/messages', { apiKey });
      expect([status, body._tag]).toEqual([401, 'UnauthorizedError']);
    });

    it('is refused in the same words whether malformed, revoked or expired', async () => {
      const texts = new Set<string>();
      for (const [what, keyOf] of Object.entries(dead)) {
        if (what === 'missing' || what === 'empty') continue;
        const apiKey = await keyOf();
        texts.add((await api.get<Problem>('/v1/messages', { apiKey })).body.message);
      }
      expect(texts.size).toBe(1);
    });

    it.each<[CreateKey, 'GET' | 'POST' | 'DELETE', string, string]>([
      [{ role: 'viewer' }, 'POST', '/v1/messages', 'messages:send'],
      [{ role: 'sender' }, 'GET', '/v1/email/domains', 'domains:read'],
      [{ role: 'developer' }, 'GET', '/v1/api-keys', 'keys:read'],
      [{ role: 'developer' }, 'GET', '/v1/organizations/usage', 'organization:read'],
      [{ permissions: { messages: ['read'] } }, 'DELETE', '/v1/messages/x', 'messages:delete'],
    ])('with %j gets a 403 on %s %s that names %s', async (input, method, url, permission) => {
      const { key } = await make(input);
      const { status, body } = await api.as(key).request<Problem>(method, url);
      expect([status, body._tag]).toEqual([403, 'ForbiddenError']);
      expect(body.message).toContain(permission);
    });
  });

  it('5.3 shows isActive, expiresAt, lastUsedAt, roleName and permissions of a key', async () => {
    const expiresAt = new Date(test.clock.now() + 3_600_000).toISOString();
    const made = await make({ permissions: { messages: ['read'] }, expiresAt });
    expect(made).toMatchObject({
      isActive: true,
      expiresAt,
      lastUsedAt: null,
      roleName: 'custom',
      permissions: { messages: ['read'] },
    });
    expect(await make({ role: 'sender' })).toMatchObject({
      expiresAt: null,
      roleName: 'sender',
      permissions: { messages: ['send', 'read'], templates: ['read'] },
    });
    // The scheduler runs this job each minute.
    const authenticator = createAuthenticator(test.app);
    await authenticator.authenticate(made.key);
    await authenticator.flushLastUsed();
    expect((await shown(made.id)).lastUsedAt).toBe(new Date(test.clock.now()).toISOString());
    await api.delete(`/v1/api-keys/${made.id}`);
    expect((await shown(made.id)).isActive).toBe(false);
  });

  describe('5.4 rotation', () => {
    it.each<[string, CreateKey]>([
      ['a role', { role: 'viewer', name: 'ci' }],
      ['single permissions', { permissions: { blocks: ['read', 'write'] }, name: 'ci' }],
      ['a person as owner', { role: 'sender', owner: 'person', description: 'Ada' }],
      ['test mode', { role: 'sender', mode: 'test' }],
      ['constraints', { constraints: { domains: ['a.example'], ipRanges: ['127.0.0.0/8'] } }],
      ['a time of expiry', { expiresAt: '2030-01-01T00:00:00.000Z' }],
    ])(
      'of a key with %s keeps owner, name and permissions, and deactivates the old key',
      async (_what, input) => {
        const old = await make(input);
        const { status, body } = await api.post<ApiKey>(`/v1/api-keys/${old.id}/rotate`, undefined);
        const { id, key, start, createdAt: _, ...kept } = body;
        const { id: oldId, key: oldKey, start: _start, createdAt: _at, ...before } = old;
        expect([status, kept]).toEqual([200, before]);
        expect(key).toMatch(/^svc_(live|test)_[0-9A-Za-z]{38}$/);
        expect(start).toBe(key?.slice(0, 14));
        expect([id === oldId, key === oldKey]).toEqual([false, false]);
        expect((await shown(oldId)).isActive).toBe(false);
        expect((await api.as(oldKey).get('/v1/messages')).status).toBe(401);
        expect((await api.as(key ?? '').get('/v1/messages')).status).not.toBe(401);
      },
    );
  });

  describe('5.6 reapplying for onboarding review', () => {
    const url = '/v1/organizations/onboarding/reapply';
    const current = async () => (await api.get<Organization>('/v1/organizations/current')).body;

    const reject = async () => {
      const { id, onboarding } = await current();
      if (onboarding.status === 'rejected') return onboarding.generation;
      const verdict = { verdict: 'rejected', note: 'unclear' } as const;
      return (await reviewOnboarding(test.app, id, verdict)).onboarding.generation;
    };

    it.each<[string, CreateKey, number]>([
      ...roleNames.map((role): [string, CreateKey, number] => [
        role,
        { role },
        role === 'owner' || role === 'admin' ? 200 : 403,
      ]),
      ['a key of single permissions', { permissions: { '*': ['*'] } }, 403],
    ])('as %s with %j is a %i', async (_what, input, expected) => {
      const generation = await reject();
      const { key } = await make(input);
      const answer = await api
        .as(key)
        .post<Organization & Problem>(url, { expectedGeneration: generation });
      expect(answer.status).toBe(expected);
      if (expected === 200) {
        expect(answer.body.onboarding).toEqual({ status: 'pending', generation: generation + 1 });
      } else {
        expect(answer.body._tag).toBe('ForbiddenError');
        expect((await current()).onboarding).toEqual({ status: 'rejected', generation });
      }
    });

    it('with another generation than the present one answers 409 and changes nothing', async () => {
      const generation = await reject();
      for (const expectedGeneration of [generation - 1, generation + 1]) {
        if (expectedGeneration < 1) continue;
        const { status, body } = await api.post<Problem>(url, { expectedGeneration });
        expect([status, body._tag]).toEqual([409, 'ConflictError']);
      }
      expect((await current()).onboarding).toEqual({ status: 'rejected', generation });
      expect((await api.post<Problem>(url, {})).status).toBe(422);
    });

    it('twice at once with one generation succeeds once', async () => {
      const expectedGeneration = await reject();
      const answers = await Promise.all([1, 2].map(() => api.post(url, { expectedGeneration })));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    });

    afterAll(async () => {
      const { id } = await current();
      await reviewOnboarding(test.app, id, { verdict: 'approved', note: 'fine' });
    });
  });

  describe('5.8 the names of permissions', () => {
    it.each(Object.entries(actions))('of %s are %j and no others', async (resource, known) => {
      for (const action of [...known, '*']) {
        const permissions = { [resource]: [action] };
        expect((await make({ permissions })).permissions).toEqual(permissions);
      }
      for (const action of ['read', 'write', 'delete', 'send', 'run', 'admin', 'Read', '']) {
        if (known.includes(action)) continue;
        const permissions = { [resource]: [action] };
        const { status } = await api.post<Problem>('/v1/api-keys', { permissions });
        expect([action, status]).toEqual([action, 422]);
      }
    });

    it.each(['rockets', 'message', 'Messages', '', 'constructor'])(
      'do not include the resource %j',
      async (resource) => {
        const body = `{"permissions":{${JSON.stringify(resource)}:["read"]}}`;
        expect((await api.post('/v1/api-keys', body)).status).toBe(422);
      },
    );

    const everything = Object.entries(actions).flatMap(([resource, names]) =>
      names.map((action) => `${resource}:${action}`),
    );
    const ofRole: Record<RoleName, readonly string[]> = {
      owner: everything,
      admin: everything,
      developer: everything.filter((name) => !/^(keys|organization):/.test(name)),
      sender: ['messages:read', 'messages:send', 'templates:read'],
      viewer: everything.filter((name) => name.endsWith(':read')),
    };

    it.each(roleNames)('of the role %s are those listed here', async (role) => {
      const { permissions } = await make({ role });
      const granted = everything.filter((name) => {
        const [resource = '', action = ''] = name.split(':');
        const named = [...(permissions[resource] ?? []), ...(permissions['*'] ?? [])];
        return named.includes(action) || named.includes('*');
      });
      expect(granted.toSorted()).toEqual([...ofRole[role]].toSorted());
    });

    it('open the named operations, and "*": ["*"] everything', async () => {
      const all = api.as((await make({ permissions: { '*': ['*'] } })).key);
      const one = api.as((await make({ permissions: { senders: ['read'] } })).key);
      for (const url of [
        '/v1/messages',
        '/v1/email/domains',
        '/v1/email/senders',
        '/v1/api-keys',
      ]) {
        expect([url, (await all.get(url)).status]).toEqual([url, 200]);
        const expected = url === '/v1/email/senders' ? 200 : 403;
        expect([url, (await one.get(url)).status]).toEqual([url, expected]);
      }
    });

    it('of a test key reach the simulator and local mailboxes alone', async () => {
      const limited = api.as((await make({ role: 'sender', mode: 'test' })).key);
      const sendTo = async (email: string) =>
        (await limited.post('/v1/messages', payload({}, { to: [{ email }] }))).status;
      expect(await sendTo('delivered@simulator.test')).toBe(201);
      expect(await sendTo('inbox@sandbox.test')).toBe(201);
      expect(await sendTo('ada@example.com')).toBe(403);
    });
  });

  describe('5.9 creation, listing and format of keys', () => {
    it.each(['live', 'test'] as const)(
      'creates a %s key with 201 and shows it in `key`',
      async (mode) => {
        const { status, body } = await api.post<ApiKey>('/v1/api-keys', { mode, name: 'ci' });
        expect(status).toBe(201);
        expect(body.id).toMatch(/^key_[0-9a-hjkmnp-tv-z]{16,24}$/);
        expect(body.key).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`));
        expect(body.start).toBe(body.key?.slice(0, 14));
        expect(await shown(body.id)).toEqual({ ...body, key: null });
      },
    );

    it('stores the SHA-256 and the start, never the plaintext', async () => {
      const made = await make({ name: 'stored' });
      const { rows } = await sql<Record<string, unknown>>`
        select * from api_keys where id = ${made.id}`.execute(test.app.store.db);
      const [row] = rows;
      expect(row?.hash).toBe(createHash('sha256').update(made.key).digest('hex'));
      expect(row?.start).toBe(made.start);
      expect(JSON.stringify(row)).not.toContain(made.key.slice(14));
    });

    it('lists keys by page, newest first, without any plaintext', async () => {
      const made = [await make({ name: 'a' }), await make({ name: 'b' })];
      const { status, body } = await api.get<Page<ApiKey>>('/v1/api-keys?page=1&limit=2');
      expect(status).toBe(200);
      expect(body.items).toEqual(made.toReversed().map((one) => ({ ...one, key: null })));
      const { total } = body.pagination;
      expect(body.pagination).toEqual({
        page: 1,
        limit: 2,
        total,
        totalPages: Math.ceil(total / 2),
      });
    });

    it.each(['limit=0', 'limit=101', 'limit=x', 'page=0', 'offset=1'])(
      'refuses a listing with ?%s with a 422',
      async (query) => {
        expect((await api.get(`/v1/api-keys?${query}`)).status).toBe(422);
      },
    );

    it('deletes a key for good with 200, and repeatedly', async () => {
      const { id, key } = await make();
      for (const _ of [1, 2]) {
        const answer = await api.delete(`/v1/api-keys/${id}`);
        expect([answer.status, answer.body]).toEqual([
          200,
          { success: true, message: `API key ${id} is revoked` },
        ]);
      }
      expect((await api.as(key).get('/v1/messages')).status).toBe(401);
    });

    it.each([
      ['GET', '/v1/api-keys/key_1'],
      ['DELETE', '/v1/api-keys/msg_0000000000000000000000'],
      ['PATCH', '/v1/api-keys/x'],
      ['POST', '/v1/api-keys/x/rotate'],
    ] as const)('refuses an id of another form with a 422 on %s %s', async (method, url) => {
      const body = method === 'PATCH' ? {} : undefined;
      expect((await api.request(method, url, { body })).status).toBe(422);
    });

    it('accepts a key made by the operator like any other', async () => {
      const made = await createKey(test.app, test.operator, { role: 'viewer' });
      expect((await api.as(made.key ?? '').get('/v1/messages')).status).toBe(200);
    });
  });
});
