// From mail to thread: the thread that a mail joins, and its effect on the thread.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMailbox, updateMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createProjector } from '../../../src/inbox/receiving/projector.ts';
import { threadKeys } from '../../../src/inbox/threads/placing/keys.ts';
import { mergeThreads } from '../../../src/inbox/threads/placing/place.ts';
import { findThreadMessages } from '../../../src/inbox/threads/queries.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import {
  arrive,
  countsOf,
  inbox,
  mailboxOf,
  type ThreadApi,
  takeMail,
  threadAll,
  threadsOver,
} from './mails.ts';

const dayMs = 86_400_000;

describe.each(stores)('received mail in a mailbox, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
  });

  const change = (id: string | undefined, body: object) =>
    api.request('PATCH', `${threads.path}/${id}`, { body });

  /** The subjects of the messages of each thread, the oldest thread first. */
  async function trees(): Promise<(string | null)[][]> {
    const { items } = await threads.list('?limit=100');
    const lists = await Promise.all(
      items
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(async ({ id }) => (await threads.messages(id)).items.map(({ subject }) => subject)),
    );
    return lists;
  }

  it('begins a thread in inbox with its subject, people and preview', async () => {
    const id = await arrive(test.app, {
      subject: 'A question',
      text: 'Where is it?\r\n\r\nOn Mon, 5 Jan 2026, Bo <bo@example.com> wrote:\r\n> Here',
      headers: ['Importance: low', 'Content-Type: text/plain'],
    });
    const { items } = await threads.list();
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^thread_[0-9a-hjkmnp-tv-z]{16,24}$/),
        subject: 'A question',
        preview: 'Where is it?',
        from: { address: 'ada@example.com', displayName: 'Ada' },
        messageCount: 1,
        hasAttachments: false,
        hasDraft: false,
        folder: 'inbox',
        priority: 'low',
        labels: [],
        read: false,
        starred: false,
        snoozedUntil: null,
        lastActivityAt: '2026-01-05T12:00:00.000Z',
      },
    ]);
    const messages = await threads.messages(items[0]?.id ?? '');
    expect(messages).toMatchObject({
      items: [{ id, threadPosition: 0, kind: 'person', newContent: 'Where is it?' }],
      nextCursor: null,
    });
  });

  it('joins by References, by In-Reply-To, and by earlier mail that names it', async () => {
    await arrive(test.app, { subject: 'Plan', id: 'a@x' });
    await arrive(test.app, {
      subject: 'Re: Plan',
      id: 'b@x',
      references: ['a@x'],
      from: 'bo@x.example',
    });
    await arrive(test.app, { subject: 'Other words', inReplyTo: 'b@x', from: 'cy@x.example' });
    await arrive(test.app, { subject: 'Re: Late', references: ['late@x'], from: 'bo@x.example' });
    await arrive(test.app, { subject: 'Late', id: 'late@x' });
    expect(await trees()).toEqual([
      ['Plan', 'Re: Plan', 'Other words'],
      ['Re: Late', 'Late'],
    ]);
  });

  it('joins by subject with the same people within seven days, never by the subject alone', async () => {
    await arrive(test.app, { subject: 'Invoice' });
    await arrive(test.app, { subject: 'AW: invoice' });
    await arrive(test.app, { subject: 'Invoice', from: 'eve@elsewhere.example' });
    await test.clock.advance(7 * dayMs);
    await arrive(test.app, { subject: 'RE[2]: Invoice' });
    await test.clock.advance(7 * dayMs + 1);
    await arrive(test.app, { subject: 'Invoice' });
    await arrive(test.app, { subject: '' });
    await arrive(test.app, { subject: '' });
    expect(await trees()).toEqual([
      ['Invoice', 'AW: invoice', 'RE[2]: Invoice'],
      ['Invoice'],
      ['Invoice'],
      [null],
      [null],
    ]);
  });

  it('joins by the named mail before the subject', async () => {
    await arrive(test.app, { subject: 'Report', id: 'first@x' });
    await test.clock.advance(8 * dayMs);
    await arrive(test.app, { subject: 'Report', id: 'second@x', text: 'second' });
    await arrive(test.app, { subject: 'Re: Report', references: ['first@x'] });
    expect(await trees()).toEqual([['Report', 'Re: Report'], ['Report']]);
  });

  it('recognizes a Message-ID of ours with any domain', async () => {
    const own = 'msg_06dq2k0qz8h3v5m1r9t4w7xy';
    await arrive(test.app, { subject: 'One', id: `${own}@example.com` });
    await arrive(test.app, { subject: 'Two', inReplyTo: `${own}@mail.gateway.example` });
    expect(await trees()).toEqual([['One', 'Two']]);
  });

  it('merges two named threads with all their properties', async () => {
    await arrive(test.app, { subject: 'Left', id: 'left@x' });
    await arrive(test.app, { subject: 'Right', id: 'right@x' });
    const [right, left] = (await threads.list()).items;
    await api.post(`${threads.path}/${right?.id}/labels`, { labels: ['urgent'] });
    await change(right?.id, { starred: true, read: true });
    await api.post(`${threads.path}/${right?.id}/notes`, { body: 'of the right' });
    await arrive(test.app, { subject: 'Both', references: ['left@x', 'right@x'] });
    const { items } = await threads.list();
    expect(items).toMatchObject([
      { id: left?.id, messageCount: 3, labels: ['urgent'], starred: true, read: false },
    ]);
    const notes = await api.get(`${threads.path}/${left?.id}/notes`);
    expect(notes.body).toMatchObject({ items: [{ body: 'of the right' }] });
    expect((await api.get(`${threads.path}/${right?.id}`)).status).toBe(404);
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  });

  it('merges to the more urgent state: unread, starred, inbox, the earlier snooze', async () => {
    const both = [
      { read: true, folder: 'archive', snoozedUntil: '2026-02-02T00:00:00.000Z' },
      { read: false, starred: true, snoozedUntil: '2026-02-01T00:00:00.000Z' },
    ];
    for (const order of [both, both.toReversed()]) {
      const ids: string[] = [];
      for (const standing of order) {
        const [placed] = await findThreadMessages(test.app.store.db, [
          await arrive(test.app, { subject: `Of ${order.indexOf(standing)}` }),
        ]);
        ids.push(placed?.thread_id ?? '');
        // Otherwise its folder follows its snooze.
        const { snoozedUntil, ...more } = standing;
        await change(ids.at(-1), { snoozedUntil });
        await change(ids.at(-1), more);
      }
      const [stays = '', goes = ''] = ids;
      expect(stays).not.toBe(goes);
      await test.app.store.write((trx) => mergeThreads(trx, stays, goes, test.clock.now()));
      expect((await api.get(`${threads.path}/${stays}`)).body).toMatchObject({
        read: false,
        starred: true,
        folder: 'inbox',
        snoozedUntil: '2026-02-01T00:00:00.000Z',
      });
      await test.clock.advance(8 * dayMs);
    }
  });

  it('makes a thread in each mailbox', async () => {
    await createMailbox(test.app, test.caller, { slug: 'desk', address: 'desk@sandbox.test' });
    const rcpt = [inbox, 'desk@sandbox.test'];
    await takeMail(test.app, { rcpt, id: 'both@x' });
    await takeMail(test.app, { rcpt, inReplyTo: 'both@x', subject: 'Again' });
    await threadAll(test.app);
    const desk = await threadsOver(test.app, api, 'desk@sandbox.test');
    const [one, other] = [await threads.list(), await desk.list()];
    expect([one, other]).toMatchObject([
      { items: [{ messageCount: 2 }] },
      { items: [{ messageCount: 2 }] },
    ]);
    expect(one.items[0]?.id).not.toBe(other.items[0]?.id);
    const foreign = await api.get(`${desk.path}/${one.items[0]?.id}`);
    expect([foreign.status, foreign.body]).toMatchObject([404, { resource: 'thread' }]);
  });

  it('returns a thread from archive unread and ends its snooze, but not from spam or trash', async () => {
    for (const folder of ['archive', 'sent', 'drafts', 'spam', 'trash'] as const) {
      await arrive(test.app, { subject: folder, id: `${folder}@x` });
    }
    const { items } = await threads.list();
    for (const { id, subject } of items) {
      const until = new Date(test.clock.now() + dayMs).toISOString();
      await change(id, { snoozedUntil: until, read: true });
      await change(id, { folder: subject });
    }
    for (const { subject } of items) {
      await arrive(test.app, { inReplyTo: `${subject}@x`, subject: `Re: ${subject}` });
    }
    const after = await Promise.all(
      items.map(async ({ id }) => (await api.get<object>(`${threads.path}/${id}`)).body),
    );
    const inFolder = (subject: string, folder: string) => ({
      ...{ subject, folder, read: false, snoozedUntil: null, messageCount: 2 },
    });
    expect(after).toMatchObject([
      inFolder('trash', 'trash'),
      inFolder('spam', 'spam'),
      inFolder('drafts', 'inbox'),
      inFolder('sent', 'inbox'),
      inFolder('archive', 'inbox'),
    ]);
  });

  it('goes to spam by the filters of the mailbox', async () => {
    const { app, caller } = test;
    const mailboxId = await mailboxOf(app);
    const setFilters = (allow: string[], block: string[]) =>
      updateMailbox(app, caller, mailboxId, { filters: { allow, block } });
    await setFilters([], ['spam.example', 'eve@example.com']);
    await arrive(app, { from: 'x@sub.spam.example', subject: 'a blocked domain' });
    await arrive(app, { from: 'EVE@example.com', subject: 'a blocked address' });
    await arrive(app, { from: 'x@notspam.example', subject: 'another' });
    await setFilters(['friend.example'], []);
    await arrive(app, { from: 'x@notspam.example', subject: 'not allowed' });
    await arrive(app, { from: 'a@friend.example', subject: 'allowed' });
    const subjects = async (query: string) =>
      (await threads.list(query)).items.map(({ subject }) => subject);
    expect(await subjects('?folder=spam')).toEqual([
      'not allowed',
      'a blocked address',
      'a blocked domain',
    ]);
    expect(await subjects('')).toEqual(['allowed', 'another']);
  });

  it('in spam neither joins other threads nor draws mail into spam', async () => {
    const { app, caller } = test;
    const filters = { allow: [], block: ['spam.example'] };
    await updateMailbox(app, caller, await mailboxOf(app), { filters });
    await arrive(app, { subject: 'Plan', id: 'plan@x' });
    const from = 'x@spam.example';
    await arrive(app, { from, subject: 'Spam', references: ['plan@x', 'next@x'], id: 'spam@x' });
    await arrive(app, { subject: 'Next', id: 'next@x' });
    expect(await trees()).toEqual([['Plan'], ['Next']]);
    expect((await threads.list('?folder=spam')).items).toMatchObject([{ subject: 'Spam' }]);
  });

  it('is published once, with its mailbox', async () => {
    const id = await arrive(test.app, { subject: 'A question' });
    const [thread] = (await threads.list()).items;
    await threadAll(test.app);
    const mailboxId = await mailboxOf(test.app);
    const events = `/v1/events?type=mailbox.message.received`;
    const { body } = await api.get<{ items: { data: unknown }[] }>(events);
    expect(body.items).toMatchObject([
      { data: { mailboxId, threadId: thread?.id, message: { id, subject: 'A question' } } },
    ]);
    const own = await api.get<{ items: { type: string }[] }>(`/v1/mailboxes/${mailboxId}/events`);
    expect(own.body.items.map(({ type }) => type)).toContain('mailbox.message.received');
  });

  it('is threaded once with any parser and any number of claims', async () => {
    const [id = ''] = await takeMail(test.app);
    await api.get(`/v1/messages/${id}/email`);
    expect((await threads.list()).items).toEqual([]);
    const another = store === 'postgres' ? await test.another() : test.app;
    const [one, other] = [createProjector(test.app), createProjector(another)];
    await Promise.all([one.projectDue(), other.projectDue()]);
    const again = sql`update email_projections set due_at = 0`;
    await test.app.store.write((trx) => again.execute(trx));
    await threadAll(test.app);
    expect((await threads.list()).items).toMatchObject([{ messageCount: 1 }]);
  });

  it('has its position in the email view, which is null before threading', async () => {
    const [first = ''] = await takeMail(test.app, { id: 'a@x' });
    const email = async (id: string) =>
      (await api.get<{ threadPosition: number | null }>(`/v1/messages/${id}/email`)).body
        .threadPosition;
    expect(await email(first)).toBeNull();
    await threadAll(test.app);
    const second = await arrive(test.app, { inReplyTo: 'a@x' });
    expect([await email(first), await email(second)]).toEqual([0, 1]);
  });

  it('leaves its thread when deleted, and the last one removes the thread', async () => {
    const first = await arrive(test.app, { id: 'a@x', text: 'one', from: 'Ada <ada@example.com>' });
    await test.clock.advance(1_000);
    const second = await arrive(test.app, {
      inReplyTo: 'a@x',
      text: 'two',
      from: 'Bo <bo@example.com>',
    });
    expect((await threads.list()).items).toMatchObject([{ messageCount: 2, preview: 'two' }]);
    await deleteMessage(test.app, test.caller, second);
    const { items } = await threads.list();
    expect(items).toMatchObject([
      { messageCount: 1, preview: 'one', from: { address: 'ada@example.com' } },
    ]);
    expect(items[0]?.lastActivityAt).toBe(new Date(test.clock.now()).toISOString());
    await deleteMessage(test.app, test.caller, first);
    expect((await threads.list()).items).toEqual([]);
    const { rows } = await sql`select * from thread_references`.execute(test.app.store.db);
    expect(rows).toEqual([]);
  });
});

it('a recipient of a blind copy is not part of the topic', () => {
  const mail = {
    subject: 'Hello',
    from_email: 'ada@example.com',
    message_id_header: '<1@example.com>',
    in_reply_to: null,
    message_references: null,
  };
  const shown = [{ kind: 'to' as const, email: 'bob@example.com' }];
  const topicTo = (more: { kind: 'to' | 'cc' | 'bcc'; email: string }[]) =>
    threadKeys(mail, [...shown, ...more], new Map()).topic;
  expect(topicTo([{ kind: 'bcc', email: 'eve@example.com' }])).toBe(topicTo([]));
  expect(topicTo([{ kind: 'cc', email: 'eve@example.com' }])).not.toBe(topicTo([]));
});
