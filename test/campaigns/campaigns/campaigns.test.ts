// Campaigns over HTTP: every field, the checks when they are saved, and their deletion with their
// runs.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Campaign } from '../../../src/campaigns/setup/schema.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createContactGroup } from '../../../src/people/contacts/groups/groups.ts';
import { createConversation } from '../../../src/people/conversations/conversations.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { storedRun } from './fixtures.ts';

type Refusal = {
  _tag?: string;
  resource?: string;
  id?: string;
  message?: string;
  fields?: Record<string, string[]>;
};

const path = '/v1/campaigns';
const unknown = '0123456789abcdefghjk';
const noon = '2026-01-05T12:00:00.000Z';

const body = (more: object = {}) => ({
  name: 'Spring sale',
  email: { subject: 'Hello {{ contact.firstName }}', text: 'It is spring.' },
  audience: { includeTags: ['customer'], excludeTags: ['vip'] },
  transactional: true,
  ...more,
});

describe.each(stores)('campaigns on %s', (store) => {
  const { test, api } = eachApi({ store });
  const create = (more: object = {}) => api.post<Campaign & Refusal>(path, body(more));

  it('have every field as it was given', async () => {
    const { app, operator } = test;
    const [contact, group, usg, conversation] = await Promise.all([
      createContact(app, operator, { email: 'ada@example.com' }),
      createContactGroup(app, operator, { name: 'Readers' }),
      createGroup(app, operator, { name: 'News' }),
      createConversation(app, operator, {}),
    ]);
    const email = {
      subject: 'Hello',
      html: '<p>Hello</p>',
      text: 'Hello',
      replyTo: ['answers@example.com'],
      attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }],
      unsubscribeGroupId: usg.id,
      tracking: { opens: false },
      footer: { enabled: false },
      priority: 'low',
    };
    const audience = {
      includeTags: ['customer'],
      excludeTags: ['vip'],
      contactIds: [contact.id],
      groupIds: [group.id],
    };
    const given = {
      ...{ name: 'Spring sale', channel: 'email', email, audience },
      from: { email: 'hello@sandbox.test', name: 'The shop' },
      conversationId: conversation.id,
      metadata: { season: 'spring', year: 2026 },
    };
    const { status, body: made } = await api.post<Campaign>(path, given);
    expect(status).toBe(201);
    expect(made).toEqual({
      ...given,
      id: expect.stringMatching(/^camp_[0-9a-hjkmnp-tv-z]{24}$/),
      organizationId: operator.organizationId,
      transactional: false,
      warnings: expect.any(Array),
      createdAt: noon,
      updatedAt: noon,
    });
    expect((await api.get(`${path}/${made.id}`)).body).toEqual(made);
  });

  it('are listed without HTML, text, files, template data and contacts', async () => {
    const { id } = await createContact(test.app, test.operator, { email: 'ada@example.com' });
    await create({
      email: { subject: 'a', html: '<p>b</p>', attachments: [{ filename: 'a', content: 'YQ==' }] },
      audience: { contactIds: [id] },
    });
    const { body: page } = await api.get<Page<Campaign>>(path);
    expect(page.items[0]?.email).toEqual({ subject: 'a' });
    expect(page.items[0]?.audience).toEqual({ includeTags: [], excludeTags: [], groupIds: [] });
  });

  it.each([
    ['a group of contacts', { audience: { groupIds: [`grp_${unknown}`] } }, 'contact-group'],
    ['a contact', { audience: { contactIds: [`contact_${unknown}`] } }, 'contact'],
    [
      'an unsubscribe group',
      { email: { subject: 'a', text: 'b', unsubscribeGroupId: `usg_${unknown}` } },
      'unsubscribe-group',
    ],
    ['a conversation', { conversationId: `conv_${unknown}` }, 'conversation'],
    ['a template', { email: { templateSlug: 'nowhere' } }, 'template'],
    [
      'a message',
      { email: { subject: 'a', text: 'b', inReplyToMessageId: `msg_${unknown}` } },
      'message',
    ],
  ])('are refused with 404 that names %s which is not there', async (_what, more, resource) => {
    const { status, body: refusal } = await create(more);
    expect([status, refusal.resource]).toEqual([404, resource]);
    const named = JSON.stringify(more).match(/[a-z]+_0123456789abcdefghjk|nowhere/)?.[0];
    expect(refusal.id).toBe(named);
  });

  it.each([
    ['nobody', { audience: {} }, 'audience'],
    [
      'an audience that excludes all that it includes',
      { audience: { includeTags: ['a'], excludeTags: ['a', 'b'] } },
      'audience.excludeTags',
    ],
    [
      'more than 100 tags',
      { audience: { includeTags: Array.from({ length: 101 }, (_, index) => `t${index}`) } },
      'audience.includeTags',
    ],
    [
      'more than 10,000 contacts',
      { audience: { contactIds: Array.from({ length: 10_001 }, () => `contact_${unknown}`) } },
      'audience.contactIds',
    ],
    [
      'a template and inline content',
      { email: { templateSlug: 'welcome', subject: 'a' } },
      'email.subject',
    ],
    ['no content', { email: {} }, 'email.subject'],
    ['own headers', { email: { subject: 'a', text: 'b', headers: {} } }, 'email.headers'],
    ['another channel', { channel: 'sms' }, 'channel'],
    ['an empty name', { name: '' }, 'name'],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('are refused with 422 for %s', async (_what, more, field) => {
    const { status, body: refusal } = await create(more);
    expect(status).toBe(422);
    expect(Object.keys(refusal.fields ?? {}).join()).toContain(field);
  });

  it('may have a sender that is not verified, with a warning', async () => {
    const { status, body: made } = await create({ from: { email: 'a@other.example' } });
    expect(status).toBe(201);
    expect(made.warnings.map(({ code }) => code)).toContain('sender');
  });

  it.each([
    ['tags', { includeTags: ['a'] }],
    ['groups', {}],
  ])('warn about %s without an unsubscribe group', async (what, audience) => {
    const group = await createContactGroup(test.app, test.operator, { name: 'All' });
    const to = what === 'groups' ? { groupIds: [group.id] } : audience;
    const { body: made } = await create({ audience: to, transactional: false });
    expect(made.warnings.map(({ code }) => code)).toContain('no-unsubscribe-group');
    const change = { body: { transactional: true } };
    const changed = await api.request<Campaign>('PATCH', `${path}/${made.id}`, change);
    expect(changed.body.warnings.map(({ code }) => code)).not.toContain('no-unsubscribe-group');
  });

  it('take new content and audience as a whole, and keep the rest', async () => {
    const { body: made } = await create({ from: { email: 'hello@sandbox.test' } });
    const change = { email: { subject: 'b', text: 'c' }, audience: { includeTags: ['new'] } };
    const { body: changed } = await api.request<Campaign>('PATCH', `${path}/${made.id}`, {
      body: { ...change, from: null },
    });
    expect(changed).toEqual({
      ...made,
      from: null,
      email: change.email,
      audience: { includeTags: ['new'], excludeTags: [], contactIds: [], groupIds: [] },
    });
  });

  it('refuse a change to a resource that is not there', async () => {
    const { body: made } = await create();
    const change = { body: { conversationId: `conv_${unknown}` } };
    const { status } = await api.request(`PATCH`, `${path}/${made.id}`, change);
    expect(status).toBe(404);
    expect((await api.get<Campaign>(`${path}/${made.id}`)).body.conversationId).toBeNull();
  });

  it('are copied without their runs', async () => {
    const { body: made } = await create();
    await storedRun(test.app, test.operator, 'completed', { campaign_id: made.id });
    const { status, body: copy } = await api.post<Campaign>(`${path}/${made.id}/duplicate`, {});
    expect(status).toBe(201);
    expect(copy).toEqual({ ...made, id: copy.id, name: 'Spring sale (copy)' });
    expect((await api.get<{ items: [] }>(`${path}/${copy.id}/runs`)).body.items).toEqual([]);
  });

  describe('deleted', () => {
    let id: string;
    beforeEach(async () => {
      id = (await create()).body.id;
    });

    it.each(['scheduled', 'running', 'paused', 'held'] as const)(
      'are refused with 409 while a run is %s',
      async (status) => {
        await storedRun(test.app, test.operator, status, { campaign_id: id });
        const answer = await api.delete<Refusal>(`${path}/${id}`);
        expect(answer.status).toBe(409);
        expect(answer.body.message).toContain(`is ${status}: cancel it first`);
      },
    );

    it('are refused with 409 while queued mail of a run is being cancelled', async () => {
      await storedRun(test.app, test.operator, 'cancelled', { campaign_id: id, due_at: 1 });
      expect((await api.delete(`${path}/${id}`)).status).toBe(409);
    });

    it('take their runs and ledgers with them', async () => {
      const { app, operator, clock } = test;
      const { id: runId } = await storedRun(app, operator, 'completed', { campaign_id: id });
      await app.store.write((trx) =>
        sql`insert into campaign_recipients (run_id, contact_id, outcome, created_at)
          values (${runId}, 'contact_1', 'failed', 0), (${runId}, 'contact_2', 'failed', 0)`.execute(
          trx,
        ),
      );
      expect((await api.delete(`${path}/${id}`)).status).toBe(200);
      expect((await api.get(`${path}/${id}/runs/${runId}`)).status).toBe(404);
      for (let step = 0; step < 8; step++) {
        await eraseDue(app);
        await clock.advance(120_000);
      }
      for (const table of ['campaign_runs', 'campaign_recipients']) {
        const { rows } = await sql`select * from ${sql.table(table)}`.execute(app.store.db);
        expect([table, rows]).toEqual([table, []]);
      }
    });
  });

  it('are shown as one contact gets them', async () => {
    const { id: contactId } = await createContact(test.app, test.operator, {
      email: 'ada@example.com',
      profile: { firstName: 'Ada' },
    });
    const { body: made } = await create();
    const shown = await api.post(`${path}/${made.id}/render`, { contactId });
    expect(shown.body).toMatchObject({ subject: 'Hello Ada', text: 'It is spring.' });
  });

  it('send a test that is in no run', async () => {
    const { body: made } = await create();
    const to = { to: ['delivered@simulator.test', 'deferred@simulator.test'] };
    const { status, body: results } = await api.post<{ message?: { subject: string } }[]>(
      `${path}/${made.id}/test`,
      to,
    );
    expect(status).toBe(200);
    expect(results.map(({ message }) => message?.subject)).toEqual([
      '[Test] Hello ',
      '[Test] Hello ',
    ]);
    expect(results[0]?.message).toMatchObject({ campaignRunId: null });
  });

  it.each([
    ['no address', []],
    ['more than 10 addresses', Array.from({ length: 11 }, (_, index) => `u${index}@a.example`)],
    ['a broken address', ['nobody']],
  ])('refuse a test with %s', async (_what, to) => {
    const { body: made } = await create();
    expect((await api.post(`${path}/${made.id}/test`, { to })).status).toBe(422);
  });
});
