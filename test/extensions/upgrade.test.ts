// Upgrades and rollbacks (specification 3, 4.9, 5.5): by a person, in place, with exactly the added
// grants. The order of the checks, two upgrades at once, a dry run, and a rollback to the first
// version and forward again.
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { deleteExtension, publishExtension } from '../../src/extensions/extensions.ts';
import { uninstall } from '../../src/extensions/installation-routes.ts';
import type {
  Installation,
  Installed,
  Upgraded,
  VersionChange,
} from '../../src/extensions/installation-schema.ts';
import { install } from '../../src/extensions/installations.ts';
import {
  type Extension,
  type ExtensionVersion,
  grantableEvents,
  grantablePermissions,
} from '../../src/extensions/schema.ts';
import { upgradeInstallation } from '../../src/extensions/upgrade.ts';
import { withdrawVersion } from '../../src/extensions/versions.ts';
import { eventToRecord, record } from '../../src/history/events/record.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { contactCreated } from '../../src/people/contacts/events.ts';
import type { WebhookDelivery } from '../../src/webhooks/schema.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import type { HttpApi } from '../support/http-client.ts';
import { meetInWrites } from '../support/meeting-writes.ts';
import { grantsOf, makeExtension, makeInstallation, publish } from './fixtures.ts';

interface Problem {
  _tag: string;
  message: string;
  fields: Record<string, string[]>;
}
type Listed<Item> = { items: Item[]; nextCursor: string | null };

const path = '/v1/extension-installations';
const url = 'http://127.0.0.1:9/events';

describe.each(stores)('an upgrade on %s', (store) => {
  const world = eachApi({ store, config: { webhooks: { allowPrivateAddresses: true } } });
  const { test, api } = world;

  let extension: Extension;
  let first: ExtensionVersion;
  let second: ExtensionVersion;
  let third: ExtensionVersion;
  let made: Installed;
  beforeEach(async () => {
    const { app, operator } = test;
    extension = await makeExtension(app, operator, { runtime: 'webhook' });
    const next = (version: string, permissions: string[], events: string[]) =>
      publish(app, operator, extension.id, { version, permissions, events });
    first = await next('1.0.0', ['contacts:read'], ['contact.created']);
    second = await next('1.1.0', ['contacts:read', 'messages:read'], ['contact.deleted']);
    third = await next('2.0.0', ['messages:read'], ['contact.deleted']);
    made = await install(app, operator, {
      ...{ extensionId: extension.id, version: '1.0.0', webhookUrl: url },
      ...{ acceptPermissions: grantsOf(first), sendMode: 'approval' },
    });
  });

  const added = ['event:contact.deleted', 'permission:messages:read'];
  const upgrade = (body?: object, by = api, id = made.id) =>
    by.post<Upgraded & Problem>(`${path}/${id}/upgrade`, body);
  const shown = async () => (await api.get<Installation>(`${path}/${made.id}`)).body;
  const changes = async () =>
    (await api.get<Listed<VersionChange>>(`${path}/${made.id}/version-changes`)).body.items;
  const keyWith = async (input: CreateKey): Promise<HttpApi> =>
    api.as((await createKey(test.app, test.operator, input)).key ?? '');

  it('changes the version in place, and records the change', async () => {
    const { status, body } = await upgrade({ version: '1.1.0', acceptPermissions: added });
    expect(status).toBe(200);
    const refs = {
      fromVersion: { id: first.id, version: '1.0.0' },
      toVersion: { id: second.id, version: '1.1.0' },
      permissionDiff: { added, removed: ['event:contact.created'] },
    };
    expect(body).toEqual({
      ...{ ...refs, dryRun: false, installation: await shown() },
      versionChange: {
        ...{ id: expect.stringMatching(/^exvc_/), organizationId: made.organizationId },
        ...{ installationId: made.id, extensionId: extension.id, ...refs },
        changedBy: { kind: 'user', id: expect.any(String), displayName: 'First key' },
        changedAt: expect.any(String),
      },
    });
    expect(body.installation).toMatchObject({
      version: refs.toVersion,
      events: ['contact.deleted'],
      permissions: ['contacts:read', 'messages:read'],
    });
    expect(await changes()).toEqual([body.versionChange]);
    const own = api.as(made.key);
    expect((await own.get('/v1/messages')).status).toBe(200);
    const audit = await api.get<Listed<{ action: string; details: object }>>(
      `/v1/audit?resource=${made.id}`,
    );
    expect(audit.body.items[0]).toMatchObject({
      action: 'extension-installation.upgraded',
      details: { from: '1.0.0', to: '1.1.0', added },
    });
    const events = await api.get<Listed<{ type: string; data: object }>>(
      `/v1/events?subject=${made.id}&type=extension.installation.upgraded`,
    );
    expect(events.body.items.map(({ data }) => data)).toEqual([body.installation]);
  });

  it.each<[string, object | undefined]>([
    ['no body', undefined],
    ['nothing', {}],
    ['null', { version: null, acceptPermissions: null, dryRun: null, expectedVersion: null }],
  ])('goes to the latest version with %s', async (_what, body) => {
    await upgrade({ version: '1.1.0', acceptPermissions: added });
    const upgraded = await upgrade(body);
    expect([upgraded.status, upgraded.body.toVersion?.version]).toEqual([200, '2.0.0']);
    expect(upgraded.body.permissionDiff).toEqual({
      ...{ added: [], removed: ['permission:contacts:read'] },
    });
  });

  it('takes a version by its id, and repeated grants once', async () => {
    const accept = [...added, ...added];
    const { body } = await upgrade({ version: second.id, acceptPermissions: accept });
    expect(body.toVersion.version).toBe('1.1.0');
  });

  it.each<[string, string[] | undefined, RegExp]>([
    ['none', undefined, /the grants that 1\.1\.0 adds: it lacks event:contact\.deleted, perm/],
    ['one too few', added.slice(1), /lacks event:contact\.deleted$/],
    ['one too many', [...added, 'permission:contacts:read'], /has permission:contacts:read too/],
    ['what is removed', [...added, 'event:contact.created'], /has event:contact.created too much/],
  ])('refuses %s of the added grants, and changes nothing', async (_what, accept, words) => {
    const before = await shown();
    const body = { version: '1.1.0', acceptPermissions: accept };
    const { status, body: refusal } = await upgrade(body);
    expect([status, refusal._tag, refusal.message]).toEqual([
      409,
      'ConflictError',
      expect.stringMatching(words),
    ]);
    expect([await shown(), await changes()]).toEqual([before, []]);
  });

  it.each<[object, string]>([
    [{ version: '' }, 'version'],
    [{ version: 'x'.repeat(101) }, 'version'],
    [{ acceptPermissions: 'all' }, 'acceptPermissions'],
    [{ acceptPermissions: Array.from({ length: 201 }, () => 'x') }, 'acceptPermissions'],
    [{ dryRun: 'yes' }, 'dryRun'],
    [{ force: true }, 'force'],
  ])('refuses %o with a 422 on %s', async (body, field) => {
    const { status, body: refusal } = await upgrade(body);
    expect([status, Object.keys(refusal.fields)]).toEqual([422, [field]]);
  });

  describe('is refused', () => {
    it.each<[string, CreateKey]>([
      ['a service key', { role: 'owner' }],
      ['a test key of a service', { role: 'owner', mode: 'test' }],
    ])('to %s, before anything is looked up', async (_what, input) => {
      const by = await keyWith(input);
      for (const id of [made.id, 'exti_0123456789abcdefghjk']) {
        const { status, body } = await upgrade({ version: '9.9.9' }, by, id);
        expect([status, body.message]).toEqual([403, expect.stringContaining('Only a person')]);
      }
    });

    it('to an installation, and to a key of one mailbox', async () => {
      const { app, operator } = test;
      const { id } = await createMailbox(app, operator, { slug: 'desk' });
      const constraints = { mailboxIds: [id] };
      for (const by of [api.as(made.key), await keyWith({ role: 'owner', constraints })]) {
        expect((await upgrade({ version: '1.1.0' }, by)).status).toBe(403);
      }
    });

    it.each<[string, CreateKey, string]>([
      [
        'the permission to upgrade',
        { permissions: { extensions: ['read'] }, owner: 'person' },
        'extensions:write',
      ],
      [
        'a permission that is added',
        { permissions: { extensions: ['write'], contacts: ['*'] }, owner: 'person' },
        'permissions that this key lacks',
      ],
      [
        'the hearing of an event that is added',
        { permissions: { extensions: ['write'], messages: ['*'] }, owner: 'person' },
        'contact.deleted',
      ],
    ])('to a person without %s', async (_what, input, words) => {
      const body = { version: '1.1.0', acceptPermissions: added };
      const { status, body: refusal } = await upgrade(body, await keyWith(input));
      expect([status, refusal.message]).toEqual([403, expect.stringContaining(words)]);
    });

    it('not to a person without what the version had, and to the command line never', async () => {
      const { app, operator } = test;
      const permissions = { extensions: ['write'], contacts: ['read'], messages: ['read'] };
      const person = await keyWith({ permissions, owner: 'person' });
      const there = { version: '1.1.0', acceptPermissions: added };
      expect((await upgrade(there, person)).status).toBe(200);
      const none = await keyWith({ permissions: { extensions: ['write'] }, owner: 'person' });
      expect((await upgrade({ version: '2.0.0' }, none)).status).toBe(200);
      const back = { version: '1.0.0', acceptPermissions: grantsOf(first) };
      const body = await upgradeInstallation(app, operator, made.id, back);
      expect(body.versionChange?.changedBy).toEqual({
        ...{ kind: 'user', id: null, displayName: 'operator' },
      });
    });

    it('for an unknown installation, then for an unknown version, then for its grants', async () => {
      const unknown = await upgrade({ version: '9.9.9' }, api, 'exti_0123456789abcdefghjk');
      expect([unknown.status, unknown.body]).toMatchObject([
        404,
        { resource: 'extension-installation' },
      ]);
      const version = await upgrade({ version: '9.9.9', acceptPermissions: ['x'] });
      expect([version.status, version.body]).toMatchObject([
        404,
        { resource: 'extension-version' },
      ]);
      await withdrawVersion(test.app, test.operator, extension.id, '1.1.0');
      const withdrawn = await upgrade({ version: '1.1.0', acceptPermissions: ['x'] });
      expect([withdrawn.status, withdrawn.body.message]).toEqual([
        409,
        expect.stringContaining('withdrawn'),
      ]);
      const grants = await upgrade({ version: '2.0.0', acceptPermissions: ['x'] });
      expect([grants.status, grants.body.message]).toEqual([409, expect.stringContaining('lacks')]);
    });

    it('for a version of another extension', async () => {
      const { version } = await makeInstallation(test.app, test.operator);
      expect((await upgrade({ version: version.id })).status).toBe(404);
    });

    it('for an installation of another organization', async () => {
      const { id } = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
      const foreign = await makeInstallation(test.app, operatorOf(id));
      expect((await upgrade({}, api, foreign.installed.id)).status).toBe(404);
    });

    it('for the same version', async () => {
      const { status, body } = await upgrade({ version: '1.0.0' });
      expect([status, body.message]).toEqual([409, 'Version 1.0.0 is installed already']);
    });

    it('for a version without its send mode, and for one of another runtime', async () => {
      const { app, operator } = test;
      const asked = { permissions: first.permissions, events: first.events };
      await publish(app, operator, extension.id, {
        ...asked,
        version: '3.0.0',
        sendModes: ['send'],
      });
      const mode = await upgrade({ version: '3.0.0' });
      expect([mode.status, mode.body.message]).toEqual([
        409,
        expect.stringContaining('does not offer the send mode approval'),
      ]);
      await publish(app, operator, extension.id, { ...asked, version: '3.1.0', runtime: 'hosted' });
      const runtime = await upgrade({ version: '3.1.0' });
      expect([runtime.status, runtime.body.message]).toEqual([
        409,
        expect.stringContaining('the runtime hosted instead of webhook'),
      ]);
    });

    it('for a version with posted events, of an installation without a webhook', async () => {
      const { app, operator } = test;
      const { id } = await makeExtension(app, operator, { runtime: 'webhook' });
      await publish(app, operator, id, { version: '1.0.0' });
      const silent = await install(app, operator, { extensionId: id, acceptPermissions: [] });
      await publish(app, operator, id, { version: '1.1.0', events: ['contact.created'] });
      const body = { acceptPermissions: ['event:contact.created'] };
      const { status, body: refusal } = await upgrade(body, api, silent.id);
      expect([status, refusal.message]).toEqual([
        409,
        expect.stringContaining('made without a webhook'),
      ]);
    });

    it('for another version than expected', async () => {
      const body = { version: '1.1.0', acceptPermissions: added, expectedVersion: '1.1.0' };
      expect((await upgrade(body)).status).toBe(409);
      expect((await upgrade({ ...body, expectedVersion: first.id })).status).toBe(200);
    });
  });

  it.each([
    ['the same version', '1.1.0', '1.1.0'],
    ['different versions', '1.1.0', '2.0.0'],
  ])('of two at once, to %s, happens once', async (_what, one, other) => {
    meetInWrites(test.app.store, 2);
    const both = await Promise.all(
      [one, other].map((version) => upgrade({ version, acceptPermissions: added })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { body } = both.find(({ status }) => status === 200) ?? {};
    expect((await shown()).version).toEqual(body?.toVersion);
    expect(await changes()).toHaveLength(1);
  });

  it('beside its withdrawal or the end of its extension is refused whole', async () => {
    const { app, operator } = test;
    meetInWrites(app.store, 2);
    const [upgraded] = await Promise.all([
      upgrade({ version: '1.1.0', acceptPermissions: added }),
      withdrawVersion(app, operator, extension.id, '1.1.0'),
    ]);
    const now = await shown();
    if (upgraded.status === 409) expect(now.version.version).toBe('1.0.0');
    else expect([upgraded.status, now.version.version]).toEqual([200, '1.1.0']);
    await expect(deleteExtension(app, operator, extension.id)).rejects.toThrow('is installed');
  });

  it('beside the revocation of its person is refused whole', async () => {
    const { app, operator } = test;
    await publish(app, operator, extension.id, { version: '1.0.1', events: ['contact.created'] });
    const person = await createKey(app, operator, { role: 'owner', owner: 'person' });
    meetInWrites(app.store, 2);
    const [, { status }] = await Promise.all([
      revokeKey(app, operator, person.id),
      upgrade({ version: '1.0.1' }, api.as(person.key ?? '')),
    ]);
    // On SQLite the writes come in the order in which they were asked for.
    expect(store === 'sqlite' ? [401] : [401, 200]).toContain(status);
    expect((await shown()).version.version).toBe(status === 401 ? '1.0.0' : '1.0.1');
  });

  it('beside the uninstallation leaves nothing', async () => {
    const { app, operator } = test;
    meetInWrites(app.store, 2);
    const [, { status }] = await Promise.all([
      uninstall(app, operator, made.id),
      upgrade({ version: '1.1.0', acceptPermissions: added }),
    ]);
    expect([200, 404]).toContain(status);
    expect((await api.get(`${path}/${made.id}`)).status).toBe(404);
    expect((await api.as(made.key).get(`${path}/me`)).status).toBe(401);
  });

  it('stays possible where a public extension became private', async () => {
    const { app } = test;
    const maker = operatorOf(
      (await createOrganization(app, { name: 'maker', plan: 'self-hosted' })).id,
    );
    const { id } = await makeExtension(app, maker);
    await publish(app, maker, id, { version: '1.0.0' });
    await publishExtension(app, maker, id, true);
    const here = await install(app, test.operator, { extensionId: id, acceptPermissions: [] });
    await publish(app, maker, id, { version: '1.1.0' });
    await publishExtension(app, maker, id, false);
    expect((await upgrade({}, api, here.id)).body.toVersion.version).toBe('1.1.0');
  });

  it('is shown in a dry run with all checks but the acceptance', async () => {
    const { status, body } = await upgrade({ version: '1.1.0', dryRun: true });
    expect([status, body]).toEqual([
      200,
      {
        installation: await shown(),
        fromVersion: { id: first.id, version: '1.0.0' },
        toVersion: { id: second.id, version: '1.1.0' },
        permissionDiff: { added, removed: ['event:contact.created'] },
        ...{ dryRun: true, versionChange: null },
      },
    ]);
    expect((await upgrade({ version: '1.0.0', dryRun: true })).status).toBe(409);
    expect((await upgrade({ version: '9.9.9', dryRun: true })).status).toBe(404);
    expect(await changes()).toEqual([]);
  });

  it('back to the first version and forward again keeps credentials, scope and posts', async () => {
    const { app, operator } = test;
    const standing = async () => {
      const rows = await Promise.all([
        sql`select hash, start, owner, is_active, constraints, send_mode, lineage
          from api_keys where installation_id = ${made.id}`.execute(app.store.db),
        sql`select id, url, secret, previous_secret, status, created_at, reach
          from webhook_endpoints where installation_id = ${made.id}`.execute(app.store.db),
        sql`select key_id, endpoint_id, status, send_mode, mailbox_ids, namespace_id, created_by
          from extension_installations where id = ${made.id}`.execute(app.store.db),
        sql`select id, status, due_at, attempt_count from webhook_deliveries
          where endpoint_id = ${made.webhook?.endpointId} and event_type = 'contact.deleted'
          `.execute(app.store.db),
      ]);
      return rows.map((one) => one.rows);
    };
    await upgrade({ version: '1.1.0', acceptPermissions: added });
    await app.store.write((trx) =>
      record(app, trx, operator, {
        subject: app.newId({ prefix: 'contact' }),
        event: { ...eventToRecord(contactCreated, contactCreated.sample), type: 'contact.deleted' },
      }),
    );
    const before = await standing();
    expect(before[3]).toHaveLength(1);
    await upgrade({ version: '2.0.0' });
    await upgrade({ version: '1.1.0', acceptPermissions: ['permission:contacts:read'] });
    expect(await standing()).toEqual(before);
    expect((await shown()).version.version).toBe('1.1.0');
    expect((await changes()).map(({ toVersion }) => toVersion.version)).toEqual([
      ...['1.1.0', '2.0.0', '1.1.0'],
    ]);
    expect(third.isLatest).toBe(true);
  });

  it('cancels waiting posts of events that it takes, and no others', async () => {
    const { app, operator } = test;
    const happen = (type: 'contact.created' | 'contact.deleted') =>
      app.store.write((trx) =>
        record(app, trx, operator, {
          subject: app.newId({ prefix: 'contact' }),
          event: { ...eventToRecord(contactCreated, contactCreated.sample), type },
        }),
      );
    const statuses = async () => {
      const { body } = await api.get<{ items: WebhookDelivery[] }>(
        `/v1/webhooks/${made.webhook?.endpointId}/deliveries`,
      );
      return body.items.map(({ eventType, status }) => [eventType, status]);
    };
    await happen('contact.created');
    await happen('contact.deleted');
    expect(await statuses()).toEqual([['contact.created', 'pending']]);
    await upgrade({ version: '1.1.0', acceptPermissions: added });
    await happen('contact.created');
    await happen('contact.deleted');
    expect(await statuses()).toEqual([
      ['contact.deleted', 'pending'],
      ['contact.created', 'cancelled'],
    ]);
  });

  it('is listed after its installation is gone', async () => {
    await upgrade({ version: '1.1.0', acceptPermissions: added });
    const before = await changes();
    await api.delete(`${path}/${made.id}`);
    expect(await changes()).toEqual(before);
    const unknown = await api.get(`${path}/exti_0123456789abcdefghjk/version-changes`);
    expect(unknown.status).toBe(404);
  });

  it('of a disabled installation leaves it disabled', async () => {
    await api.post(`${path}/${made.id}/disable`, undefined);
    const { body } = await upgrade({ version: '1.1.0', acceptPermissions: added });
    expect(body.installation.status).toBe('disabled');
    expect((await api.as(made.key).get(`${path}/me`)).status).toBe(401);
  });

  if (store === 'postgres') {
    it('is known to another daemon within a second', async () => {
      const { httpApi } = await import('../support/http-client.ts');
      const other = await test.another();
      const there = httpApi({ app: other, apiKey: made.key });
      expect((await there.get('/v1/contacts')).status).toBe(200);
      await upgrade({ version: '1.1.0', acceptPermissions: added });
      await upgrade({ version: '2.0.0' });
      await test.clock.advance(1_000);
      expect((await there.get('/v1/contacts')).status).toBe(403);
      expect((await there.get('/v1/messages')).status).toBe(200);
      await there.close();
    });
  }
});

describe.each(stores)('the exactness of an upgrade on %s', (store) => {
  const { test, api } = eachApi({ store, config: { webhooks: { allowPrivateAddresses: true } } });

  /** Digests of all tables. */
  const tables = async () => {
    const { db } = test.app.store;
    const names = ['api_keys', 'webhook_endpoints', 'webhook_deliveries', 'audit_entries'];
    const own = ['extensions', 'extension_versions', 'extension_installations'];
    const found: string[] = [];
    for (const name of [...names, ...own, 'installation_version_changes', 'resource_events']) {
      const read = sql<Record<string, unknown>>`select * from ${sql.table(name)} order by 1`;
      found.push(`${name} ${JSON.stringify((await read.execute(db)).rows)}`);
    }
    return found;
  };

  const some = <T extends string>(all: readonly T[]) =>
    fc.subarray([...all].slice(0, 6), { minLength: 0 });
  const grants = fc.record({
    permissions: some(grantablePermissions.filter((one) => one.endsWith(':read'))),
    events: some(grantableEvents),
  });

  it('accepts one subset of all grants for each pair of versions, and then holds the target', async () => {
    const { app, operator } = test;
    await fc.assert(
      fc.asyncProperty(grants, grants, async (from, to) => {
        const { id } = await makeExtension(app, operator, { runtime: 'webhook' });
        await publish(app, operator, id, { version: '1.0.0', ...from });
        const input = { extensionId: id, acceptPermissions: grantsOf(from), webhookUrl: url };
        const made = await install(app, operator, input);
        await publish(app, operator, id, { version: '2.0.0', ...to });
        const [before, after] = [grantsOf(from), grantsOf(to)];
        const added = after.filter((one) => !before.includes(one));
        const upgrade = (more: object) =>
          api.post<Upgraded>(`${path}/${made.id}/upgrade`, { version: '2.0.0', ...more });
        const rows = await tables();
        const { body: dry } = await upgrade({ dryRun: true });
        const every = [...new Set([...before, ...after])];
        const others = [
          ...added.map((one) => added.filter((other) => other !== one)),
          ...every.filter((one) => !added.includes(one)).map((one) => [...added, one]),
          ...(added.length > 0 ? [[]] : []),
        ];
        for (const acceptPermissions of others) {
          expect((await upgrade({ acceptPermissions })).status).toBe(409);
        }
        expect(await tables()).toEqual(rows);
        const { status, body } = await upgrade({ acceptPermissions: added });
        expect([status, body.permissionDiff]).toEqual([200, dry.permissionDiff]);
        expect(dry.permissionDiff.added).toEqual(added);
        expect(body.installation).toMatchObject({
          permissions: to.permissions.toSorted(),
          events: to.events.toSorted(),
        });
        const own = await api.as(made.key).get<Installation>(`${path}/me`);
        expect(own.body).toEqual(body.installation);
        const key = await sql<{ permissions: string; events: string }>`
          select permissions, events from api_keys where id = ${made.keyId}`.execute(app.store.db);
        const held = Object.entries(JSON.parse(key.rows[0]?.permissions ?? '{}') as object);
        expect(
          held
            .flatMap(([name, actions]) => (actions as string[]).map((one) => `${name}:${one}`))
            .sort(),
        ).toEqual(to.permissions.toSorted());
        expect(JSON.parse(key.rows[0]?.events ?? '')).toEqual(to.events.toSorted());
        const endpoint = await api.get<{ events: string[] }>(
          `/v1/webhooks/${made.webhook?.endpointId}`,
        );
        expect(endpoint.body.events).toEqual(to.events.toSorted());
      }),
      { numRuns: store === 'sqlite' ? 12 : 4 },
    );
  });
});
