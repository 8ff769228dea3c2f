// Extensions over HTTP: names, lists, public ones, deletion; and their versions: form, order,
// grants, withdrawal.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { everyPermission } from '../../src/core/api/permission.ts';
import {
  createExtension,
  deleteExtension,
  publishExtension,
  updateExtension,
} from '../../src/extensions/extensions.ts';
import type { Installation } from '../../src/extensions/installation-schema.ts';
import { install } from '../../src/extensions/installations.ts';
import type { Extension, ExtensionVersion } from '../../src/extensions/schema.ts';
import { upgradeInstallation } from '../../src/extensions/upgrade.ts';
import { latestOf, precedenceOf, withdrawVersion } from '../../src/extensions/versions.ts';
import { eventTypes } from '../../src/history/events/names.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { meetInWrites } from '../support/meeting-writes.ts';
import { makeExtension, makeInstallation, publish } from './fixtures.ts';

interface Problem {
  _tag: string;
  message: string;
  fields: Record<string, string[]>;
}

type Listed<Item> = { items: Item[]; nextCursor: string | null };

const path = '/v1/extensions';
const asked = { permissions: [], events: [], sendModes: ['none'] };

describe.each(stores)('extensions on %s', (store) => {
  const world = eachApi({ store });
  const { test, api } = world;

  const create = (body: object) => api.post<Extension & Problem>(path, body);
  const list = async (query = '') => (await api.get<Listed<Extension>>(path + query)).body;

  it('are made with a name, and shown with it', async () => {
    const made = await create({ name: 'triage', displayName: 'Triage', description: 'Sorts mail' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^ext_/), organizationId: test.operator.organizationId },
        ...{ name: 'triage', displayName: 'Triage', description: 'Sorts mail' },
        ...{ runtime: 'webhook', isPublic: false, latestVersion: null },
        ...{ createdAt: expect.any(String), updatedAt: made.body.createdAt },
      },
    ]);
    expect((await api.get(`${path}/${made.body.id}`)).body).toEqual(made.body);
  });

  it.each([
    [{ name: 'Triage' }, 'name'],
    [{ name: 'a--b' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'a'.repeat(65) }, 'name'],
    [{ name: 'a', displayName: 'two\nlines' }, 'displayName'],
    [{ name: 'a', runtime: 'wasm' }, 'runtime'],
    [{}, 'name'],
  ])('refuse %o with a 422 on %s', async (body, field) => {
    const { status, body: refusal } = await create(body);
    expect([status, Object.keys(refusal.fields)]).toEqual([422, [field]]);
  });

  it('have names of their own in an organization', async () => {
    await create({ name: 'triage' });
    const again = await create({ name: 'triage' });
    expect([again.status, again.body._tag]).toEqual([409, 'ConflictError']);
    const other = operatorOf(
      (await createOrganization(test.app, { name: 'other', plan: 'self-hosted' })).id,
    );
    expect((await makeExtension(test.app, other, { name: 'triage' })).name).toBe('triage');
  });

  it('are listed newest first, by page and by the time of their creation', async () => {
    const made: Extension[] = [];
    for (let i = 0; i < 5; i++) {
      made.push(await makeExtension(test.app, test.operator));
      await test.clock.advance(1_000);
    }
    const ids = made.map(({ id }) => id).reverse();
    const first = await list('?limit=2');
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const second = await list(`?limit=2&cursor=${first.nextCursor}`);
    expect(second.items.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    const last = await list(`?limit=2&cursor=${second.nextCursor}`);
    expect([last.items.map(({ id }) => id), last.nextCursor]).toEqual([ids.slice(4), null]);
    const [, , third] = made;
    const at = encodeURIComponent(third?.createdAt ?? '');
    expect((await list(`?after=${at}`)).items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect((await list(`?before=${at}`)).items.map(({ id }) => id)).toEqual(ids.slice(3));
    const foreign = await api.get<Problem>(`${path}?after=${at}&cursor=${first.nextCursor}`);
    expect([foreign.status, Object.keys(foreign.body.fields)]).toEqual([422, ['cursor']]);
  });

  it('keep their name, and change their texts', async () => {
    const { id } = await makeExtension(test.app, test.operator);
    const patched = await api.request<Extension>('PATCH', `${path}/${id}`, {
      body: { displayName: 'Sorter', description: null },
    });
    expect(patched.body).toMatchObject({ displayName: 'Sorter', description: null });
    const named = await api.request<Problem>('PATCH', `${path}/${id}`, { body: { name: 'x' } });
    expect([named.status, Object.keys(named.body.fields)]).toEqual([422, ['name']]);
  });

  it('are deleted with their versions, but not while they are installed', async () => {
    const { extension, installed } = await makeInstallation(test.app, test.operator);
    const refused = await api.delete<Problem>(`${path}/${extension.id}`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('is installed'),
    ]);
    await api.delete(`/v1/extension-installations/${installed.id}`);
    expect((await api.delete(`${path}/${extension.id}`)).status).toBe(200);
    expect((await api.get(`${path}/${extension.id}/versions`)).status).toBe(404);
  });

  describe('that are public', () => {
    it('are seen and installed elsewhere, and changed only by their maker', async () => {
      const { app, operator } = test;
      const maker = operatorOf(
        (await createOrganization(app, { name: 'maker', plan: 'self-hosted' })).id,
      );
      const { id } = await makeExtension(app, maker);
      await publish(app, maker, id, { version: '1.0.0' });
      expect((await api.get(`${path}/${id}`)).status).toBe(404);
      await publishExtension(app, maker, id, true);
      const { body } = await api.get<Extension>(`${path}/${id}`);
      expect(body).toMatchObject({ organizationId: null, isPublic: true });
      expect((await list()).items.map((one) => one.id)).toContain(id);
      const refused = await Promise.all([
        api.request('PATCH', `${path}/${id}`, { body: { displayName: 'Mine' } }),
        api.delete(`${path}/${id}`),
        api.post(`${path}/${id}/versions`, { version: '2.0.0', ...asked }),
        api.post(`${path}/${id}/versions/1.0.0/withdraw`, undefined),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
      const installed = await api.post('/v1/extension-installations', {
        ...{ extensionId: id, acceptPermissions: [] },
      });
      expect(installed.status).toBe(201);
      await expect(deleteExtension(app, maker, id)).rejects.toThrow('is installed');
      await publishExtension(app, maker, id, false);
      expect((await api.get(`${path}/${id}`)).status).toBe(404);
      expect(operator.organizationId).not.toBe(maker.organizationId);
    });
  });

  it('keep the name that a person installed, whatever their maker calls them later', async () => {
    const { app, operator } = test;
    const maker = operatorOf(
      (await createOrganization(app, { name: 'maker', plan: 'self-hosted' })).id,
    );
    const { id, name } = await makeExtension(app, maker);
    const { id: titled } = await createExtension(app, maker, {
      ...{ name: 'titled', displayName: 'Triage', runtime: 'hosted' },
    });
    const installations = '/v1/extension-installations';
    const shown = async () => (await api.get<Listed<Installation>>(installations)).body.items;
    for (const one of [id, titled]) {
      await publish(app, maker, one, { version: '1.0.0' });
      await publishExtension(app, maker, one, true);
      await install(app, operator, { extensionId: one, acceptPermissions: [] });
    }
    const before = await shown();
    expect(before).toMatchObject([
      { name: 'titled', displayName: 'Triage' },
      { name, displayName: null },
    ]);
    for (const one of [id, titled]) {
      await updateExtension(app, maker, one, { displayName: 'Your bank' });
      await publish(app, maker, one, { version: '1.1.0' });
    }
    expect(await shown()).toEqual(before);
    for (const { id: installed } of before) {
      await upgradeInstallation(app, operator, installed, { version: '1.1.0' });
    }
    const audit = await api.get(`/v1/audit`);
    const everything = [await shown(), audit.body, (await api.get('/v1/events')).body];
    expect(JSON.stringify(everything)).not.toContain('Your bank');
  });

  describe('and their versions', () => {
    const versions = (id: string, verb = '') => `${path}/${id}/versions${verb}`;
    const post = (id: string, body: object) =>
      api.post<ExtensionVersion & Problem>(versions(id), { ...asked, version: '1.0.0', ...body });
    let id: string;
    const fresh = async () => {
      id = (await makeExtension(test.app, test.operator)).id;
    };

    it('are published with sorted grants, and shown by number and by id', async () => {
      await fresh();
      const { status, body } = await post(id, {
        permissions: ['mailboxes:write', 'mailboxes:read'],
        events: ['message.sent', 'mailbox.message.received'],
        ...{ sendModes: ['approval', 'send'], changelog: 'The first' },
      });
      expect([status, body]).toEqual([
        201,
        {
          ...{ id: expect.stringMatching(/^exv_/), extensionId: id, version: '1.0.0' },
          permissions: ['mailboxes:read', 'mailboxes:write'],
          events: ['mailbox.message.received', 'message.sent'],
          ...{ sendModes: ['approval', 'send'], runtime: 'hosted', changelog: 'The first' },
          ...{ isLatest: true, withdrawnAt: null, createdAt: expect.any(String) },
        },
      ]);
      for (const named of ['1.0.0', body.id]) {
        expect((await api.get(versions(id, `/${named}`))).body).toEqual(body);
      }
      const { changelog: _, ...listed } = body;
      expect((await api.get<Listed<object>>(versions(id))).body.items).toEqual([listed]);
    });

    it.each<[object, string]>([
      [{ version: '1.0' }, 'version'],
      [{ version: 'v1.0.0' }, 'version'],
      [{ version: '=1.0.0' }, 'version'],
      [{ version: ' 1.0.0' }, 'version'],
      [{ version: '01.0.0' }, 'version'],
      [{ version: '1.0.0-01' }, 'version'],
      [{ version: `1.0.0-${'a'.repeat(100)}` }, 'version'],
      [{ version: '' }, 'version'],
      [{ permissions: ['messages:read', 'mailboxes:*'] }, 'permissions.1'],
      [{ permissions: ['*'] }, 'permissions.0'],
      [{ permissions: ['keys:read'] }, 'permissions.0'],
      [{ permissions: ['organization:write'] }, 'permissions.0'],
      [{ permissions: ['organization:delete'] }, 'permissions.0'],
      [{ permissions: ['extensions:read'] }, 'permissions.0'],
      [{ permissions: ['mailboxes:configure'] }, 'permissions.0'],
      [{ permissions: ['Mailboxes:read'] }, 'permissions.0'],
      [{ permissions: ['mailboxes:READ'] }, 'permissions.0'],
      [{ permissions: ['mailboxes:read', 'mailboxes:read'] }, 'permissions.1'],
      [{ permissions: ['permission:mailboxes:read'] }, 'permissions.0'],
      [{ permissions: Array.from({ length: 10_000 }, () => 'x:y') }, 'permissions'],
      [{ permissions: ['x'.repeat(101)] }, 'permissions.0'],
      [{ events: ['message.*'] }, 'events.0'],
      [{ events: ['*'] }, 'events.0'],
      [{ events: ['message.sent', 'message.sunk'] }, 'events.1'],
      [{ events: ['webhook.test'] }, 'events.0'],
      [{ events: ['message.Sent'] }, 'events.0'],
      [{ sendModes: [] }, 'sendModes'],
      [{ sendModes: ['send', 'send'] }, 'sendModes'],
      [{ sendModes: ['maybe'] }, 'sendModes.0'],
      [{ runtime: 'wasm' }, 'runtime'],
      [{ changelog: 'x'.repeat(10_001) }, 'changelog'],
    ])('refuse %o with a 422 on %s', async (body, field) => {
      await fresh();
      const { status, body: refusal } = await post(id, body);
      expect([status, Object.keys(refusal.fields)]).toEqual([422, [field]]);
    });

    it('may ask for each other permission and kind of event', async () => {
      await fresh();
      const never = ['mailboxes:configure', 'organization:write', 'organization:delete'];
      const permissions = everyPermission().filter(
        (one) => !never.includes(one) && !/^(keys|members|extensions):/.test(one),
      );
      const events = eventTypes.filter((one) => one !== 'webhook.test');
      const { status } = await post(id, { permissions, events });
      expect(status).toBe(201);
    });

    it.each(['1.0.0', '1.0.0+b', '1.0.0+b.2'])(
      'of one precedence exist once: %s',
      async (version) => {
        await fresh();
        await post(id, {});
        const { status, body } = await post(id, { version });
        expect([status, body._tag]).toEqual([409, 'ConflictError']);
      },
    );

    it('are published once by two requests at once', async () => {
      await fresh();
      meetInWrites(test.app.store, 2);
      expect(
        (await Promise.all([post(id, {}), post(id, {})])).map(({ status }) => status).sort(),
      ).toEqual([201, 409]);
    });

    it('are the latest by precedence, without prereleases and withdrawn ones', async () => {
      await fresh();
      const latest = async () => (await api.get<Extension>(`${path}/${id}`)).body.latestVersion;
      const latestAfter = async (version: string) => {
        await post(id, { version });
        return (await latest())?.version;
      };
      expect(await latestAfter('2.0.0-beta.1')).toBe('2.0.0-beta.1');
      expect(await latestAfter('1.9.0-rc.1')).toBe('1.9.0-rc.1');
      expect(await latestAfter('1.2.0')).toBe('1.2.0');
      expect(await latestAfter('1.10.0')).toBe('1.10.0');
      expect(await latestAfter('1.9.9')).toBe('1.10.0');
      const withdrawn = await api.post<ExtensionVersion>(
        versions(id, '/1.10.0/withdraw'),
        undefined,
      );
      expect([withdrawn.status, withdrawn.body.withdrawnAt]).toEqual([200, expect.any(String)]);
      expect((await latest())?.version).toBe('1.9.9');
      for (const version of ['1.9.9', '1.2.0', '2.0.0-beta.1', '1.9.0-rc.1']) {
        await withdrawVersion(test.app, test.operator, id, version);
      }
      expect(await latest()).toBeNull();
    });

    it('stay as they are: no route changes one', async () => {
      await fresh();
      const { body } = await post(id, {});
      const one = versions(id, `/${body.id}`);
      for (const method of ['PATCH', 'PUT', 'DELETE'] as const) {
        expect((await api.request(method, one, { body: {} })).status).toBe(404);
      }
    });

    it('are withdrawn once, in the audit too', async () => {
      await fresh();
      const { body } = await post(id, {});
      const withdraw = () => api.post<ExtensionVersion>(versions(id, '/1.0.0/withdraw'), undefined);
      const first = (await withdraw()).body;
      await test.clock.advance(1_000);
      expect((await withdraw()).body).toEqual(first);
      const audit = await api.get<{ items: { action: string }[] }>(`/v1/audit?resource=${body.id}`);
      expect(audit.body.items.map(({ action }) => action)).toEqual([
        'extension-version.withdrawn',
        'extension-version.created',
      ]);
    });
  });
});

describe('the latest version', () => {
  const identifier = fc.oneof(
    fc.nat({ max: 3 }).map(String),
    fc.constantFrom('alpha', 'beta', 'rc', 'a-b'),
  );
  const version = fc
    .tuple(
      fc.nat({ max: 2 }),
      fc.nat({ max: 12 }),
      fc.nat({ max: 2 }),
      fc.array(identifier, { maxLength: 3 }),
    )
    .map(([major, minor, patch, pre]) => {
      const tail = pre.length > 0 ? `-${pre.join('.')}` : '';
      return `${major}.${minor}.${patch}${tail}`;
    });

  /** Compares two releases, which have no prerelease part. */
  const compare = (a: string, b: string) => {
    const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
    const place = left.findIndex((part, index) => part !== right[index]);
    return place === -1 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
  };

  it('is the highest release, or else the last prerelease', () => {
    fc.assert(
      fc.property(fc.uniqueArray(version, { maxLength: 12 }), (all) => {
        const rows = all.map((precedence, index) => ({
          ...{ id: `exv_${String(index).padStart(4, '0')}`, precedence },
        }));
        const releases = all.filter((one) => !one.includes('-')).sort(compare);
        expect(latestOf(rows)?.precedence).toBe(releases.at(-1) ?? all.at(-1));
      }),
    );
  });

  it('has its precedence without build metadata', () => {
    const build = fc.stringMatching(/^[0-9A-Za-z-]{1,8}$/);
    fc.assert(
      fc.property(version, build, (one, metadata) => {
        expect(precedenceOf(`${one}+${metadata}`)).toBe(precedenceOf(one));
        expect(precedenceOf(`v${one}`)).toBeNull();
        expect(precedenceOf(` ${one}`)).toBeNull();
      }),
    );
  });
});
