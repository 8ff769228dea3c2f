// Previews of templates, on both stores (specification 4.6): the values in their scope, the draft,
// other brands.
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Rendered, RenderTemplate } from '../../../src/content/templates/schema.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import type { Contact } from '../../../src/people/contacts/schema.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import { makeTemplate, newSlug, type Refusal, saveFiles } from './fixtures.ts';
import { stage } from './workspace/fixtures.ts';

const path = '/v1/templates';

describe.each(stores)('previews of templates on %s', (store) => {
  const { test, api } = sharedApi({ store });

  const render = <Body = Rendered>(id: string, body?: RenderTemplate | object) =>
    api.request<Body>('POST', `${path}/${id}/render`, body === undefined ? {} : { body });
  const publish = (id: string) => api.request('POST', `${path}/${id}/publish`);
  const codes = ({ warnings }: Rendered) => warnings.map(({ code }) => code);

  async function published(more: Parameters<typeof makeTemplate>[1] = {}): Promise<string> {
    const { id } = await makeTemplate(api, more);
    await publish(id);
    return id;
  }

  it('fill subject, preheader, HTML and text with the data', async () => {
    const id = await published({
      preheader: 'From {{ shop }}',
      html: '<p>Order {{ number }}</p>',
      text: 'Order {{ number }} of {{ shop }}',
    });
    const { status, body } = await render(id, { data: { number: 7, shop: 'A & B' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      subject: 'Order 7',
      preheader: 'From A & B',
      text: 'Order 7 of A & B',
    });
    expect(body.html).toContain('<p>Order 7</p>');
    expect(body.html).toContain('From A &amp; B');
  });

  it('make a missing variable empty, with a warning', async () => {
    const id = await published({ html: '<p>Order [{{ nothing }}]</p>' });
    const { status, body } = await render(id, { data: { number: 1 } });
    expect([status, body.html?.includes('<p>Order []</p>')]).toEqual([200, true]);
    expect(body.warnings.some(({ message }) => message.includes('nothing'))).toBe(true);
  });

  it('take no body at all', async () => {
    const id = await published();
    expect((await render(id)).status).toBe(200);
  });

  it('fill contact with the values of a contact', async () => {
    const { body: contact } = await api.post<Contact>('/v1/contacts', {
      email: 'ada@example.com',
      profile: { firstName: 'Ada <b>', customFields: { city: 'London' } },
      tags: ['vip'],
    });
    const id = await published({
      html: '<p>{{ contact.firstName }}, {{ contact.email }}, {{ contact.customFields.city }}, {{ contact.tags | join }}</p>',
    });
    const { body } = await render(id, { data: { number: 1 }, contactId: contact.id });
    expect(body.html).toContain('<p>Ada &lt;b&gt;, ada@example.com, London, vip</p>');
  });

  it('refuse a contact to a key without contacts:read with 403', async () => {
    const { body: contact } = await api.post<Contact>('/v1/contacts', { email: 'b@example.com' });
    const id = await published();
    const { key } = await createKey(test.app, test.operator, {
      permissions: { templates: ['read'] },
    });
    const ask = (body: object) => api.as(key ?? '').post<Refusal>(`${path}/${id}/render`, body);
    expect((await ask({ contactId: contact.id })).status).toBe(403);
    expect((await ask({})).status).toBe(200);
  });

  it('answer 404 for resources of another organization', async () => {
    const { id: other } = await createOrganization(test.app, { name: 'other', plan: 'free' });
    const theirs = await createContact(test.app, operatorOf(other), { email: 'a@example.com' });
    const id = await published();
    const cases: [object, string][] = [
      [{ contactId: theirs.id }, 'contact'],
      [{ brand: 'theirs' }, 'brand'],
      [{ unsubscribeGroupId: 'usg_0123456789abcdefghjk' }, 'unsubscribe-group'],
    ];
    for (const [body, resource] of cases) {
      const answer = await render<Refusal>(id, body);
      expect([answer.status, answer.body.resource]).toEqual([404, resource]);
    }
  });

  it('show the default sender', async () => {
    const id = await published({ html: '<p>{{ sender.email }}</p>' });
    expect((await render(id)).body.html).toContain('<p>hello@sandbox.test</p>');
  });

  it('show the saved files as draft, with the staged ones over them', async () => {
    const id = await published({ html: '<p>First</p>' });
    await saveFiles(test.app, test.operator, id, { 'body.html': '<p>Second</p>' });
    expect((await render(id)).body.html).toContain('<p>First</p>');
    expect((await render(id, { draft: true })).body.html).toContain('<p>Second</p>');
    await stage(test.app, test.operator, id, { 'body.html': '<p>Third</p>' });
    expect((await render(id, { draft: true })).body.html).toContain('<p>Third</p>');
    await publish(id);
    expect((await render(id)).body.html).toContain('<p>Second</p>');
  });

  it('need a published version, or draft', async () => {
    const { id } = await makeTemplate(api);
    expect((await render(id)).status).toBe(409);
    expect((await render(id, { draft: true })).status).toBe(200);
  });

  it('name the place of a draft that does not compile', async () => {
    const { id } = await makeTemplate(api);
    await stage(test.app, test.operator, id, { 'body.html': '<p>\n{% if %}</p>' });
    const { status, body } = await render<Refusal>(id, { draft: true });
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ['files.body.html']]);
    expect(body.fields?.['files.body.html']?.[0]).toMatch(/^line 2: /);
  });

  it('inline the CSS of the brand, and that of another one when asked', async () => {
    await api.post('/v1/brands', { slug: 'acme', name: 'Acme', css: 'p { color: #112233 }' });
    await api.post('/v1/brands', { slug: 'zenith', name: 'Zenith', css: 'p { color: #445566 }' });
    const id = await published({ html: '<p>{{ brand.name }}</p>', brand: 'acme' });
    const shown = async (body: object) => {
      const { html } = (await render(id, body)).body;
      return /<p style="color: ?(#\d+);?">(\w+)<\/p>/.exec(html ?? '')?.slice(1);
    };
    expect(await shown({})).toEqual(['#112233', 'Acme']);
    expect(await shown({ brand: 'zenith' })).toEqual(['#445566', 'Zenith']);
    expect(await shown({ brand: 'zenith', draft: true })).toEqual(['#445566', 'Zenith']);
    expect(await shown({ brand: 'acme' })).toEqual(['#112233', 'Acme']);
  });

  it('find the brand however template.yaml is written', async () => {
    await api.post('/v1/brands', { slug: 'indigo', name: 'Indigo', css: 'p { color: #778899 }' });
    const settings = [
      'subject: Hello\nbrand: indigo\n',
      '{"subject": "Hello", "brand": "indigo"}',
      'subject: Hello\n"brand": !!str indigo\n',
    ];
    for (const yaml of settings) {
      const files = { 'template.yaml': yaml, 'body.html': '<p>{{ brand.name }}</p>' };
      const { body } = await api.post<{ id: string }>(path, { slug: newSlug(), files });
      const { html } = (await render(body.id, { draft: true })).body;
      expect([yaml, html]).toEqual([yaml, expect.stringMatching(/#778899.*>Indigo</)]);
    }
  });

  it('use sample.json unless data is given', async () => {
    const { body } = await api.post<{ id: string }>(path, {
      slug: newSlug(),
      files: {
        'template.yaml': 'subject: Hello {{ name }}\n',
        'body.html': '<p>{{ name }}</p>',
        'sample.json': '{"name":"Ada"}',
      },
    });
    await publish(body.id);
    expect((await render(body.id)).body.subject).toBe('Hello Ada');
    expect((await render(body.id, { draft: true })).body.subject).toBe('Hello Ada');
    expect((await render(body.id, { data: { name: 'Bob' } })).body.subject).toBe('Hello Bob');
  });

  it('name the field of data that contract.json does not accept', async () => {
    const { body } = await api.post<{ id: string }>(path, {
      slug: newSlug(),
      files: {
        'template.yaml': 'subject: Hello\n',
        'body.html': '<p>{{ user.name }}</p>',
        'contract.json': JSON.stringify({
          type: 'object',
          properties: { user: { type: 'object', properties: { name: { type: 'string' } } } },
        }),
      },
    });
    await publish(body.id);
    const answer = await render<Refusal>(body.id, { data: { user: { name: 7 } } });
    expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([
      422,
      ['data.user.name'],
    ]);
  });

  it('refuse malformed bodies with 422', async () => {
    const id = await published();
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, i]));
    const cases: [object, string][] = [
      [{ data: [] }, 'data'],
      [{ data: many }, 'data'],
      [{ data: { brand: 1 } }, 'data.brand'],
      [{ brand: '../acme' }, 'brand'],
      [{ contactId: 'ada' }, 'contactId'],
      [{ draft: 'yes' }, 'draft'],
      [{ nonsense: 1 }, 'nonsense'],
    ];
    for (const [body, field] of cases) {
      const answer = await render<Refusal>(id, body);
      const refused = [answer.status, Object.keys(answer.body.fields ?? {})];
      expect([body, ...refused]).toEqual([body, 422, [field]]);
    }
  });

  it('warn of images without alt, http images, foreign links and a missing unsubscribe link', async () => {
    const { body: group } = await api.post<{ id: string }>('/v1/unsubscribe-groups', { name: 'N' });
    const html =
      '<img src="http://cdn.example.com/a.png"><a href="https://elsewhere.example/">there</a>';
    const id = await published({ html });
    const found = codes((await render(id, { unsubscribeGroupId: group.id })).body);
    expect(found).toEqual(
      expect.arrayContaining([
        'image-without-alt',
        'insecure-image',
        'foreign-link',
        'unsubscribe-link-missing',
      ]),
    );
    expect(new Set(found).size).toBe(found.length);
    expect(codes((await render(id)).body)).not.toContain('unsubscribe-link-missing');
  });
});
