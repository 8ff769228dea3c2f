// Sends that name a template (specification 4.2, rules 1 to 3), or that ask for the footer of a
// brand.
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { Template } from '../../../src/content/templates/schema.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { DryRunResult, Message } from '../../../src/outbound/messages/schema.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { otherOrganization, send } from '../messages/fixtures.ts';

const files = {
  'template.yaml': 'subject: Order {{ order.number }}\npreheader: For {{ name }}\n',
  'body.html':
    '<html><body><p>Dear {{ name }},</p>{% for item in order.items %}<p>{{ item }}</p>{% endfor %}</body></html>',
};
const templateData = { name: 'Tom & Co', order: { number: 7, items: ['tea', 'milk'] } };

let templatesMade = 0;
const newSlug = () => `order-${templatesMade++}`;

/** Makes a published template of these files. */
async function published(api: HttpApi, more: Record<string, string> = {}) {
  const slug = newSlug();
  const made = await api.post<Template>('/v1/templates', { slug, files: { ...files, ...more } });
  expect(made.status).toBe(201);
  const { status, body } = await api.post<Template>(`/v1/templates/${made.body.id}/publish`, {});
  expect(status).toBe(200);
  return body;
}

const to = [{ email: 'ada@example.com' }];
const payloadOf = (email: Record<string, unknown>, top = {}) => ({
  channel: 'email',
  to,
  email,
  ...top,
});

const contentOf = async (api: HttpApi, { id }: Pick<Message, 'id'>) => {
  const url = `/v1/messages/${id}/email?includeStorageUrls=true`;
  const { subject, storageUrls } = (await api.get<EmailProjection>(url)).body;
  const textAt = async (link: string | null | undefined) =>
    link ? (await api.download(link)).body.toString() : null;
  return {
    subject,
    html: await textAt(storageUrls?.html),
    text: await textAt(storageUrls?.text),
  };
};

describe.each(stores)('sends of templates on %s', (store) => {
  const world = sharedApi({ store });
  let contactId: string;
  beforeAll(async () => {
    const profile = { firstName: 'Ada' };
    const contact = { email: 'ada@example.com', profile };
    contactId = (await world.api.post<{ id: string }>('/v1/contacts', contact)).body.id;
    await world.api.post('/v1/brands', {
      slug: 'acme',
      name: 'Acme',
      footer: { companyName: 'Acme & Sons', address: { street1: '1 Main St', city: 'Town' } },
    });
  });

  it('fills the values into subject, HTML and text', async () => {
    const { id: templateId } = await published(world.api);
    const message = await send(world.api, payloadOf({ templateId, templateData }));
    const { subject, html, text } = await contentOf(world.api, message);
    expect(subject).toBe('Order 7');
    expect(html).toContain('<p>Dear Tom &amp; Co,</p><p>tea</p><p>milk</p>');
    expect(text).toMatch(/Dear Tom & Co,\s+tea\s+milk/);
  });

  it('names the template and its version', async () => {
    const { id: templateId, slug: templateSlug } = await published(world.api);
    const byId = await send(world.api, payloadOf({ templateId, templateData }));
    const bySlug = await send(world.api, payloadOf({ templateSlug, templateData }));
    for (const { id } of [byId, bySlug]) {
      const { body } = await world.api.get<Message>(`/v1/messages/${id}`);
      expect(body).toMatchObject({ templateId, templateVersion: 1 });
    }
  });

  it('sends what render shows, byte for byte', async () => {
    const { id: templateId } = await published(world.api, { 'body.txt': 'Hi {{ name }}' });
    const render = await world.api.post<DryRunResult>(`/v1/templates/${templateId}/render`, {
      data: templateData,
    });
    const dryRun = await world.api.post<DryRunResult>(
      '/v1/messages',
      payloadOf({ templateId, templateData }, { dryRun: true }),
    );
    const message = await send(world.api, payloadOf({ templateId, templateData }));
    const { subject, preheader, html, text } = render.body;
    expect(await contentOf(world.api, message)).toEqual({ subject, html, text });
    expect(dryRun.body.problems).toEqual([]);
    expect(dryRun.body).toMatchObject({ valid: true, subject, preheader, html, text });
    expect(preheader).toBe('For Tom & Co');
  });

  it('keeps the version of a message when another one is published', async () => {
    const { id: templateId } = await published(world.api);
    const first = await send(world.api, payloadOf({ templateId, templateData }));
    const before = await contentOf(world.api, first);
    const { body: view } = await world.api.get<{ workspace: { revision: string } }>(
      `/v1/templates/${templateId}/workspace`,
    );
    await world.api.request('PUT', `/v1/templates/${templateId}/workspace/files`, {
      body: {
        expectedRevision: view.workspace.revision,
        files: { 'body.html': '<p>Other</p>' },
        idempotencyKey: 'stage',
      },
    });
    const staged = await world.api.get<{ workspace: { revision: string } }>(
      `/v1/templates/${templateId}/workspace`,
    );
    await world.api.post(`/v1/templates/${templateId}/workspace/save`, {
      expectedRevision: staged.body.workspace.revision,
      idempotencyKey: 'save',
    });
    await world.api.post(`/v1/templates/${templateId}/publish`, {});
    const second = await send(world.api, payloadOf({ templateId, templateData }));
    expect(await contentOf(world.api, first)).toEqual(before);
    expect(second.templateVersion).toBe(2);
    expect((await contentOf(world.api, second)).html).toContain('Other');
  });

  it.each(['templateId', 'templateSlug'])('refuses an unknown %s with 404', async (field) => {
    const name = field === 'templateId' ? 'tmpl_0123456789abcdefghjk' : 'nobody';
    const { status, body } = await world.api.post<object>(
      '/v1/messages',
      payloadOf({ [field]: name }),
    );
    expect({ status, ...body }).toMatchObject({ status: 404, resource: 'template', id: name });
  });

  it.each(['templateId', 'templateSlug'])(
    'refuses the %s of another organization as unknown',
    async (field) => {
      const { id, slug } = await published(world.api);
      const other = await otherOrganization(world.test.app, field);
      const name = field === 'templateId' ? id : slug;
      const { status } = await world.api
        .as(other.apiKey)
        .post('/v1/messages', payloadOf({ [field]: name }));
      expect(status).toBe(404);
    },
  );

  it('refuses a template without a version with 409', async () => {
    const { body } = await world.api.post<Template>('/v1/templates', { slug: newSlug(), files });
    const { status } = await world.api.post('/v1/messages', payloadOf({ templateId: body.id }));
    expect(status).toBe(409);
  });

  it('refuses an archived template with 409', async () => {
    const { id: templateId } = await published(world.api);
    await world.api.post(`/v1/templates/${templateId}/archive`, {});
    const { status } = await world.api.post('/v1/messages', payloadOf({ templateId }));
    expect(status).toBe(409);
  });

  it('repeats the answer of an accepted send after the template was archived', async () => {
    const { id: templateId } = await published(world.api);
    const headers = { 'idempotency-key': 'again' };
    const payload = payloadOf({ templateId, templateData });
    const first = await send(world.api, payload, headers);
    await world.api.post(`/v1/templates/${templateId}/archive`, {});
    expect((await send(world.api, payload, headers)).id).toBe(first.id);
  });

  it('refuses a key without templates:read with 403', async () => {
    const { id: templateId } = await published(world.api);
    const { key } = await createKey(world.test.app, world.test.operator, {
      name: 'blind',
      permissions: { messages: ['send', 'read'] },
    });
    const api = world.api.as(key ?? '');
    const { status } = await api.post('/v1/messages', payloadOf({ templateId, templateData }));
    expect(status).toBe(403);
  });

  it('names the value that its contract refuses', async () => {
    const contract = {
      type: 'object',
      properties: { user: { type: 'object', required: ['name'] } },
      required: ['user'],
    };
    const { id: templateId } = await published(world.api, {
      'contract.json': JSON.stringify(contract),
    });
    const refusal = await world.api.post<{ fields: object }>(
      '/v1/messages',
      payloadOf({ templateId, templateData: { user: {} } }),
    );
    expect(refusal.status).toBe(422);
    expect(Object.keys(refusal.body.fields)).toEqual(['email.templateData.user.name']);
  });

  it.each(['contact', 'brand', 'sender', 'message', 'unsubscribe_url', 'view_url'])(
    'refuses %s in templateData with 422',
    async (name) => {
      const { id: templateId } = await published(world.api);
      const refusal = await world.api.post<{ fields: object }>(
        '/v1/messages',
        payloadOf({ templateId, templateData: { [name]: 'x' } }),
      );
      expect(refusal.status).toBe(422);
      expect(Object.keys(refusal.body.fields)).toEqual([`email.templateData.${name}`]);
    },
  );

  it('refuses a line break in a subject with 422', async () => {
    const { id: templateId } = await published(world.api);
    const order = { number: '7\r\nBcc: eve@example.com', items: [] };
    const refusal = await world.api.post<{ message: string }>(
      '/v1/messages',
      payloadOf({ templateId, templateData: { order } }),
    );
    expect(refusal.status).toBe(422);
  });

  describe('the scope of a template', () => {
    const probe = {
      'body.html':
        '<p>[{{ contact.firstName }}|{{ sender.email }}|{{ message.id }}|{{ brand.name }}]</p>' +
        '<a href="{{ view_url }}">View</a> <a href="{{ unsubscribe_url }}">Leave</a>',
    };

    it.each(['email', 'contactId'])('has the contact of the only recipient by %s', async (by) => {
      const { id: templateId } = await published(world.api, probe);
      const recipient = by === 'email' ? { email: 'ADA@example.com' } : { contactId };
      const message = await send(world.api, payloadOf({ templateId }, { to: [recipient] }));
      expect((await contentOf(world.api, message)).html).toContain('[Ada|');
    });

    it('has no contact for several recipients', async () => {
      const { id: templateId } = await published(world.api, probe);
      const both = [...to, { email: 'bob@example.com' }];
      const message = await send(world.api, payloadOf({ templateId }, { to: both }));
      expect((await contentOf(world.api, message)).html).toContain('[|');
    });

    it('has no contact in a dry run of a key without contacts:read', async () => {
      const { id: templateId } = await published(world.api, probe);
      const { key } = await createKey(world.test.app, world.test.operator, {
        name: 'sender',
        role: 'sender',
      });
      const { body } = await world.api
        .as(key ?? '')
        .post<DryRunResult>('/v1/messages', payloadOf({ templateId }, { dryRun: true }));
      expect(body.html).toContain('[|');
      expect(body.warnings.map(({ code }) => code)).toContain('contact-hidden');
    });

    it('has the sender, the message and the brand', async () => {
      const { id: templateId } = await published(world.api, probe);
      const message = await send(world.api, payloadOf({ templateId }));
      const { html } = await contentOf(world.api, message);
      expect(html).toContain(`|${message.from.email}|${message.id}|Acme]`);
    });

    it('has a link that shows the HTML as it was sent', async () => {
      const { id: templateId } = await published(world.api, probe);
      const { html } = await contentOf(world.api, await send(world.api, payloadOf({ templateId })));
      const [, link = ''] = /href="([^"]+)">View/.exec(html ?? '') ?? [];
      const view = await world.api.download(link.replaceAll('&amp;', '&'));
      expect(view.body.toString()).toBe(html);
    });

    it('has a link of its own in the copy of each recipient', async () => {
      const { body: group } = await world.api.post<{ id: string }>('/v1/unsubscribe-groups', {
        name: 'News',
      });
      const { id: templateId } = await published(world.api, probe);
      const both = [...to, { email: 'bob@example.com' }];
      const message = await send(
        world.api,
        payloadOf({ templateId, unsubscribeGroupId: group.id }, { to: both }),
      );
      const links = await Promise.all(
        both.map(async ({ email }) => {
          const url = `/v1/messages/${message.id}/email?includeStorageUrls=true&recipient=${email}`;
          const { storageUrls } = (await world.api.get<EmailProjection>(url)).body;
          const raw = (await world.api.download(storageUrls?.raw ?? '')).body.toString();
          const whole = raw
            .replace(/=\r\n/g, '')
            .replaceAll('=3D', '=')
            .replace(/\r\n[ \t]/g, '');
          const [, header] = /^List-Unsubscribe: ?<([^>]+)>/im.exec(whole) ?? [];
          const [, inBody] = /href="([^"]+)">Leave/.exec(whole) ?? [];
          expect(inBody).toBe(header);
          return inBody;
        }),
      );
      expect(new Set(links).size).toBe(2);
    });
  });

  describe('the footer', () => {
    const footer = { enabled: true };

    it('ends inline HTML and text', async () => {
      const content = { subject: 'Hi', html: '<body><p>Hello</p></body>', text: 'Hello', footer };
      const message = await send(world.api, payloadOf(content));
      const { html, text } = await contentOf(world.api, message);
      expect(html).toMatch(/<p>Hello<\/p>[\s\S]*Acme &amp; Sons[\s\S]*1 Main St[\s\S]*<\/body>/);
      expect(text).toMatch(/^Hello\n[\s\S]*Acme & Sons[\s\S]*1 Main St/);
    });

    it('ends the content of a template', async () => {
      const { id: templateId } = await published(world.api);
      const message = await send(world.api, payloadOf({ templateId, templateData, footer }));
      expect((await contentOf(world.api, message)).html).toContain('Acme &amp; Sons');
    });

    it('is refused without a brand with 422', async () => {
      const { apiKey } = await otherOrganization(world.test.app, 'brandless');
      const refusal = await world.api
        .as(apiKey)
        .post<{ fields: object }>(
          '/v1/messages',
          payloadOf({ subject: 'Hi', text: 'Hello', footer }),
        );
      expect(refusal.status).toBe(422);
      expect(Object.keys(refusal.body.fields)).toEqual(['email.footer']);
    });
  });

  it('fills each entry of a batch', async () => {
    const { id: templateId } = await published(world.api);
    const entries = [7, 8].map((number) =>
      payloadOf({ templateId, templateData: { order: { number, items: [] } } }),
    );
    const unknown = payloadOf({ templateSlug: 'nobody' });
    const { body } = await world.api.post<{ message?: Message; error?: { _tag: string } }[]>(
      '/v1/messages/batch',
      [...entries, unknown],
    );
    expect(body.map(({ message, error }) => message?.subject ?? error?._tag)).toEqual([
      'Order 7',
      'Order 8',
      'ResourceNotFoundError',
    ]);
  });

  it('fills a scheduled send when it is accepted', async () => {
    const { id: templateId } = await published(world.api);
    const scheduledFor = new Date(world.test.clock.now() + 3_600_000).toISOString();
    const { status, body } = await world.api.post<Message>(
      '/v1/messages/scheduled',
      payloadOf({ templateId, templateData }, { scheduledFor }),
    );
    expect({ status, subject: body.subject }).toEqual({ status: 201, subject: 'Order 7' });
  });

  it('sends again with the same template and version', async () => {
    const { id: templateId } = await published(world.api);
    const first = await send(world.api, payloadOf({ templateId, templateData }));
    await world.api.post(`/v1/messages/${first.id}/cancel`, {});
    const { body } = await world.api.post<Message>(`/v1/messages/${first.id}/resend`, undefined);
    expect(body).toMatchObject({ templateId, templateVersion: 1, resendOf: first.id });
    expect(await contentOf(world.api, body)).toEqual(await contentOf(world.api, first));
  });

  it('names an unknown template as a problem of a dry run', async () => {
    const { status, body } = await world.api.post<DryRunResult>(
      '/v1/messages',
      payloadOf({ templateSlug: 'nobody' }, { dryRun: true }),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: false, subject: null, html: null, sizeBytes: null });
    expect(body.problems.map(({ _tag }) => _tag)).toEqual(['ResourceNotFoundError']);
  });
});
