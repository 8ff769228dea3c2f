// Templates, the resource, on both stores (specification 4.6); rules that they share with other
// nouns are in test/http/resources.test.ts.
import { describe, expect, it } from 'vitest';
import { filesAt, findHead } from '../../../src/content/git/repository.ts';
import { createTemplate } from '../../../src/content/templates/create.ts';
import type { Template } from '../../../src/content/templates/schema.ts';
import { headFiles } from '../../../src/content/templates/workspace/begin.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import { makeTemplate, newSlug, type Refusal, templateBody } from './fixtures.ts';

const path = '/v1/templates';

describe.each(stores)('templates on %s', (store) => {
  const { test, api } = sharedApi({ store });

  const create = <Body = Refusal>(body: unknown) => api.post<Body>(path, body);
  const filesOf = async (id: string) => (await headFiles(test.app.store.db, id)).files;
  const refusedFields = async (body: unknown) => {
    const answer = await create(body);
    return [answer.status, Object.keys(answer.body.fields ?? {})];
  };

  it('are drafts with a first commit of their content', async () => {
    const { status, body } = await create<Template>({
      ...templateBody('order-shipped'),
      name: 'Order shipped',
      preheader: 'It is "on" its way: soon',
      text: 'Order {{ number }}',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Order shipped',
      slug: 'order-shipped',
      channel: 'email',
      description: null,
      status: 'draft',
      isActive: false,
      familyId: null,
      version: null,
      publishedAt: null,
      archivedAt: null,
    });
    expect(await filesOf(body.id)).toEqual({
      'body.html': templateBody('').html,
      'body.txt': 'Order {{ number }}',
      'template.yaml': 'subject: "Order {{ number }}"\npreheader: "It is \\"on\\" its way: soon"\n',
    });
  });

  it('begin with all files of a folder', async () => {
    const files = {
      'template.yaml': 'subject: Hello {{ name }}\n',
      'body.html': "<p>{% render 'greeting', name: name %}</p>\n",
      'partials/greeting.html': 'Hello {{ name }}',
      'sample.json': '{"name":"Ada"}',
    };
    const { status, body } = await create<Template>({ slug: 'a-folder', files });
    expect([status, body.name]).toEqual([201, 'a-folder']);
    expect(await filesOf(body.id)).toEqual(files);
  });

  it('refuse a malformed body with 422 on its fields', async () => {
    const cases: [object, string[]][] = [
      [{}, ['slug']],
      [{ slug: 'a' }, ['subject', 'html']],
      [{ slug: 'a', subject: 's' }, ['html']],
      [{ slug: 'a', html: '<p></p>' }, ['subject']],
      [{ slug: 'a', subject: 's', html: '<p></p>', mjml: '<mjml></mjml>' }, ['mjml']],
      [{ slug: 'a', files: {}, subject: 's' }, ['subject']],
      [{ slug: 'a', subject: 's', text: 't', channel: 'sms' }, ['channel']],
      [{ slug: 'a', subject: 's', text: 't', name: 'a\r\nb' }, ['name']],
      [{ slug: 'a', subject: 's', text: 't', brand: '../acme' }, ['brand']],
      [{ slug: 'a', files: [] }, ['files']],
      [{ slug: 'a', files: { 'body.html': 1 } }, ['files.body.html']],
      [{ slug: 'a', files: { '../body.html': '' } }, ['files.../body.html']],
      [{ slug: 'a', files: { '.git/config': '' } }, ['files..git/config']],
    ];
    for (const [body, fields] of cases) {
      expect([body, ...(await refusedFields(body))]).toEqual([body, 422, fields]);
    }
  });

  it('refuse slugs off their pattern with 422', async () => {
    const slugs = [
      ...['', '-a', 'a-', 'A', 'ä', 'a b', 'a/b', 'a_b', 'a.b', '../a', 'a\n', 'a\0b'],
      ...['tmpl_0123456789abcdefghjk', 'a'.repeat(101), 7, null, ['a']],
    ];
    for (const slug of slugs) {
      const answer = await refusedFields({ ...templateBody('a'), slug });
      expect([slug, ...answer]).toEqual([slug, 422, ['slug']]);
    }
  });

  it('take a slug of 100 characters, and of one', async () => {
    expect((await create(templateBody('a'.repeat(100)))).status).toBe(201);
    expect((await create(templateBody('7'))).status).toBe(201);
  });

  it('refuse 2 MB of content with 422', async () => {
    const { html: _, ...body } = templateBody('large');
    const text = 'a'.repeat(2 * 1024 * 1024);
    for (const field of ['html', 'mjml', 'text']) {
      expect(await refusedFields({ ...body, [field]: text })).toEqual([422, [field]]);
    }
    const files = { 'template.yaml': 'subject: s', 'body.html': text };
    expect(await refusedFields({ slug: 'a', files })).toEqual([422, ['files.body.html']]);
  });

  it('refuse 201 files with 422, before they are read', async () => {
    const names = Array.from({ length: 201 }, (_, i) => [`partials/p${i}.html`, 7]);
    expect(await refusedFields({ slug: 'many', files: Object.fromEntries(names) })).toEqual([
      422,
      ['files'],
    ]);
  });

  it('name the field of content that does not compile', async () => {
    const slug = newSlug();
    const refused = (more: object) => refusedFields({ ...templateBody(slug), ...more });
    expect(await refused({ html: '<p>{% if %}</p>' })).toEqual([422, ['html']]);
    expect(await refused({ text: '{{ a | nonsense }}' })).toEqual([422, ['text']]);
    expect(await refused({ subject: '{{ a' })).toEqual([422, ['subject']]);
    const { html: _, ...body } = templateBody(slug);
    expect(await refusedFields({ ...body, mjml: '<mjml><p/></mjml>' })).toEqual([422, ['mjml']]);
    const files = { 'template.yaml': 'subject: s\n', 'body.html': '{{ a' };
    expect(await refusedFields({ slug, files })).toEqual([422, ['files.body.html']]);
    expect((await api.get<{ items: unknown[] }>(`${path}?slug=${slug}`)).body.items).toEqual([]);
  });

  it('refuse a slug that another one has with 409', async () => {
    const { slug } = await makeTemplate(api);
    const { status, body } = await create(templateBody(slug));
    expect([status, body._tag]).toEqual([409, 'ConflictError']);
    expect(body.message).toContain(slug);
  });

  it('have one slug once when two daemons create it at once', async () => {
    const slug = newSlug();
    const other = await test.another();
    const done = await Promise.allSettled(
      [test.app, other, test.app, other].map((app) =>
        createTemplate(app, test.operator, templateBody(slug)),
      ),
    );
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { body } = await api.get<{ items: Template[] }>(`${path}?slug=${slug}`);
    expect(body.items).toHaveLength(1);
  });

  it('are listed by status, channel, slug and family', async () => {
    const first = await makeTemplate(api);
    const second = await makeTemplate(api);
    const { body: family } = await api.post<{ id: string }>(`${path}/families`, { name: 'F' });
    await api.request('POST', `${path}/families/${family.id}/members/${first.id}`);
    await api.request('POST', `${path}/${second.id}/archive`);
    const listed = async (query: string) =>
      (await api.get<{ items: Template[] }>(`${path}?limit=100&${query}`)).body.items
        .map(({ id }) => id)
        .filter((id) => id >= first.id);
    expect(await listed('channel=email')).toEqual([second.id, first.id]);
    expect(await listed('status=draft')).toEqual([first.id]);
    expect(await listed('status=archived')).toEqual([second.id]);
    expect(await listed('status=published')).toEqual([]);
    expect(await listed(`slug=${second.slug}`)).toEqual([second.id]);
    expect(await listed(`familyId=${family.id}`)).toEqual([first.id]);
    expect(await listed('familyId=tfam_0123456789abcdefghjk')).toEqual([]);
  });

  it('change name, slug and description, and keep them unique', async () => {
    const first = await makeTemplate(api);
    const { id } = await makeTemplate(api);
    const change = { name: 'Other', slug: 'other', description: 'About it' };
    const patch = (body: object) => api.request<Template>('PATCH', `${path}/${id}`, { body });
    expect(await patch(change)).toMatchObject({ status: 200, body: change });
    expect((await patch({ slug: first.slug })).status).toBe(409);
    expect((await api.get<Template>(`${path}/${id}`)).body).toMatchObject(change);
    const { body } = await api.get<AuditPage>(`/v1/audit?resource=${id}`);
    expect(body.items.map(({ action }) => action)).toEqual([
      'template.updated',
      'template.created',
    ]);
  });

  it('are archived once, with an audit entry', async () => {
    const { id } = await makeTemplate(api);
    const archive = () => api.request<Template>('POST', `${path}/${id}/archive`);
    const { status, body } = await archive();
    expect([status, body.status, body.isActive]).toEqual([200, 'archived', false]);
    await test.clock.advance(1_000);
    expect((await archive()).body).toEqual(body);
    const { body: audit } = await api.get<AuditPage>(`/v1/audit?resource=${id}`);
    expect(audit.items.map(({ action }) => action)).toEqual([
      'template.archived',
      'template.created',
    ]);
  });

  it('are copied as drafts with the saved files', async () => {
    const { id, slug } = await makeTemplate(api, { description: 'About it' });
    const copy = (body?: object) =>
      api.request<Template>('POST', `${path}/${id}/duplicate`, body ? { body } : {});
    const { status, body } = await copy();
    expect([status, body.status]).toEqual([201, 'draft']);
    expect(body).toMatchObject({ name: `${slug} (copy)`, slug: `${slug}-copy` });
    expect(body.description).toBe('About it');
    expect(await filesOf(body.id)).toEqual(await filesOf(id));
    expect((await copy()).body.slug).toBe(`${slug}-copy-2`);
    expect((await copy({ slug: 'third', name: 'Third' })).body).toMatchObject({
      name: 'Third',
      slug: 'third',
    });
    expect((await copy({ slug: 'third' })).status).toBe(409);
  });

  it('are deleted with their repository', async () => {
    const { db } = test.app.store;
    const { id, slug } = await makeTemplate(api);
    const { commit } = await headFiles(db, id);
    expect((await api.delete(`${path}/${id}`)).status).toBe(200);
    expect(await findHead(db, id)).toBeUndefined();
    expect(await filesAt(db, id, commit)).toBeUndefined();
    expect((await create(templateBody(slug))).status).toBe(201);
  });
});
