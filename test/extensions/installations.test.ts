// Installations over HTTP (specification 2.15, 5.7): exactly the accepted grants, within the rights
// of the installer, with one key and one endpoint that live and end with the installation.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys/keys.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import type { Installation, Installed } from '../../src/extensions/installation-schema.ts';
import type { ExtensionVersion } from '../../src/extensions/schema.ts';
import { eventToRecord, record } from '../../src/history/events/record.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../src/identity/mailboxes/namespaces.ts';
import type { MailboxAction } from '../../src/inbox/approvals/schema.ts';
import { contactCreated } from '../../src/people/contacts/events.ts';
import type { WebhookDelivery } from '../../src/webhooks/schema.ts';
import { deskOf, config as inbound } from '../inbox/replies/world.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import type { HttpApi } from '../support/http-client.ts';
import { grantsOf, makeExtension, makeInstallation, publish } from './fixtures.ts';

interface Problem {
  _tag: string;
  message: string;
  fields: Record<string, string[]>;
}
type Listed<Item> = { items: Item[]; nextCursor: string | null };

const path = '/v1/extension-installations';
const url = 'http://127.0.0.1:9/events';

describe.each(stores)('installations on %s', (store) => {
  const world = eachApi({
    store,
    config: { ...inbound, webhooks: { allowPrivateAddresses: true } },
  });
  const { test, api } = world;

  let extensionId: string;
  let version: ExtensionVersion;
  beforeEach(async () => {
    const { app, operator } = test;
    const extension = await makeExtension(app, operator, { runtime: 'webhook' });
    extensionId = extension.id;
    version = await publish(app, operator, extensionId, {
      version: '1.0.0',
      permissions: ['mailboxes:read', 'mailboxes:send', 'contacts:read'],
      events: ['mailbox.message.received', 'contact.created'],
      sendModes: ['approval', 'send'],
    });
  });

  const post = (more: object = {}, by = api) =>
    by.post<Installed & Problem>(path, {
      ...{ extensionId, webhookUrl: url, acceptPermissions: grantsOf(version) },
      ...more,
    });
  const install = async (more: object = {}) => {
    const { status, body } = await post(more);
    expect(status).toBe(201);
    return body;
  };

  it('shows the path of its URL, which may have a token, to writers of extensions alone', async () => {
    const { id } = await install();
    const { key } = await createKey(test.app, test.operator, {
      name: 'reader',
      permissions: { extensions: ['read'] },
    });
    const urlsFor = async (by: HttpApi) => [
      (await by.get<Installation>(`${path}/${id}`)).body.webhook?.url,
      (await by.get<Listed<Installation>>(path)).body.items[0]?.webhook?.url,
    ];
    expect(await urlsFor(api)).toEqual([url, url]);
    const hidden = 'http://127.0.0.1:9/…';
    expect(await urlsFor(api.as(key ?? ''))).toEqual([hidden, hidden]);
    await api.post(`${path}/${id}/disable`, {});
    await api.delete(`${path}/${id}`);
    const query = sql<{ data: string }>`select data from resource_events
      where event_type like 'extension.installation.%'`;
    const told = (await query.execute(test.app.store.db)).rows.map(({ data }) => String(data));
    expect(told).toEqual([expect.stringContaining(hidden), expect.stringContaining(hidden)]);
  });
  const shown = async (id: string) => (await api.get<Installation>(`${path}/${id}`)).body;
  const move = (id: string, verb: string, by = api) =>
    by.post<Installed & Problem>(`${path}/${id}/${verb}`, undefined);
  const keyWith = async (input: CreateKey): Promise<HttpApi> =>
    api.as((await createKey(test.app, test.operator, input)).key ?? '');

  it('have the grants of their version, a key and an endpoint, shown this once', async () => {
    const body = await install();
    const { key, webhook, ...rest } = body;
    expect(rest).toEqual({
      ...{ id: expect.stringMatching(/^exti_/), organizationId: test.operator.organizationId },
      ...{ extensionId, name: expect.any(String), displayName: null },
      version: { id: version.id, version: '1.0.0' },
      ...{ runtime: 'webhook', status: 'active', disabledAt: null },
      events: ['contact.created', 'mailbox.message.received'],
      permissions: ['contacts:read', 'mailboxes:read', 'mailboxes:send'],
      ...{ sendMode: 'approval', scope: { mailboxIds: [], namespaceId: null } },
      ...{ createdAt: expect.any(String), updatedAt: body.createdAt },
      keyId: expect.stringMatching(/^key_/),
      createdBy: { kind: 'user', id: expect.any(String), displayName: 'First key' },
    });
    expect(key).toMatch(/^svc_live_/);
    expect(webhook).toEqual({
      ...{ endpointId: expect.any(String), url, secret: expect.stringMatching(/^whsec_/) },
    });
    const later = await shown(body.id);
    expect(later).toEqual({
      ...{ ...rest, webhook: { endpointId: webhook?.endpointId, url } },
    });
    const own = await api.as(key).get<Installation>(`${path}/me`);
    expect([own.status, own.body]).toEqual([200, later]);
    expect((await api.get(`${path}/me`)).status).toBe(404);
    expect((await api.as(key).get('/v1/contacts')).status).toBe(200);
    expect((await api.as(key).get('/v1/messages')).status).toBe(403);
  });

  it('take the strictest send mode that their version offers, or one that it offers', async () => {
    expect((await install()).sendMode).toBe('approval');
    expect((await install({ sendMode: 'send' })).sendMode).toBe('send');
    const { status, body } = await post({ sendMode: 'none' });
    expect([status, Object.keys(body.fields)]).toEqual([422, ['sendMode']]);
  });

  it.each<[string, (all: string[]) => string[], RegExp]>([
    ['none', () => [], /lacks event:contact\.created/],
    ['one too few', (all) => all.slice(1), /lacks event:contact\.created$/],
    [
      'one too many',
      (all) => [...all, 'permission:contacts:write'],
      /has permission:contacts:write too much$/,
    ],
    [
      'another one',
      (all) => [...all.slice(1), 'event:contact.deleted'],
      /lacks event:contact\.created; it has event:contact\.deleted too much/,
    ],
    ['other letters', (all) => all.map((one) => one.toUpperCase()), /too much/],
  ])(
    'refuse %s of the grants with a 409 that names the difference',
    async (_what, change, words) => {
      const { status, body } = await post({ acceptPermissions: change(grantsOf(version)) });
      expect([status, body._tag, body.message]).toEqual([
        409,
        'ConflictError',
        expect.stringMatching(words),
      ]);
      expect((await api.get<Listed<object>>(path)).body.items).toEqual([]);
    },
  );

  it('fold repeated grants', async () => {
    const all = grantsOf(version);
    await install({ acceptPermissions: [...all, ...all] });
  });

  it.each<[object, string]>([
    [{ acceptPermissions: undefined }, 'acceptPermissions'],
    [{ acceptPermissions: null }, 'acceptPermissions'],
    [{ acceptPermissions: Array.from({ length: 10_000 }, () => 'x') }, 'acceptPermissions'],
    [{ acceptPermissions: ['x'.repeat(101)] }, 'acceptPermissions.0'],
    [{ extensionId: 'triage' }, 'extensionId'],
    [{ webhookUrl: null }, 'webhookUrl'],
    [{ webhookUrl: 'ftp://x.example' }, 'webhookUrl'],
    [{ scope: { mailboxIds: ['desk'] } }, 'scope.mailboxIds.0'],
    [{ scope: { mailboxIds: Array.from({ length: 51 }, () => 'mbx') } }, 'scope.mailboxIds'],
    [{ scope: { namespaceId: 'agents' } }, 'scope.namespaceId'],
    [{ scope: { odd: 1 } }, 'scope.odd'],
    [{ sendMode: 'maybe' }, 'sendMode'],
    [{ version: '' }, 'version'],
  ])('refuse %o with a 422 on %s', async (more, field) => {
    const { status, body } = await post(more);
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
  });

  it('refuse a URL for an extension that reads the stream', async () => {
    const { app, operator } = test;
    const hosted = await makeExtension(app, operator);
    await publish(app, operator, hosted.id, { version: '1.0.0' });
    const { status, body } = await post({ extensionId: hosted.id, acceptPermissions: [] });
    expect([status, Object.keys(body.fields)]).toEqual([422, ['webhookUrl']]);
  });

  it.each<[string, () => Promise<object>, string]>([
    ['extension', async () => ({ extensionId: 'ext_0123456789abcdefghjk' }), 'extension'],
    ['version', async () => ({ version: '9.9.9' }), 'extension-version'],
    ['mailbox', async () => ({ scope: { mailboxIds: ['mbx_0123456789abcdefghjk'] } }), 'mailbox'],
    ['namespace', async () => ({ scope: { namespaceId: 'ns_0123456789abcdefghjk' } }), 'namespace'],
  ])('answer 404 for an unknown %s', async (_what, more, resource) => {
    const { status, body } = await post(await more());
    expect([status, body]).toMatchObject([404, { _tag: 'ResourceNotFoundError', resource }]);
  });

  it('refuse a withdrawn version, and an extension without one', async () => {
    await api.post(`/v1/extensions/${extensionId}/versions/1.0.0/withdraw`, undefined);
    for (const more of [{ version: '1.0.0' }, {}]) {
      const { status, body } = await post(more);
      expect([status, body._tag]).toEqual([409, 'ConflictError']);
    }
  });

  it.each<[string, CreateKey, string]>([
    [
      'permission',
      { permissions: { extensions: ['write'], mailboxes: ['*'], webhooks: ['read'] } },
      'permissions',
    ],
    [
      'event',
      {
        permissions: {
          ...{ extensions: ['write'], mailboxes: ['read', 'send'], contacts: ['write'] },
        },
      },
      'contact.created',
    ],
    ['freedom of From', { role: 'admin', constraints: { domains: ['x.example'] } }, 'constraints'],
    ['life', { role: 'admin', expiresAt: '2036-01-01T00:00:00Z' }, 'a life beyond'],
  ])('have no %s that their installer lacks', async (what, input, words) => {
    const grants = what === 'event' ? { permissions: ['mailboxes:read'] as string[] } : {};
    if (what === 'event') {
      const next = { version: '1.1.0', ...grants, events: ['contact.created'] };
      version = await publish(test.app, test.operator, extensionId, next);
    }
    const { status, body } = await post({}, await keyWith(input));
    expect([status, body.message]).toEqual([403, expect.stringContaining(words)]);
    expect((await api.get<Listed<object>>(path)).body.items).toEqual([]);
  });

  it('are listed newest first, by status and by extension', async () => {
    const [a, b] = [await install(), await install()];
    await move(a.id, 'disable');
    const { installed: c } = await makeInstallation(test.app, test.operator);
    const ids = async (query: string) =>
      (await api.get<Listed<Installation>>(`${path}${query}`)).body.items.map(({ id }) => id);
    expect(await ids('')).toEqual([c.id, b.id, a.id]);
    expect(await ids('?status=disabled')).toEqual([a.id]);
    expect(await ids(`?extensionId=${extensionId}&status=active`)).toEqual([b.id]);
    const { body } = await api.get<Listed<Installation>>(`${path}?limit=2`);
    expect(await ids(`?limit=2&cursor=${body.nextCursor}`)).toEqual([a.id]);
  });

  it('appear neither among the keys nor among the webhooks', async () => {
    const { keyId, webhook } = await install();
    const keys = await api.get<{ items: { id: string }[] }>('/v1/api-keys?limit=100');
    expect(keys.body.items.map(({ id }) => id)).not.toContain(keyId);
    expect((await api.get<{ items: object[] }>('/v1/webhooks')).body.items).toEqual([]);
    const one = `/v1/webhooks/${webhook?.endpointId}`;
    expect((await api.get<{ status: string }>(one)).body.status).toBe('active');
    const refused = await Promise.all([
      api.request<Problem>('PATCH', one, { body: { events: ['*'] } }),
      api.post<Problem>(`${one}/rotate-secret`, undefined),
      api.delete<Problem>(one),
    ]);
    for (const { status, body } of refused) {
      expect([status, body.message]).toEqual([409, expect.stringContaining('belongs to')]);
    }
  });

  it('make no webhooks, though their permission is webhooks:write', async () => {
    const { app, operator } = test;
    const { installed } = await makeInstallation(app, operator, {
      permissions: ['webhooks:write', 'webhooks:read'],
    });
    const own = api.as(installed.key);
    const made = await own.post<Problem>('/v1/webhooks', { url, events: ['*'] });
    expect([made.status, made.body.message]).toEqual([403, expect.stringContaining('of its own')]);
    const { body } = await api.post<{ id: string }>('/v1/webhooks', { url, events: ['*'] });
    const one = `/v1/webhooks/${body.id}`;
    const changed = await own.request('PATCH', one, { body: { url: `${url}/mine` } });
    expect(changed.status).toBe(403);
    expect((await own.post(`${one}/rotate-secret`, undefined)).status).toBe(403);
  });

  it('never install, upgrade, rotate or change an installation with their own key', async () => {
    const { id, key } = await install();
    const own = api.as(key);
    const answers = await Promise.all([
      post({}, own),
      own.get(path),
      own.get(`${path}/${id}`),
      own.request('PATCH', `${path}/${id}`, { body: { sendMode: 'send' } }),
      own.delete(`${path}/${id}`),
      ...['enable', 'disable', 'rotate-credentials', 'upgrade'].map((verb) => move(id, verb, own)),
      own.get('/v1/api-keys'),
      own.post('/v1/api-keys', {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
  });

  describe('with a scope', () => {
    it('reach the paths under its mailboxes alone', async () => {
      const { app, operator } = test;
      const desk = await createMailbox(app, operator, { slug: 'desk' });
      const other = await createMailbox(app, operator, { slug: 'other' });
      const { key, scope } = await install({ scope: { mailboxIds: [desk.id, desk.id] } });
      expect(scope).toEqual({ mailboxIds: [desk.id], namespaceId: null });
      const own = api.as(key);
      const statuses = await Promise.all(
        [`/v1/mailboxes/${desk.id}`, `/v1/mailboxes/${other.id}`, '/v1/contacts'].map((at) =>
          own.get(at),
        ),
      );
      expect(statuses.map(({ status }) => status)).toEqual([200, 403, 403]);
      expect((await own.get(`${path}/me`)).status).toBe(200);
    });

    it('of a namespace reach its mailboxes, new ones too', async () => {
      const { app, operator } = test;
      const { id: namespaceId } = await createNamespace(app, operator, { name: 'agents' });
      const { key } = await install({ scope: { namespaceId } });
      const desk = await createMailbox(app, operator, { slug: 'desk', namespaceId });
      expect((await api.as(key).get(`/v1/mailboxes/${desk.id}`)).status).toBe(200);
    });

    it('refuse mailboxIds and a namespace together', async () => {
      const { app, operator } = test;
      const { id: namespaceId } = await createNamespace(app, operator, { name: 'agents' });
      const desk = await createMailbox(app, operator, { slug: 'desk' });
      const { status, body } = await post({ scope: { mailboxIds: [desk.id], namespaceId } });
      expect([status, Object.keys(body.fields)]).toEqual([422, ['scope.namespaceId']]);
    });

    it('get another one, another send mode and another URL by a change', async () => {
      const { app, operator } = test;
      const desk = await createMailbox(app, operator, { slug: 'desk' });
      const { id, key } = await install();
      const body = { scope: { mailboxIds: [desk.id] }, sendMode: 'send', webhookUrl: `${url}/b` };
      const changed = await api.request<Installation>('PATCH', `${path}/${id}`, { body });
      expect(changed.body).toMatchObject({
        ...{ sendMode: 'send', scope: { mailboxIds: [desk.id] }, webhook: { url: `${url}/b` } },
      });
      expect((await api.as(key).get('/v1/contacts')).status).toBe(403);
      await api.request('PATCH', `${path}/${id}`, { body: { scope: null } });
      expect((await api.as(key).get('/v1/contacts')).status).toBe(200);
      const audit = await api.get<Listed<{ action: string; details: object }>>(
        `/v1/audit?resource=${id}`,
      );
      expect(audit.body.items.map(({ action }) => action)).toEqual([
        'extension-installation.updated',
        'extension-installation.updated',
        'extension-installation.created',
      ]);
      expect(JSON.stringify(audit.body)).not.toContain(url);
    });

    it('are widened by a person alone, and narrowed by a service too', async () => {
      const { app, operator } = test;
      const { id: namespaceId } = await createNamespace(app, operator, { name: 'agents' });
      const one = (await createMailbox(app, operator, { slug: 'one', namespaceId })).id;
      const two = (await createMailbox(app, operator, { slug: 'two' })).id;
      const service = await keyWith({ role: 'owner' });
      const scopes = {
        all: null,
        both: { mailboxIds: [one, two] },
        one: { mailboxIds: [one] },
        two: { mailboxIds: [two] },
        namespace: { namespaceId },
      };
      type Name = keyof typeof scopes;
      const narrower: Record<Name, Name[]> = {
        all: ['all', 'both', 'one', 'two', 'namespace'],
        both: ['both', 'one', 'two'],
        one: ['one'],
        two: ['two'],
        // A mailbox may leave the namespace, and the installation would keep it.
        namespace: ['namespace'],
      };
      const { id } = await install();
      const change = (by: HttpApi, body: object) =>
        by.request<Problem>('PATCH', `${path}/${id}`, { body });
      for (const sendMode of ['approval', 'send']) {
        for (const from of Object.keys(scopes) as Name[]) {
          for (const to of Object.keys(scopes) as Name[]) {
            for (const wanted of ['approval', 'send']) {
              const start = { scope: scopes[from], sendMode };
              expect((await change(api, start)).status).toBe(200);
              const widens =
                !narrower[from].includes(to) || (sendMode === 'approval' && wanted === 'send');
              const { status, body } = await change(service, {
                ...{ scope: scopes[to], sendMode: wanted },
              });
              expect([from, to, sendMode, wanted, status]).toEqual([
                ...[from, to, sendMode, wanted, widens ? 403 : 200],
              ]);
              if (widens) expect(body.message).toMatch(/^Only a person widens /);
            }
          }
        }
      }
    });

    it('are not changed by a key that could not install them', async () => {
      const { id } = await install();
      const by = await keyWith({ permissions: { extensions: ['*'] } });
      const body = { webhookUrl: `${url}/b` };
      expect((await by.request('PATCH', `${path}/${id}`, { body })).status).toBe(403);
      expect((await move(id, 'rotate-credentials', by)).status).toBe(403);
      expect((await move(id, 'disable', by)).status).toBe(200);
      expect((await move(id, 'enable', by)).status).toBe(403);
      expect((await shown(id)).webhook?.url).toBe(url);
    });
  });

  describe('that are disabled', () => {
    const deliveries = async (one: Pick<Installed, 'webhook'>) =>
      (
        await api.get<{ items: WebhookDelivery[] }>(
          `/v1/webhooks/${one.webhook?.endpointId}/deliveries`,
        )
      ).body.items.map(({ status }) => status);
    const happen = () =>
      test.app.store.write((trx) =>
        record(test.app, trx, test.operator, {
          ...{ subject: test.app.newId({ prefix: 'contact' }) },
          event: eventToRecord(contactCreated, contactCreated.sample),
        }),
      );

    it('stop at once, keep what waits, and are then what they were', async () => {
      const made = await install();
      await happen();
      expect(await deliveries(made)).toEqual(['pending']);
      const disabled = await move(made.id, 'disable');
      expect(disabled.body).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) });
      expect((await api.as(made.key).get(`${path}/me`)).status).toBe(401);
      await happen();
      expect(await deliveries(made)).toEqual(['pending']);
      const repeated = await move(made.id, 'disable');
      expect(repeated.body).toEqual(disabled.body);
      const enabled = await move(made.id, 'enable');
      expect(enabled.body).toMatchObject({ status: 'active', disabledAt: null });
      expect((await api.as(made.key).get(`${path}/me`)).status).toBe(200);
      await happen();
      expect(await deliveries(made)).toEqual(['pending', 'pending']);
    });

    it('tell it once, as they tell their installation and their end', async () => {
      const { id } = await install();
      await move(id, 'disable');
      await move(id, 'disable');
      await move(id, 'enable');
      await api.delete(`${path}/${id}`);
      const { body } = await api.get<Listed<{ type: string; data: { status: string } }>>(
        `/v1/events?subject=${id}`,
      );
      expect(body.items.map(({ type, data }) => [type, data.status])).toEqual([
        ['extension.installation.disabled', 'disabled'],
        ['extension.installation.disabled', 'disabled'],
        ['extension.installation.created', 'active'],
      ]);
      expect(JSON.stringify(body)).not.toMatch(/svc_live_|whsec_/);
    });
  });

  it('get other credentials, and the old key ends', async () => {
    const made = await install();
    const { body } = await move(made.id, 'rotate-credentials');
    expect(body.key).not.toBe(made.key);
    expect(body.webhook?.secret).not.toBe(made.webhook?.secret);
    expect(body.webhook?.endpointId).toBe(made.webhook?.endpointId);
    expect((await api.as(made.key).get(`${path}/me`)).status).toBe(401);
    const own = await api.as(body.key).get<Installation>(`${path}/me`);
    expect(own.body.keyId).toBe(body.keyId);
  });

  it('keep a disabled key disabled over a rotation', async () => {
    const { id } = await install();
    await move(id, 'disable');
    const { body } = await move(id, 'rotate-credentials');
    expect((await api.as(body.key).get(`${path}/me`)).status).toBe(401);
    await move(id, 'enable');
    expect((await api.as(body.key).get(`${path}/me`)).status).toBe(200);
  });

  it('end with their key, their endpoint and their proposals', async () => {
    const desk = await deskOf(world);
    const { id, key, webhook } = await install();
    const { body: proposed } = await desk.reply(await desk.arrive(), { text: 'x' }, api.as(key));
    expect(proposed.status).toBe('proposed');
    expect((await api.delete(`${path}/${id}`)).status).toBe(200);
    expect((await api.as(key).get(`${path}/me`)).status).toBe(401);
    expect((await api.get(`${path}/${id}`)).status).toBe(404);
    expect((await api.get(`/v1/webhooks/${webhook?.endpointId}`)).status).toBe(404);
    const { body } = await api.get<MailboxAction>(`${desk.path}/actions/${proposed.actionId}`);
    expect(body).toMatchObject({
      ...{ state: 'expired', actor: { kind: 'installation', id } },
      failure: { message: `The installation ${id} was uninstalled` },
    });
    expect((await api.delete(`${path}/${id}`)).status).toBe(404);
  });
});
