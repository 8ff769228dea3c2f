// Mail that a person scheduled, while an installation that never sends writes all that it may: each
// permission to write has a row with its attack. What leaves has the words, the sender and the
// audience rule of the scheduling.
import { describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import type { Permission } from '../../../src/core/api/permission.ts';
import { grantablePermissions } from '../../../src/extensions/schema.ts';
import { installed } from '../../access/keys/installation-fixtures.ts';
import { optInWorld } from '../../consent/opt-in/opt-in-world.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { Answer, HttpApi } from '../../support/http-client.ts';
import { whileWalking } from './fixtures.ts';

const hourMs = 3_600_000;

/** Ids of the resources that a scheduled run depends on. */
interface Ids {
  campaign: string;
  template: string;
  sender: string;
  mailbox: string;
  group: string;
  contacts: string;
  domain: string;
  webhook: string;
}

type Attack = (own: HttpApi, ids: Ids) => Promise<Pick<Answer, 'status'>[]>;

const patch = (own: HttpApi, path: string, body: object) => own.request('PATCH', path, { body });

/** Hostile writes of each permission to write that an installation can have. */
const attacks: Partial<Record<Permission, Attack>> = {
  'blocks:write': async (own) => [
    await own.post('/v1/email/blocks', { address: 'x@evil.example' }),
  ],
  'brands:write': async (own) => [
    await patch(own, '/v1/brands/acme', { footer: { companyName: 'Evil' } }),
    await own.post('/v1/brands', { slug: 'evil', name: 'Evil', footer: { companyName: 'Evil' } }),
    await own.post('/v1/brands/evil/default', {}),
  ],
  'campaigns:write': async (own, { campaign }) => [
    await patch(own, `/v1/campaigns/${campaign}`, {
      email: { subject: 'Evil', text: 'Evil' },
      from: { email: 'evil@sandbox.test', name: 'Evil' },
      audience: { includeTags: ['stranger'] },
      metadata: { evil: 'yes' },
      transactional: true,
    }),
  ],
  'contacts:write': async (own, { group, contacts }) => [
    await patch(own, `/v1/unsubscribe-groups/${group}`, { name: 'Evil', description: 'Evil' }),
    await patch(own, `/v1/contact-groups/${contacts}`, { query: { tag: 'stranger' } }),
  ],
  'conversations:write': async (own) => [await own.post('/v1/conversations', { title: 'Evil' })],
  'domains:write': async (own, { domain }) => [
    await own.post(`/v1/email/domains/${domain}/dkim/rotate`, {}),
  ],
  'mailboxes:write': async (own, { mailbox }) => [
    await patch(own, `/v1/mailboxes/${mailbox}`, { description: 'Evil' }),
    await own.post(`/v1/mailboxes/${mailbox}/drafts`, { to: ['x@evil.example'], text: 'Evil' }),
  ],
  'senders:write': async (own, { sender }) => [
    await patch(own, `/v1/email/senders/${sender}`, {
      name: 'Evil',
      replyToEmails: ['evil@evil.example'],
    }),
    await own.post('/v1/email/senders', {
      ...{ email: 'evil@sandbox.test', name: 'Evil', isDefault: true },
      replyToEmails: ['evil@evil.example'],
    }),
  ],
  'templates:write': async (own, { template }) => {
    const path = `/v1/templates/${template}`;
    const revision = async () =>
      (await own.get<{ workspace: { revision: string } }>(`${path}/workspace`)).body.workspace
        .revision;
    const staged = await own.request('PUT', `${path}/workspace/files`, {
      body: {
        expectedRevision: await revision(),
        files: { 'template.yaml': 'subject: Evil\n', 'body.html': '<p>Evil</p>' },
        idempotencyKey: 'stage',
      },
    });
    const saved = await own.post(`${path}/workspace/save`, {
      ...{ expectedRevision: await revision(), idempotencyKey: 'save' },
    });
    return [staged, saved, await own.post(`${path}/publish`, {})];
  },
  'tracking:write': async (own, { domain }) => [
    await own.post(`/v1/email/domains/${domain}/custom-tracking`, { label: 'evil' }),
  ],
  'webhooks:write': async (own, { webhook }) => [
    await own.post(`/v1/webhooks/${webhook}/test`, {}),
  ],
};

const permissions = Object.keys(attacks) as Permission[];

it('each permission to write that an installation can have has its attack', () => {
  const written = routes.flatMap(({ method, permission }) =>
    method !== 'GET' && permission.endsWith(':write') && grantablePermissions.includes(permission)
      ? permission
      : [],
  );
  expect(new Set(permissions)).toEqual(new Set(written));
});

describe.each(stores)('a run that a person scheduled, on %s', (store) => {
  const { test, api } = eachApi({ store });

  const made = async (path: string, body: object) => {
    const { status, body: answer } = await api.post<{ id: string }>(path, body);
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.id;
  };

  /** Makes a campaign whose mail depends on as many other resources as it can. */
  async function makeWorld(senderMore: object): Promise<Ids> {
    await made('/v1/brands', { slug: 'acme', name: 'Acme', footer: { companyName: 'Acme Inc' } });
    const template = await made('/v1/templates', {
      ...{ name: 'News', slug: 'news', subject: 'News of {{ sender.name }}' },
      html: '<p>Good news from {{ brand.name }}</p>',
    });
    await api.post(`/v1/templates/${template}/publish`, {});
    const mailbox = await made('/v1/mailboxes', { slug: 'desk', displayName: 'Desk' });
    const sender = await made('/v1/email/senders', {
      ...{ email: 'desk@sandbox.test', isDefault: true },
      ...senderMore,
    });
    const group = await made('/v1/unsubscribe-groups', { name: 'News' });
    const contacts = await made('/v1/contact-groups', { name: 'All', query: { tag: 'reader' } });
    await made('/v1/contacts', { email: 'ada@example.com', tags: ['reader'] });
    await made('/v1/contacts', { email: 'eve@evil.example', tags: ['stranger'] });
    const campaign = await made('/v1/campaigns', {
      ...{ name: 'News', audience: { groupIds: [contacts] } },
      email: { templateId: template, unsubscribeGroupId: group, footer: { enabled: true } },
    });
    const { body } = await api.get<{ items: { id: string }[] }>('/v1/email/domains');
    const domain = body.items[0]?.id ?? '';
    const webhook = await made('/v1/webhooks', { url: 'https://example.com/', events: ['*'] });
    return { campaign, template, sender, mailbox, group, contacts, domain, webhook };
  }

  const walk = () => whileWalking(test.app, (loop) => loop.idle());

  /**
   * Returns the mails of a run as their recipients read them, without the differences between two
   * mails.
   */
  async function mailsOf(run: Run): Promise<object[]> {
    const { body } = await api.get<{ items: Record<string, unknown>[] }>('/v1/messages?limit=100');
    const own = body.items.filter(({ campaignRunId }) => campaignRunId === run.id);
    return Promise.all(
      own.map(async ({ id, from, replyTo, recipients, metadata, templateVersion }) => {
        const { body: email } = await api.get<Record<string, string>>(`/v1/messages/${id}/email`);
        const [{ email: to }] = recipients as [{ email: string }];
        const { subject, html, text } = JSON.parse(
          JSON.stringify(email).replaceAll(/\/u\/[\w.-]+/g, '/u/TOKEN'),
        );
        return { to, from, replyTo, metadata, templateVersion, subject, html, text };
      }),
    );
  }

  const runOf = async (campaign: string, body: object = {}) => {
    const path = `/v1/campaigns/${campaign}/runs`;
    return (await api.get<Run>(`${path}/${await made(path, body)}`)).body;
  };

  it.each(
    permissions.flatMap((permission) => [
      [permission, { name: 'Acme', replyToEmails: ['help@sandbox.test'] }] as const,
      [permission, {}] as const,
    ]),
  )(
    'leaves as it was while an installation with %s writes, sender %j',
    async (permission, more) => {
      const ids = await makeWorld(more);
      const now = await runOf(ids.campaign);
      await walk();
      const wanted = await mailsOf(now);
      expect(wanted).toMatchObject([{ to: 'ada@example.com' }]);
      const later = await runOf(ids.campaign, {
        scheduledFor: new Date(test.clock.now() + hourMs).toISOString(),
      });
      const own = api.as(
        (
          await installed(test, {
            permissions: [permission, 'templates:read'],
            sendMode: 'none',
          })
        ).plaintext,
      );
      const answers = (await attacks[permission]?.(own, ids)) ?? [];
      expect(answers.map(({ status }) => status < 300)).toEqual(answers.map(() => true));
      await test.clock.advance(hourMs);
      await walk();
      expect(await mailsOf(later)).toEqual(wanted);
    },
  );

  it('reads its members at the start: the audience follows whoever may write contacts', async () => {
    const ids = await makeWorld({});
    const scheduledFor = new Date(test.clock.now() + hourMs).toISOString();
    const run = await runOf(ids.campaign, { scheduledFor });
    await made('/v1/contacts', { email: 'bo@example.com', tags: ['reader'] });
    await test.clock.advance(hourMs);
    await walk();
    expect(await mailsOf(run)).toMatchObject([{ to: 'bo@example.com' }, { to: 'ada@example.com' }]);
  });

  it('shows its content and audience from the scheduling on', async () => {
    const ids = await makeWorld({});
    const scheduledFor = new Date(test.clock.now() + hourMs).toISOString();
    expect(await runOf(ids.campaign, { scheduledFor })).toMatchObject({
      status: 'scheduled',
      contentSnapshot: { email: { templateId: ids.template } },
      audienceSnapshot: { groupIds: [ids.contacts] },
      policySnapshot: { unsubscribeGroupId: ids.group },
    });
  });
});

describe.each(stores)('a mail that asks to confirm, on %s', (store) => {
  const world = optInWorld({ store });
  const { test, api } = world;

  it('has the texts of the moment in which a person asked for it', async () => {
    const sender = (await api.get<{ items: { id: string }[] }>('/v1/email/senders')).body.items[0];
    const groupId = await world.group({ name: 'News', description: 'Once a month' });
    const contact = await world.contact('ada@example.com');
    const first = await world.add(groupId, contact);
    expect(first.body.items).toMatchObject([{ result: 'asked' }]);
    const made = await installed(test, {
      permissions: ['contacts:write', 'senders:write'],
      sendMode: 'none',
    });
    const own = api.as(made.plaintext);
    const writes = [
      await patch(own, `/v1/unsubscribe-groups/${groupId}`, { name: 'Evil', description: 'Evil' }),
      await patch(own, `/v1/email/senders/${sender?.id}`, { name: 'Evil' }),
    ];
    expect(writes.map(({ status }) => status)).toEqual([200, 200]);
    await world.turn();
    const [mail] = await world.mails();
    expect(mail?.subject).toBe('Please confirm: News');
    expect(mail?.text).toContain('“News”');
    expect(JSON.stringify([mail?.text, mail?.html])).not.toContain('Evil');
    await test.clock.advance(2 * hourMs);
    await world.add(groupId, contact);
    await world.turn();
    expect((await world.mails())[1]?.subject).toBe('Please confirm: Evil');
  });

  it('has the texts of the moment in which an import began', async () => {
    const groupId = await world.group({ name: 'News' });
    const path = `/v1/contacts/import?requireConfirmation=${groupId}`;
    const rows = 'email\nada@example.com\nbo@example.com\n';
    const answer = await api.post(path, rows, { headers: { 'content-type': 'text/csv' } });
    expect(answer.status).toBe(200);
    await patch(api, `/v1/unsubscribe-groups/${groupId}`, { name: 'Other' });
    await world.turn(5_000);
    const subjects = (await world.mails()).map(({ subject }) => subject);
    expect(subjects).toEqual(['Please confirm: News', 'Please confirm: News']);
  });
});
