// A key proposes and a person approves: nothing is sent without approval, all checks run again at
// approval, and the mail is sent once. Each change of an action's state that a send makes.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createKey, revokeKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import type { ApiKey, CreateKey } from '../../../src/access/keys/schema.ts';
import {
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import {
  deleteMailbox,
  pauseMailbox,
  resumeMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { createSender, deleteSender } from '../../../src/identity/senders/senders.ts';
import { expireActions } from '../../../src/inbox/approvals/actions.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { Draft, ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { apiOf, config, type Desk, deskOf, type Listed, type Problem, rowsIn } from './world.ts';

const day = 24 * 3_600_000;

describe.each(stores)('proposals on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let key: ApiKey;
  let agent: HttpApi;
  let person: HttpApi;
  beforeEach(async () => {
    desk = await deskOf(world);
    key = await createKey(test.app, test.operator, {
      name: 'agent',
      role: 'developer',
      constraints: { mailboxIds: [desk.id] },
      sendMode: 'approval',
    });
    agent = api.as(key.key ?? '');
    person = await apiOf(world, { owner: 'person', name: 'Ada' });
  });

  const at = (id: string | null, verb = '') => `${desk.path}/actions/${id}${verb && `/${verb}`}`;
  const approve = (id: string | null, body: object = {}, by = person) =>
    by.post<MailboxAction & Problem>(at(id, 'approve'), body);
  const shown = async (id: string | null) => (await api.get<ShownAction>(at(id))).body;
  const events = async () => {
    const { body } = await api.get<Listed<{ type: string; data: object }>>(`${desk.path}/events`);
    return body.items;
  };

  async function proposed(body: object = { text: 'Thank you' }): Promise<ReplyResult> {
    const id = await desk.arrive();
    const answer = await desk.reply(id, body, agent);
    expect([answer.status, answer.body.status]).toEqual([201, 'proposed']);
    return answer.body;
  }

  it('answers a reply of a proposing key with 201 proposed, queues nothing and uses no quota', async () => {
    await updateOrganization(test.app, 'default', { plan: 'free' });
    const used = async () => (await api.get<object>('/v1/organizations/usage')).body;
    const id = await desk.arrive();
    const [before, usage] = [await rowsIn(test), await used()];
    const { status, body } = await desk.reply(id, { text: 'x', cc: ['cy@example.com'] }, agent);
    expect([status, body]).toEqual([
      201,
      {
        actionId: expect.stringMatching(/^act_/),
        messageId: null,
        threadId: expect.stringMatching(/^thread_/),
        status: 'proposed',
        waitReason: null,
        reviewExpectedAt: new Date(test.clock.now() + day).toISOString(),
        skippedRecipients: [],
        createdAt: new Date(test.clock.now()).toISOString(),
      },
    ]);
    expect(await rowsIn(test)).toEqual({
      ...before,
      mailbox_actions: 1,
      mailbox_proposals: 1,
    });
    expect(await used()).toEqual(usage);
    expect(await shown(body.actionId)).toMatchObject({
      type: 'reply',
      state: 'proposed',
      actor: { id: key.id },
      summary: { to: ['ada@example.com'], cc: ['cy@example.com'], subject: 'Re: A question' },
      content: { text: 'x', html: null, attachments: [] },
    });
    expect((await events())[0]).toMatchObject({ type: 'mailbox.action.proposed' });
  });

  it('makes a proposal of every way to send: new, reply-all, forward, draft', async () => {
    const id = await desk.arrive();
    const body = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    const draft = await agent.post<Draft>(`${desk.path}/drafts`, body);
    const answers = [
      await desk.send(body, agent),
      await desk.reply(id, { text: 'x' }, agent, 'reply-all'),
      await desk.reply(id, { to: ['a@example.com'] }, agent, 'forward'),
      await agent.post<ReplyResult>(`${desk.path}/drafts/${draft.body.id}/send`, undefined),
    ];
    expect(answers.map(({ body }) => body.status)).toEqual(Array(4).fill('proposed'));
    expect((await rowsIn(test)).deliveries).toBe(0);
    for (const { body } of answers) {
      expect((await approve(body.actionId)).body.state).toBe('executed');
    }
    expect((await rowsIn(test)).deliveries).toBe(4);
    const { body: list } = await api.get<Listed<MailboxAction>>(`${desk.path}/actions`);
    const types = list.items.map(({ type }) => type).reverse();
    expect(types).toEqual(['sendMessage', 'reply', 'forward', 'sendMessage']);
  });

  it('has idempotency keys of its own, which a rotation keeps', async () => {
    const id = await desk.arrive();
    const by = (one: HttpApi, body: object) => desk.reply(id, body, one, 'reply', 'k');
    const own = await by(agent, { text: 'of the agent' });
    const sent = await by(api, { text: 'of the organization' });
    expect([own.body.status, sent.status, sent.body.status]).toEqual(['proposed', 201, 'sent']);
    const bound = await apiOf(world, { constraints: { mailboxIds: [desk.id] } });
    const direct = await by(bound, { text: 'of a bound key' });
    expect([direct.status, direct.body.status]).toEqual([201, 'sent']);
    const next = await rotateKey(test.app, test.operator, key.id, { graceSeconds: 60 });
    const answers: [HttpApi, string, ReplyResult][] = [
      [agent, 'of the agent', own.body],
      [api.as(next.key ?? ''), 'of the agent', own.body],
      [api, 'of the organization', sent.body],
      [bound, 'of a bound key', direct.body],
    ];
    const before = await rowsIn(test);
    for (const [one, text, first] of answers) {
      expect((await by(one, { text })).body).toEqual(first);
      expect((await by(one, { text: 'other' })).status).toBe(409);
    }
    expect(await rowsIn(test)).toEqual(before);
  });

  it('executes an approved proposal once, in its thread', async () => {
    const { actionId, threadId } = await proposed();
    await test.clock.advance(60_000);
    const { status, body } = await approve(actionId, { note: 'fine' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        state: 'executed',
        messageId: expect.stringMatching(/^msg_/),
        threadId,
        note: 'fine',
        decidedAt: new Date(test.clock.now()).toISOString(),
        decidedBy: { kind: 'key', id: expect.any(String), displayName: 'Ada' },
        failure: null,
      }),
    ]);
    const sent = await desk.email(body.messageId);
    expect(sent).toMatchObject({
      toEmails: ['ada@example.com'],
      text: 'Thank you',
      threadPosition: 1,
    });
    const message = await api.get<{ origin: object }>(`/v1/messages/${body.messageId}`);
    expect(message.body.origin).toMatchObject({ keyId: key.id });
    const again = await approve(actionId);
    expect([again.status, again.body.message]).toEqual([
      409,
      `${actionId} is already executed: it is decided only once`,
    ]);
    expect((await rowsIn(test)).mailbox_proposals).toBe(0);
    const published = await events();
    expect(published.find(({ type }) => type === 'mailbox.action.approved')?.data).toEqual(body);
    const audit = await api.get<Listed<object>>(`/v1/audit?resource=${actionId}`);
    expect(audit.body.items).toMatchObject([
      { action: 'action.approved', actor: { keyName: 'Ada' }, details: { note: 'fine' } },
    ]);
  });

  it('sends once when several approvals race', async () => {
    const { actionId } = await proposed();
    const answers = await Promise.all(Array.from({ length: 8 }, () => approve(actionId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect((await rowsIn(test)).deliveries).toBe(1);
  });

  it('sends the edited content, and records the edits in the audit log', async () => {
    const { actionId } = await proposed({ text: 'Thank you', bcc: ['blind@example.com'] });
    const edits = { to: ['bo@example.com'], bcc: null, text: 'Thanks, Ada.' };
    const { body } = await approve(actionId, { edits });
    expect(await desk.email(body.messageId)).toMatchObject({
      toEmails: ['bo@example.com'],
      bccEmails: null,
      text: 'Thanks, Ada.',
      subject: 'Re: A question',
    });
    expect(body.summary).toMatchObject({ to: ['bo@example.com'], preview: 'Thanks, Ada.' });
    const audit = await api.get<Listed<{ details: object }>>(`/v1/audit?resource=${actionId}`);
    expect(audit.body.items[0]?.details).toMatchObject({
      edits: {
        to: { before: ['ada@example.com'], after: ['bo@example.com'] },
        bcc: { before: ['blind@example.com'], after: [] },
        words: ['text'],
      },
    });
    expect(JSON.stringify(audit.body)).not.toContain('Thanks, Ada.');
  });

  it.each([
    ['a new text removes the HTML', { text: 'New words' }, { text: 'New words', html: null }],
    ['new HTML removes the text', { html: '<p>New words</p>' }, { text: 'New words\n' }],
    ['the same text keeps the HTML', { text: 'Old words' }, { html: '<p>Old words</p>' }],
    [
      'both stay as given',
      { text: 'New', html: '<p>Other</p>' },
      { text: 'New', html: '<p>Other</p>' },
    ],
  ])('leaves no old words behind: %s', async (_name, edits, left) => {
    const { actionId } = await proposed({ text: 'Old words', html: '<p>Old words</p>' });
    const { body } = await approve(actionId, { edits });
    const email = await desk.email(body.messageId);
    expect(email).toMatchObject(left);
    const changes = Object.values(edits).some((words) => !words.includes('Old'));
    expect(JSON.stringify([email.text, email.html]).includes('Old')).toBe(!changes);
  });

  describe('by an approver with limits', () => {
    const away = { to: ['bo@elsewhere.example'] };
    const words = { text: 'Other words' };
    const limits: [string, CreateKey, object, string][] = [
      ['a test key to an address elsewhere', { mode: 'test' }, away, 'A test key sends only'],
      ['a test key with other words', { mode: 'test' }, words, 'A test key sends only'],
      [
        'a key of other domains',
        { constraints: { domains: ['elsewhere.example'] } },
        words,
        'may not send from',
      ],
      [
        'a key of other senders',
        { constraints: { senders: ['me@sandbox.test'] } },
        words,
        'may not send from',
      ],
    ];

    it.each(limits)(
      'refuses edits by %s, and keeps the proposal',
      async (_who, key, edits, text) => {
        const { actionId } = await proposed();
        const by = await apiOf(world, { owner: 'person', ...key });
        const { status, body } = await approve(actionId, { edits }, by);
        expect([status, body.message]).toEqual([403, expect.stringContaining(text)]);
        expect((await shown(actionId)).state).toBe('proposed');
        expect((await rowsIn(test)).deliveries).toBe(0);
        expect((await approve(actionId, {}, by)).body.state).toBe('executed');
      },
    );

    it('sends what a test key edits to a mailbox of this machine', async () => {
      const { actionId } = await proposed();
      const by = await apiOf(world, { owner: 'person', mode: 'test' });
      const { body } = await approve(actionId, { edits: { to: [desk.address] } }, by);
      expect(body.state).toBe('executed');
    });
  });

  it('refuses to send to other recipients than those in the bytes of the proposal', async () => {
    const { actionId } = await proposed({ text: 'Hello', bcc: ['blind@example.com'] });
    await test.app.store.write((trx) =>
      sql`update mailbox_proposals set content =
        replace(content, 'blind@example.com', 'other@example.com')`.execute(trx),
    );
    const answer = await approve(actionId);
    expect([answer.status, answer.body.message]).toEqual([
      409,
      'The recipients in bcc are not those of the proposed mail: reject it',
    ]);
    expect((await rowsIn(test)).deliveries).toBe(0);
  });

  it('answers edits that are invalid or leave no content with 422, and keeps the proposal', async () => {
    const { actionId } = await proposed();
    for (const [field, edits] of [
      ['text', { text: null }],
      ['edits.to.0', { to: ['a@example.com\r\n'] }],
      ['edits.subject', { subject: 'a\nb' }],
      ['edits.from', { from: 'x' }],
    ] as const) {
      const answer = await approve(actionId, { edits });
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
    }
    expect((await shown(actionId)).state).toBe('proposed');
  });

  describe('checks at approval', () => {
    it('refuse the approval in a paused mailbox with 409, and keep the proposal', async () => {
      const { app, operator } = test;
      const { actionId } = await proposed();
      await pauseMailbox(app, operator, desk.id);
      expect((await approve(actionId)).status).toBe(409);
      await resumeMailbox(app, operator, desk.id);
      expect((await shown(actionId)).state).toBe('proposed');
      expect((await approve(actionId)).body.state).toBe('executed');
      expect((await rowsIn(test)).deliveries).toBe(1);
    });

    it('refuse the approval in a deleted mailbox with 404', async () => {
      const { actionId } = await proposed();
      await deleteMailbox(test.app, test.operator, desk.id);
      expect((await approve(actionId)).status).toBe(404);
      expect((await rowsIn(test)).deliveries).toBe(0);
    });

    it('leave out a blocked recipient, and fail the proposal when all are blocked', async () => {
      const block = (address: string) =>
        createBlock(test.app, test.operator, { address, reason: 'bounce' });
      const first = await proposed({ text: 'x', cc: ['cy@example.com'] });
      const second = await proposed();
      await block('ada@example.com');
      const partly = await approve(first.actionId);
      expect(partly.body).toMatchObject({
        state: 'executed',
        summary: {
          to: [],
          cc: ['cy@example.com'],
          skippedRecipients: [{ address: 'ada@example.com', reason: 'bounce' }],
        },
      });
      const { body } = await approve(second.actionId);
      expect(body).toMatchObject({ state: 'failed', messageId: null });
      expect(body.failure?.message).toContain('No recipient is left');
      expect((await rowsIn(test)).deliveries).toBe(1);
      expect((await approve(second.actionId)).status).toBe(409);
    });

    it('fail a proposal from a sender that may no longer send', async () => {
      const { app, operator } = test;
      const sender = await createSender(app, operator, { email: 'desk@sandbox.test' });
      const { actionId } = await proposed();
      await api.request('PATCH', `/v1/email/senders/${sender.id}`, { body: { isActive: false } });
      const { status, body } = await approve(actionId);
      expect([status, body.state, body.failure?._tag]).toEqual([200, 'failed', 'ForbiddenError']);
      await deleteSender(app, operator, sender.id);
      expect((await rowsIn(test)).deliveries).toBe(0);
    });

    it('accept a proposal of a rotated key', async () => {
      const { actionId } = await proposed();
      await rotateKey(test.app, test.operator, key.id);
      expect((await approve(actionId)).body.state).toBe('executed');
    });

    it('fail a proposal of a key that was rotated and revoked', async () => {
      const { app, operator } = test;
      const { actionId } = await proposed();
      const heir = await rotateKey(app, operator, key.id);
      await revokeKey(app, operator, heir.id);
      const { body } = await approve(actionId);
      expect([body.state, body.failure?.message]).toEqual([
        'failed',
        expect.stringContaining('revoked'),
      ]);
    });

    it('fail a proposal from an address that the key may no longer use', async () => {
      const { actionId } = await proposed();
      const constraints = { mailboxIds: [desk.id], domains: ['example.com'] };
      await updateKey(test.app, test.operator, key.id, { constraints });
      const { body } = await approve(actionId);
      expect([body.state, body.failure?._tag]).toEqual(['failed', 'ForbiddenError']);
    });

    it('refuse the approval beyond the quota and in a paused organization, and keep the proposal', async () => {
      const { app } = test;
      const { actionId } = await proposed();
      await updateOrganization(app, 'default', { plan: 'free', paymentMethodOnFile: false });
      const body = { to: ['a@example.com'], subject: 'x', text: 'x' };
      await test.clock.advance(2 * day);
      for (let i = 0; i < 100; i++) {
        await test.clock.advance(1_000);
        expect((await desk.send(body)).status).toBe(201);
      }
      await test.clock.advance(1_000);
      expect((await approve(actionId)).status).toBe(402);
      expect((await shown(actionId)).state).toBe('proposed');
      await test.clock.advance(day);
      await pauseOrganization(app, 'default', { note: 'bounces' });
      const paused = await approve(actionId);
      expect([paused.status, paused.body._tag]).toEqual([403, 'ForbiddenError']);
      expect((await shown(actionId)).state).toBe('proposed');
      expect((await rowsIn(test)).mailbox_proposals).toBe(1);
    });

    it('refuse the approval after seven days with 409', async () => {
      const { actionId } = await proposed();
      await test.clock.advance(7 * day);
      expect((await approve(actionId)).status).toBe(409);
      await expireActions(test.app);
      expect((await approve(actionId)).status).toBe(409);
      expect((await rowsIn(test)).deliveries).toBe(0);
    });
  });

  it('starts a new thread when the thread of the answered mail is deleted meanwhile', async () => {
    const { actionId, threadId } = await proposed();
    for (let i = 0; i < 2; i++) await api.delete(`${desk.path}/threads/${threadId}`);
    const { body } = await approve(actionId);
    expect([body.state, body.failure]).toEqual(['executed', null]);
    expect(body.threadId).not.toBe(threadId);
    expect((await rowsIn(test)).deliveries).toBe(1);
  });

  it('locks a proposed draft against change, send and deletion until the decision', async () => {
    const body = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    const { body: draft } = await agent.post<Draft>(`${desk.path}/drafts`, body);
    const url = `${desk.path}/drafts/${draft.id}`;
    const send = (by: HttpApi) => by.post<ReplyResult & Problem>(`${url}/send`, undefined);
    const first = await send(agent);
    expect((await api.get<Draft>(url)).body.actionId).toBe(first.body.actionId);
    expect((await send(agent)).status).toBe(409);
    expect((await send(api)).status).toBe(409);
    expect((await api.delete(url)).status).toBe(409);
    expect((await api.request('PATCH', url, { body: { text: 'y' } })).status).toBe(409);
    await person.post(at(first.body.actionId, 'reject'), {});
    expect((await api.get<Draft>(url)).body.actionId).toBeNull();
    const second = await send(agent);
    expect((await approve(second.body.actionId)).body.state).toBe('executed');
    expect((await api.get(url)).status).toBe(404);
  });

  it("refuses approval and rejection by a service's key of any role", async () => {
    const { actionId } = await proposed();
    const owner = await apiOf(world, { role: 'owner' });
    const scoped = api.as(
      (
        await createKey(test.app, test.operator, {
          role: 'owner',
          constraints: { mailboxIds: [desk.id] },
        })
      ).key ?? '',
    );
    for (const by of [agent, owner, scoped]) {
      for (const { method, path } of routes.filter((route) => route.path.includes('/actions/'))) {
        if (method !== 'POST') continue;
        const url = path.replace('{id}', desk.id).replace('{actionId}', actionId ?? '');
        const answer = await by.post<Problem>(url, {});
        expect([path, answer.status, answer.body._tag]).toEqual([path, 403, 'ForbiddenError']);
      }
    }
    expect((await shown(actionId)).state).toBe('proposed');
    const posts = routes.filter(
      ({ method, path }) => method === 'POST' && path.includes('/actions/'),
    );
    expect(posts.map(({ path }) => path.split('/').at(-1)).sort()).toEqual(['approve', 'reject']);
  });

  it('skips a proposal at once when all its recipients are blocked', async () => {
    await createBlock(test.app, test.operator, { address: 'ada@example.com', reason: 'manual' });
    const id = await desk.arrive();
    const { body } = await desk.reply(id, { text: 'x' }, agent);
    expect(body.status).toBe('skipped');
    expect((await rowsIn(test)).mailbox_actions).toBe(0);
  });

  it('answers a repeated idempotency key with the same proposal', async () => {
    const id = await desk.arrive();
    const first = await desk.reply(id, { text: 'x' }, agent, 'reply', 'k');
    const again = await desk.reply(id, { text: 'x' }, agent, 'reply', 'k');
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await rowsIn(test)).mailbox_proposals).toBe(1);
  });
});
