// Publication of templates, on both stores: versions, states, and saves at the same time.
import { describe, expect, it } from 'vitest';
import { publishTemplate } from '../../../src/content/templates/publish.ts';
import type { Template, TemplateVersion } from '../../../src/content/templates/schema.ts';
import { headFiles } from '../../../src/content/templates/workspace/begin.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { App } from '../../../src/core/app.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import { makeTemplate, type Refusal, saveFiles } from './fixtures.ts';

const path = '/v1/templates';

describe.each(stores)('the publication of a template on %s', (store) => {
  const { test, api } = sharedApi({ store });

  const publish = <Body = Template>(id: string) =>
    api.request<Body>('POST', `${path}/${id}/publish`);
  const versions = async (id: string) =>
    (await api.get<Page<TemplateVersion>>(`${path}/${id}/versions`)).body.items;
  const events = async (id: string) => {
    const { body } = await api.get<{ items: { data: { id: string } }[] }>(
      '/v1/events?type=template.published&limit=100',
    );
    return body.items.filter(({ data }) => data.id === id);
  };

  it('makes version 1 of the first commit', async () => {
    const { id } = await makeTemplate(api);
    const { commit } = await headFiles(test.app.store.db, id);
    const { status, body } = await publish(id);
    const publishedAt = new Date(test.clock.now()).toISOString();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      status: 'published',
      isActive: true,
      version: 1,
      publishedAt,
    });
    expect(await versions(id)).toMatchObject([{ templateId: id, version: 1, commit, brand: null }]);
    expect((await api.get<Template>(`${path}/${id}`)).body).toEqual(body);
  });

  it('gives the same version for the same commit, without an event', async () => {
    const { id } = await makeTemplate(api);
    const { body: first } = await publish(id);
    await test.clock.advance(1_000);
    expect((await publish(id)).body).toEqual(first);
    expect(await versions(id)).toHaveLength(1);
    expect(await events(id)).toHaveLength(1);
  });

  it('makes a version of each saved commit', async () => {
    const { id } = await makeTemplate(api);
    await publish(id);
    await saveFiles(test.app, test.operator, id, { 'body.html': '<p>Second</p>' });
    expect((await publish(id)).body.version).toBe(2);
    const listed = await versions(id);
    expect(listed.map(({ version }) => version)).toEqual([2, 1]);
    expect(new Set(listed.map(({ commit }) => commit)).size).toBe(2);
  });

  it('makes a version of the same commit with other CSS of the brand', async () => {
    const brand = { slug: 'acme', name: 'Acme', css: 'p { color: #112233 }' };
    await api.post('/v1/brands', brand);
    const { id } = await makeTemplate(api, { brand: 'acme' });
    await publish(id);
    await api.request('PATCH', '/v1/brands/acme', { body: { name: 'Other' } });
    expect((await publish(id)).body.version).toBe(1);
    await api.request('PATCH', '/v1/brands/acme', { body: { css: 'p { color: #445566 }' } });
    expect((await publish(id)).body.version).toBe(2);
    const listed = await versions(id);
    expect(listed.map(({ version, brand: of }) => [version, of])).toEqual([
      [2, 'acme'],
      [1, 'acme'],
    ]);
    expect(new Set(listed.map(({ commit }) => commit)).size).toBe(1);
  });

  it('records an event and an audit entry', async () => {
    const { id, slug } = await makeTemplate(api);
    const { commit } = await headFiles(test.app.store.db, id);
    const { body } = await publish(id);
    expect(await events(id)).toMatchObject([{ type: 'template.published', data: body }]);
    const { body: audit } = await api.get<AuditPage>(`/v1/audit?resource=${id}`);
    expect(audit.items.map(({ action, details }) => [action, details])).toMatchObject([
      ['template.published', { slug, version: 1, commit }],
      ['template.created', {}],
    ]);
  });

  it('brings an archived template back with its version', async () => {
    const { id } = await makeTemplate(api);
    await publish(id);
    await api.request('POST', `${path}/${id}/archive`);
    const { body } = await publish(id);
    expect(body).toMatchObject({ status: 'published', version: 1, archivedAt: null });
    expect(await events(id)).toHaveLength(2);
  });

  it('lists versions by pages, for a template of the organization only', async () => {
    const { id } = await makeTemplate(api);
    await publish(id);
    await saveFiles(test.app, test.operator, id, { 'body.html': '<p>Second</p>' });
    await publish(id);
    const url = `${path}/${id}/versions?limit=1&page=2`;
    const { body } = await api.get<Page<TemplateVersion>>(url);
    expect(body.items.map(({ version }) => version)).toEqual([1]);
    expect(body.pagination).toMatchObject({ total: 2, totalPages: 2 });
    const unknown = await api.get<Refusal>(`${path}/tmpl_0123456789abcdefghjk/versions`);
    expect([unknown.status, unknown.body.resource]).toEqual([404, 'template']);
  });

  it('is one version when two daemons publish at once', async () => {
    const other = await test.another();
    const { id } = await makeTemplate(api);
    const done = await Promise.all(
      [test.app, other, test.app, other].map((app) => publishTemplate(app, test.operator, id)),
    );
    expect(new Set(done.map(({ version }) => version))).toEqual(new Set([1]));
    expect(await versions(id)).toHaveLength(1);
    expect(await events(id)).toHaveLength(1);
  });

  /** Returns the service with `before` run before each of its transactions. */
  function withWrites(before: () => Promise<void>): App {
    const { store: own } = test.app;
    const write: typeof own.write = async (work, durability) => {
      await before();
      return own.write(work, durability);
    };
    return Object.create(test.app, {
      store: { value: Object.create(own, { write: { value: write } }) },
    });
  }

  it('takes the commit of a save that was made while it compiled', async () => {
    const { id } = await makeTemplate(api);
    let saves = 0;
    const app = withWrites(async () => {
      saves += 1;
      if (saves === 1) {
        await saveFiles(test.app, test.operator, id, { 'body.html': '<p>Meanwhile</p>' });
      }
    });
    expect((await publishTemplate(app, test.operator, id)).version).toBe(1);
    const { commit } = await headFiles(test.app.store.db, id);
    expect((await versions(id)).map((version) => version.commit)).toEqual([commit]);
    expect(saves).toBe(2);
  });

  it('ends with 409 when a save was made during each of five compilations', async () => {
    const { id } = await makeTemplate(api);
    let saves = 0;
    const app = withWrites(async () => {
      saves += 1;
      await saveFiles(test.app, test.operator, id, { 'body.html': `<p>Save ${saves}</p>` });
    });
    await expect(publishTemplate(app, test.operator, id)).rejects.toMatchObject({ status: 409 });
    expect([saves, await versions(id)]).toEqual([5, []]);
  });

  it('is a commit that was the head while saves continue', async () => {
    const other = await test.another();
    const { db } = test.app.store;
    const { id } = await makeTemplate(api);
    const heads = new Set([(await headFiles(db, id)).commit]);
    const saves = async () => {
      for (let i = 0; i < 10; i++) {
        await saveFiles(other, test.operator, id, { 'body.html': `<p>Save ${i}</p>` });
        heads.add((await headFiles(db, id)).commit);
      }
    };
    const publishes = async () => {
      for (let i = 0; i < 5; i++) {
        await publishTemplate(test.app, test.operator, id).catch((error: { status?: number }) => {
          expect(error.status).toBe(409);
        });
      }
    };
    await Promise.all([saves(), publishes()]);
    const last = await publishTemplate(test.app, test.operator, id);
    const [newest, ...older] = await versions(id);
    expect(newest).toMatchObject({
      version: last.version,
      commit: (await headFiles(db, id)).commit,
    });
    for (const { commit } of older) expect(heads).toContain(commit);
    expect(older.map(({ version }) => version)).toEqual(
      older.map((_, index) => (last.version ?? 0) - 1 - index),
    );
  });
});
