// Delayed sends from a mailbox: within their delay an undo makes a draft of them, and the thread
// no longer has the mail. A delivery and an undo never both happen.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey, revokeKey, updateKey } from '../../../src/access/keys/keys.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import { updateMember } from '../../../src/access/members/members.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import { reply } from '../../../src/inbox/replies/answers.ts';
import type { Draft, ReplyResult, ShownDraft } from '../../../src/inbox/replies/schema.ts';
import { sweepDelayed } from '../../../src/inbox/replies/undo/delayed.ts';
import { cancelOrUndo } from '../../../src/inbox/replies/undo/undo.ts';
import type { Thread, ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import { removeContent } from '../../../src/outbound/messages/contents/content-removal.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { linkKeeper } from '../../../src/outbound/tracking/kept-links.ts';
import { join, memberOf } from '../../access/members/people.ts';
import { stores } from '../../support/command.ts';
import { startPipeline, timeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import {
  apiOf,
  config,
  type Desk,
  deskOf,
  type Listed,
  type Problem,
  type Result,
  rowsIn,
} from './world.ts';

describe.each(stores)('a delayed send, on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let person: HttpApi;
  beforeEach(async () => {
    desk = await deskOf(world);
    person = await apiOf(world, { owner: 'person', name: 'Ada' });
  });

  const message = async (id: string | null) => (await api.get<Message>(`/v1/messages/${id}`)).body;
  const undo = (id: string | null, by = person) =>
    by.post<Message & Problem>(`/v1/messages/${id}/cancel`, undefined);
  const drafts = async () => (await api.get<Listed<Draft>>(`${desk.path}/drafts`)).body.items;
  const mails = async (threadId: string | null) => {
    const path = `${desk.path}/threads/${threadId}/messages`;
    return (await api.get<Listed<ThreadMessage>>(path)).body.items;
  };
  const threadOf = async (id: string | null) =>
    (await api.get<Thread>(`${desk.path}/threads/${id}`)).body;

  /** Lets seconds pass in a daemon that starts now; returns the status of the message. */
  async function later(seconds: number, id: string | null) {
    const pipeline = await startPipeline(test.app);
    try {
      await test.clock.advance(seconds * 1_000);
      await pipeline.idle();
    } finally {
      await pipeline.close();
    }
    return (await message(id)).status;
  }

  const written = { to: ['bob@example.com'], cc: ['cy@example.com'], subject: 'Refund' };
  const sentId = ({ status, body: result }: Result) => {
    expect([status, result.message ?? result.status]).toEqual([201, 'sent']);
    return result.messageId;
  };

  const files = [
    { filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' },
    { filename: 'b.bin', content: 'YmI=' },
  ];
  const body = { html: '<p>Thank <b>you</b></p>', attachments: files, delaySeconds: 10 };

  async function proposal() {
    const constraints = { mailboxIds: [desk.id] };
    const agent = await apiOf(world, { name: 'agent', constraints, sendMode: 'approval' });
    const { body: result } = await desk.reply(await desk.arrive(), body, agent);
    return { agent, actionId: result.actionId };
  }
  const approve = (actionId: string | null, more: object = {}) =>
    person.post<MailboxAction>(`${desk.path}/actions/${actionId}/approve`, {
      delaySeconds: 10,
      ...more,
    });
  const draft = async (by = api) =>
    (
      await by.post<ShownDraft>(`${desk.path}/drafts`, {
        ...written,
        text: 'x',
        attachments: files,
      })
    ).body;
  const sendDraft = (id: string) =>
    person.post<ReplyResult>(`${desk.path}/drafts/${id}/send`, { delaySeconds: 10 });

  /** Each way to send with a delay; returns the id of the message. */
  const ways: [string, () => Promise<string | null>][] = [
    ['a new mail', async () => sentId(await desk.send({ ...written, ...body }, person))],
    ['a reply', async () => sentId(await desk.reply(await desk.arrive(), body, person))],
    [
      'a reply to all',
      async () => (await desk.reply(await desk.arrive(), body, person, 'reply-all')).body.messageId,
    ],
    [
      'a forward',
      async () => {
        const given = { ...body, to: written.to };
        return (await desk.reply(await desk.arrive(), given, person, 'forward')).body.messageId;
      },
    ],
    ['a draft', async () => (await sendDraft((await draft()).id)).body.messageId],
    ['an approval', async () => (await approve((await proposal()).actionId)).body.messageId],
  ];

  it.each(ways)(
    'of %s is stored at once, waits, and leaves after its delay',
    async (_way, sent) => {
      const id = await sent();
      const found = await message(id);
      expect(found.status).toBe('scheduled');
      expect(Date.parse(found.scheduledFor ?? '')).toBe(test.clock.now() + 10_000);
      expect(await later(9, id)).toBe('scheduled');
      expect(await later(1, id)).toBe('delivered');
      expect(await drafts()).toEqual([]);
      expect(await timeline(test.app, test.operator, id ?? '')).toContain('queued:queued');
      const late = await undo(id);
      expect([late.status, late.body.message]).toEqual([409, expect.stringContaining('was sent')]);
    },
  );

  it.each(ways)('of %s becomes a draft when it is undone', async (way, sent) => {
    const id = await sent();
    const { status, body: cancelled } = await undo(id);
    expect([status, cancelled.status]).toEqual([200, 'failed']);
    const [left] = await drafts();
    expect(left).toMatchObject({
      attachments: files.map(({ filename, contentType = null }) => ({
        filename,
        ...(way !== 'an approval' && { contentType }),
      })),
      actionId: null,
    });
    if (way !== 'a draft') {
      expect(left?.author).toMatchObject({ kind: 'user', displayName: 'Ada' });
      expect(left?.html).toContain('<p>Thank <b>you</b></p>');
    }
    if (left) expect((await mails(left.threadId)).map((one) => one.id)).not.toContain(id);
    expect(await later(60, id)).toBe('failed');
    expect((await undo(id)).status).toBe(200);
    expect(await drafts()).toHaveLength(1);
    const again = await sendDraft(left?.id ?? '');
    expect(await later(10, again.body.messageId)).toBe('delivered');
  });

  const drafted = async () => (await drafts())[0];

  it('of a draft gives back that draft, unchanged', async () => {
    const before = await draft();
    const { body: sent } = await sendDraft(before.id);
    expect((await api.get(`${desk.path}/drafts/${before.id}`)).status).toBe(404);
    expect(await threadOf(before.threadId)).toMatchObject({ folder: 'sent', messageCount: 1 });
    await undo(sent.messageId);
    const { body: now } = await api.get<ShownDraft>(`${desk.path}/drafts/${before.id}`);
    expect(now).toEqual(before);
    const thread = await threadOf(before.threadId);
    expect(thread).toMatchObject({ folder: 'drafts', messageCount: 0, hasDraft: true });
  });

  it('is shown by its thread as waiting, and then as a draft of the thread', async () => {
    const answered = await desk.arrive();
    const { body: sent } = await desk.reply(answered, body, person);
    const states = async () => (await mails(sent.threadId)).map(({ id, status }) => [id, status]);
    expect((await states())[1]).toEqual([sent.messageId, 'scheduled']);
    await undo(sent.messageId);
    expect(await states()).toHaveLength(1);
    expect(await threadOf(sent.threadId)).toMatchObject({ messageCount: 1, hasDraft: true });
    expect(await drafted()).toMatchObject({
      threadId: sent.threadId,
      inReplyToMessageId: answered,
      to: ['ada@example.com'],
      subject: 'Re: A question',
      text: null,
    });
  });

  it('of an approval ends the action as failed with the note undone', async () => {
    const { actionId } = await proposal();
    const approved = await approve(actionId, { edits: { text: 'Better' }, note: 'good' });
    expect(approved.body).toMatchObject({ state: 'executed', note: 'good' });
    await undo(approved.body.messageId);
    const { body: action } = await api.get<MailboxAction>(`${desk.path}/actions/${actionId}`);
    expect(action).toMatchObject({ state: 'failed', note: 'undone', messageId: null });
    expect(action.failure?.message).toContain('undone');
    expect(await drafted()).toMatchObject({ text: 'Better', html: null });
  });

  it('of a proposed draft gives back that draft', async () => {
    const { agent } = await proposal();
    const own = await draft(agent);
    const { body: proposed } = await agent.post<ReplyResult>(
      `${desk.path}/drafts/${own.id}/send`,
      undefined,
    );
    const { body: approved } = await approve(proposed.actionId);
    await undo(approved.messageId);
    const { author, text, actionId } = (await drafted()) ?? {};
    expect([author?.displayName, text, actionId]).toEqual(['agent', 'x', null]);
  });

  it.each([-1, 61, 1.5, '5', null])(
    'refuses a delay of %s, and stores nothing',
    async (seconds) => {
      const before = await rowsIn(test);
      const { id } = await draft();
      const given = { ...written, text: 'x', delaySeconds: seconds };
      const { to, ...answer } = given;
      const { cc: _, subject: __, ...plain } = answer;
      const arrived = await desk.arrive();
      const answers = [
        await desk.send(given, person),
        await desk.reply(arrived, plain, person),
        await desk.reply(arrived, plain, person, 'reply-all'),
        await desk.reply(arrived, { ...plain, to }, person, 'forward'),
        await person.post<Problem>(`${desk.path}/drafts/${id}/send`, { delaySeconds: seconds }),
        await person.post<Problem>(`${desk.path}/actions/act_${'0'.repeat(24)}/approve`, {
          delaySeconds: seconds,
        }),
      ];
      for (const { status, body: refused } of answers) {
        expect([status, Object.keys(refused.fields)]).toEqual([422, ['delaySeconds']]);
      }
      expect((await rowsIn(test)).deliveries).toBe(before['deliveries']);
    },
  );

  it('without a delay leaves at once, and its cancellation makes no draft', async () => {
    const { body: sent } = await desk.send({ ...written, text: 'x', delaySeconds: 0 }, person);
    expect((await message(sent.messageId)).status).toBe('pending');
    expect((await undo(sent.messageId)).body.status).toBe('failed');
    expect(await drafts()).toEqual([]);
  });

  describe('may be undone', () => {
    const sends = () => ({ role: undefined, permissions: { mailboxes: ['send'] } });
    const bound = (id: string) => ({ constraints: { mailboxIds: [id] } });
    const cases: [string, number, () => Promise<CreateKey> | CreateKey][] = [
      ['by a key with mailboxes:send alone', 200, sends],
      ['by a key bound to its mailbox', 200, () => bound(desk.id)],
      [
        'by a key that proposes in its mailbox',
        200,
        () => ({ ...bound(desk.id), sendMode: 'approval' }),
      ],
      [
        'by a key with messages:send',
        200,
        () => ({ role: undefined, permissions: { messages: ['send'] } }),
      ],
      ['by no key bound to another mailbox', 403, async () => bound((await deskOf(world, 'b')).id)],
      [
        'by no key that only reads',
        403,
        () => ({ role: undefined, permissions: { mailboxes: ['read'] } }),
      ],
    ];
    it.each(cases)('%s: %i', async (_who, status, wanted) => {
      const { body: sent } = await desk.send({ ...written, ...body }, person);
      const by = await apiOf(world, await wanted());
      expect((await undo(sent.messageId, by)).status).toBe(status);
      expect(await drafts()).toHaveLength(status === 200 ? 1 : 0);
    });

    it('by a bound key only in a mailbox: other mail stays', async () => {
      const by = await apiOf(world, bound(desk.id));
      const { body: sent } = await api.post<Message>('/v1/messages', {
        ...{ channel: 'email', to: [{ email: 'ada@example.com' }] },
        email: { subject: 'x', text: 'x' },
      });
      expect((await undo(sent.id, by)).status).toBe(403);
    });
  });

  describe('leaves with the rights of then', () => {
    const wanted = { constraints: () => ({ mailboxIds: [desk.id] }) };
    const changes: [string, (id: string) => Promise<unknown>, string][] = [
      ['of a bound key', async () => {}, 'delivered'],
      ['of a revoked key', (id) => revokeKey(test.app, test.operator, id), 'failed'],
      [
        'of a key bound to another mailbox since',
        async (id) => {
          const constraints = { mailboxIds: [(await deskOf(world, 'b')).id] };
          await updateKey(test.app, test.operator, id, { constraints });
        },
        'failed',
      ],
    ];
    it.each(changes)('%s', async (_who, change, status) => {
      const { app, operator } = test;
      const constraints = wanted.constraints();
      const key = await createKey(app, operator, { role: 'developer', constraints });
      const { body: sent } = await desk.send({ ...written, ...body }, api.as(key.key ?? ''));
      await change(key.id);
      expect(await later(10, sent.messageId)).toBe(status);
      expect(await drafts()).toEqual([]);
    });

    it('of a member, unless disabled meanwhile', async () => {
      const { app, operator } = test;
      const member = await join(app, operator, 'ada@team.example', 'support');
      const answered = await desk.arrive();
      const send = (by: Caller) => {
        const at = { mailboxId: desk.id, messageId: answered };
        return reply(app, by, at, body, { all: false, key: null });
      };
      const first = await send(member);
      expect(await later(10, first.messageId)).toBe('delivered');
      const second = await send(member);
      await updateMember(app, operator, memberOf(member), { status: 'disabled' });
      expect(await later(10, second.messageId)).toBe('failed');
    });

    it('of a proposing key, approved by a person', async () => {
      const { body: approved } = await approve((await proposal()).actionId);
      expect(await later(10, approved.messageId)).toBe('delivered');
    });
  });

  it('counts once against the quota, when it is accepted', async () => {
    await test.app.store.write((trx) => sql`update organizations set plan = 'free'`.execute(trx));
    const used = async () =>
      (await api.get<{ emails: { used: number } }>('/v1/organizations/usage')).body;
    const before = await used();
    const { body: sent } = await desk.send({ ...written, ...body }, person);
    const accepted = await used();
    expect(accepted).not.toEqual(before);
    expect(await later(10, sent.messageId)).toBe('delivered');
    expect(await used()).toEqual(accepted);
  });

  it('is undone or delivered, never both, when both come at once', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const { body: sent } = await desk.send({ ...written, ...body, delaySeconds: 1 }, person);
      const pipeline = await startPipeline(test.app);
      const going = test.clock.advance(1_000).then(() => pipeline.idle());
      for (let turn = 0; turn < round * 4; turn++) await Promise.resolve();
      const undone = await cancelOrUndo(test.app, test.operator, sent.messageId ?? '').then(
        () => true,
        () => false,
      );
      await going;
      await pipeline.close();
      const { status } = await message(sent.messageId);
      const left = await drafts();
      expect([status, left.length]).toEqual(undone ? ['failed', 1] : ['delivered', 0]);
      for (const { id } of left) await api.delete(`${desk.path}/drafts/${id}`);
      outcomes.add(status);
    }
    expect(outcomes).toContain('failed');
  });

  it('needs room for its draft', async () => {
    await draft();
    await test.app.store.write((trx) =>
      sql`update drafts set byte_count = ${1024 ** 3 - 100}`.execute(trx),
    );
    const refused = await desk.send({ ...written, ...body, text: 'x'.repeat(200) }, person);
    expect([refused.status, refused.body._tag]).toEqual([409, 'ConflictError']);
    const now = await desk.send({ ...written, text: 'x'.repeat(200) }, person);
    expect(now.status).toBe(201);
  });

  it('keeps no words once they are removed from the message, or the hour is over', async () => {
    const kept = async () =>
      (await sql<{ draft: string }>`select draft from delayed_drafts`.execute(test.app.store.db))
        .rows;
    const { body: first } = await desk.send({ ...written, ...body }, person);
    expect(await kept()).toHaveLength(1);
    await later(10, first.messageId);
    await removeAll(first.messageId ?? '');
    expect(await kept()).toEqual([]);
    await desk.send({ ...written, ...body }, person);
    await test.clock.advance(2 * 3_600_000);
    await sweepDelayed(test.app);
    expect(await kept()).toEqual([]);
  });

  const removeAll = (id: string) =>
    test.app.store.write((trx) =>
      removeContent(test.app, trx, id, { keeper: linkKeeper, urls: [] }),
    );
});
