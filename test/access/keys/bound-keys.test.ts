// Keys bound to single mailboxes or to a namespace reach the routes under these mailboxes, and the
// lists of mailboxes and of actions, which show these alone. Every route is asked with both kinds,
// and with a key that only proposes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { refusedAtDoor } from '../../../src/access/keys/constraints.ts';
import { createKey, getKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import type { ApiKey, CreateKey } from '../../../src/access/keys/schema.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import {
  createMailbox,
  deleteMailbox,
  updateMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../../src/identity/mailboxes/namespaces.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { initializedWorkspace } from '../../support/cli.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

type Constraints = NonNullable<CreateKey['constraints']>;

interface Problem {
  _tag: string;
  message: string;
}

const under = '/v1/mailboxes/{id}';

/** Lists that show them what is theirs. */
const cutLists = ['GET /v1/mailboxes', 'GET /v1/mailbox-actions'];

describe.each(stores)('keys bound to mailboxes on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  /** Two mailboxes in the namespace of agents, one outside. */
  let desk: Mailbox;
  let sales: Mailbox;
  let other: Mailbox;
  let agents: string;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    const { app, operator } = test;
    agents = (await createNamespace(app, operator, { name: 'agents' })).id;
    desk = await createMailbox(app, operator, { slug: 'desk', namespaceId: agents });
    sales = await createMailbox(app, operator, { slug: 'sales', namespaceId: agents });
    other = await createMailbox(app, operator, { slug: 'other' });
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const make = (constraints: Constraints | null, more: CreateKey = {}) =>
    createKey(test.app, test.operator, { role: 'owner', ...more, constraints });

  const apiWith = async (constraints: Constraints, more: CreateKey = {}) =>
    api.as((await make(constraints, more)).key ?? '');

  /** Constraints of each kind of key, with the mailboxes that it reaches. */
  const kinds = {
    mailboxIds: () => [{ mailboxIds: [desk.id, sales.id] }, [desk, sales]],
    'one mailboxId': () => [{ mailboxIds: [desk.id] }, [desk]],
    namespaceId: () => [{ namespaceId: agents }, [desk, sales]],
  } satisfies Record<string, () => [Constraints, Mailbox[]]>;
  const names = Object.keys(kinds) as (keyof typeof kinds)[];

  it.each(names)(
    'get a 403 on every route except those under their mailboxes and two lists (%s)',
    async (name) => {
      const [constraints, reached] = kinds[name]();
      const bound = await apiWith(constraints as Constraints);
      const asked = [];
      for (const { method, path, permission } of routes) {
        if (cutLists.includes(`${method} ${path}`)) continue;
        const isConfiguring = permission === 'mailboxes:configure';
        const isUnder = path === under || path.startsWith(`${under}/`);
        const id = isUnder ? other.id : desk.id;
        const url = path.replace('{id}', id).replace(/\{\w+\}/g, 'x');
        const answer = await bound.request<Problem>(method, url, {
          ...(method !== 'GET' && { body: {} }),
        });
        expect([method, path, answer.status, answer.body._tag]).toEqual([
          method,
          path,
          403,
          'ForbiddenError',
        ]);
        const why =
          isConfiguring && isUnder ? /bound to mailboxes|its own/ : /only its own mailboxes/;
        expect(answer.body.message).toMatch(why);
        asked.push(path);
        if (!isUnder || method === 'DELETE') continue;
        for (const { id: own } of reached) {
          const mine = path.replace('{id}', own).replace(/\{\w+\}/g, 'x');
          const answer = await bound.request(method, mine, {
            ...(method !== 'GET' && { body: { nope: 1 } }),
          });
          expect([method, mine, answer.status === 403]).toEqual([method, mine, isConfiguring]);
        }
      }
      expect(asked.length).toBeGreaterThan(80);
      expect(asked.filter((path) => path.startsWith(under)).length).toBeGreaterThan(5);
    },
  );

  it.each(names)('list their own mailboxes alone, on all pages (%s)', async (name) => {
    const [constraints, reached] = kinds[name]();
    const bound = await apiWith(constraints as Constraints);
    const url = '/v1/mailboxes';
    const { body } = await bound.get<Page<Mailbox>>(`${url}?limit=1`);
    expect(body.pagination.total).toBe(reached.length);
    const all = (await bound.get<Page<Mailbox>>(url)).body.items.map(({ id }) => id);
    expect(all).toEqual(reached.map(({ id }) => id).reverse());
    const filtered = await bound.get<Page<Mailbox>>(`${url}?namespaceId=${other.namespaceId}`);
    expect(filtered.body.items).toEqual([]);
    expect((await api.get<Page<Mailbox>>(url)).body.pagination.total).toBe(4);
  });

  it('get a 403 for an unknown mailbox and a 404 for a deleted one of theirs', async () => {
    const { app, operator } = test;
    const gone = await createMailbox(app, operator, { slug: 'gone', namespaceId: agents });
    await deleteMailbox(app, operator, gone.id);
    for (const constraints of [{ namespaceId: agents }, { mailboxIds: [gone.id] }]) {
      const bound = await apiWith(constraints);
      const unknown = app.newId('mailbox');
      expect((await bound.get(`/v1/mailboxes/${unknown}`)).status).toBe(403);
      expect((await bound.get(`/v1/mailboxes/${gone.id}`)).status).toBe(404);
    }
  });

  it('need the permission for each operation on their mailboxes', async () => {
    const reader = await apiWith(
      { mailboxIds: [desk.id] },
      { permissions: { mailboxes: ['read'] }, role: undefined },
    );
    expect((await reader.get(`/v1/mailboxes/${desk.id}`)).status).toBe(200);
    const changed = await reader.request<Problem>('PATCH', `/v1/mailboxes/${desk.id}`, {
      body: { displayName: 'x' },
    });
    expect([changed.status, changed.body.message]).toEqual([
      403,
      'This key lacks the permission mailboxes:write',
    ]);
  });

  it('reach no submission', async () => {
    const { key } = await make({ mailboxIds: [desk.id] });
    const caller = await createAuthenticator(test.app).authenticate(key ?? '');
    if (!caller) throw new Error('the key was refused');
    expect(refusedAtDoor(caller, '127.0.0.1', 'messages:send')?.message).toContain('mailboxes');
  });

  it('follow a change of their mailboxes within a second', async () => {
    const made = await make({ mailboxIds: [desk.id] });
    const bound = api.as(made.key ?? '');
    expect((await bound.get(`/v1/mailboxes/${other.id}`)).status).toBe(403);
    const constraints = { mailboxIds: [other.id] };
    await updateKey(test.app, test.operator, made.id, { constraints });
    expect((await bound.get(`/v1/mailboxes/${other.id}`)).status).toBe(200);
    expect((await bound.get(`/v1/mailboxes/${desk.id}`)).status).toBe(403);
    await updateMailbox(test.app, test.operator, other.id, { displayName: 'Other' });
  });

  describe('the send mode', () => {
    const proposing = () => ({ mailboxIds: [desk.id] });

    it('approval is shown, kept by rotation, and recorded in the audit', async () => {
      const made = await make(proposing(), { sendMode: 'approval' });
      expect(made.sendMode).toBe('approval');
      const heir = await rotateKey(test.app, test.operator, made.id);
      expect((await getKey(test.app, test.operator, heir.id)).sendMode).toBe('approval');
      expect((await make(null)).sendMode).toBe('send');
      const audit = await api.get<{ items: { details: object }[] }>(
        `/v1/audit?resource=${made.id}&action=key.created`,
      );
      expect(audit.body.items[0]?.details).toMatchObject({ sendMode: 'approval' });
    });

    it.each<[string, () => CreateKey]>([
      ['without mailboxes', () => ({ sendMode: 'approval' })],
      ['of a person', () => ({ sendMode: 'approval', owner: 'person', constraints: proposing() })],
      ['with an unknown mode', () => ({ sendMode: 'maybe' as 'send', constraints: proposing() })],
    ])('approval answers 422 for a key %s', async (_what, body) => {
      const answer = await api.post<{ fields: object }>('/v1/api-keys', body());
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ['sendMode']]);
    });

    it('approval requires constraints to mailboxes', async () => {
      const { id } = await make(proposing(), { sendMode: 'approval' });
      for (const constraints of [null, { domains: ['example.com'] }]) {
        const answer = await api.request<{ fields: object }>('PATCH', `/v1/api-keys/${id}`, {
          body: { constraints },
        });
        expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ['constraints']]);
      }
      const answer = await api.request<ApiKey>('PATCH', `/v1/api-keys/${id}`, {
        body: { constraints: { namespaceId: agents } },
      });
      expect(answer.body.constraints).toEqual({ namespaceId: agents });
    });
  });

  it.each<[string, () => Constraints]>([
    ['constraints.mailboxIds', () => ({ mailboxIds: [] })],
    ['constraints.mailboxIds.0', () => ({ mailboxIds: ['desk'] })],
    ['constraints.namespaceId', () => ({ namespaceId: 'agents' })],
    ['constraints.namespaceId', () => ({ mailboxIds: [desk.id], namespaceId: agents })],
    [
      'constraints.mailboxIds',
      () => ({ mailboxIds: Array.from({ length: 51 }, () => test.app.newId('mailbox')) }),
    ],
  ])('refuse malformed constraints with a 422 on %s', async (field, constraints) => {
    const answer = await api.post<{ fields: object }>('/v1/api-keys', {
      constraints: constraints(),
    });
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
  });

  it('never create a key with more mailboxes, or with direct sending from approval', async () => {
    const { app } = test;
    const [holder] = await Promise.all([
      createAuthenticator(app).authenticate(
        (await make({ mailboxIds: [desk.id, sales.id] })).key ?? '',
      ),
    ]);
    if (!holder) throw new Error('the key was refused');
    const by = (constraints: Constraints | null, sendMode: 'send' | 'approval' = 'send') =>
      createKey(app, holder, { role: 'admin', constraints, sendMode });
    expect((await by({ mailboxIds: [sales.id] })).constraints).toEqual({ mailboxIds: [sales.id] });
    const looser = [null, { mailboxIds: [sales.id, other.id] }, { namespaceId: agents }];
    for (const constraints of looser) {
      await expect(by(constraints)).rejects.toThrow('looser constraints');
    }
    const proposes = await createAuthenticator(app).authenticate(
      (await make({ namespaceId: agents }, { sendMode: 'approval' })).key ?? '',
    );
    if (!proposes) throw new Error('the key was refused');
    const inside = { role: 'admin', constraints: { namespaceId: agents } } as const;
    await expect(createKey(app, proposes, inside)).rejects.toThrow('sending without approval');
    const mine = { ...inside, constraints: { mailboxIds: [desk.id] } };
    const sendMode = 'approval' as const;
    await expect(createKey(app, proposes, { ...mine, sendMode })).rejects.toThrow('looser');
    expect((await createKey(app, proposes, { ...inside, sendMode })).sendMode).toBe('approval');
  });
});

it('svc keys create takes --mailbox, --namespace and --send-mode', async () => {
  const cli = await initializedWorkspace();
  const { id } = (await cli.json<Page<Mailbox>>(['mailboxes', 'list'])).items[0] ?? { id: '' };
  const words = ['--mailbox', id, '--send-mode', 'approval'];
  const made = await cli.json<ApiKey>(['keys', 'create', '--name', 'agent', ...words]);
  expect(made).toMatchObject({ constraints: { mailboxIds: [id] }, sendMode: 'approval' });
  const shown = await cli.run(['keys', 'show', made.id]);
  expect(shown.stdout).toContain('approval');
});
