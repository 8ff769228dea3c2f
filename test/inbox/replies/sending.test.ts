// New and forwarded mail from a mailbox, drafts, and their bytes on the wire to a real server.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { updateMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { lockMailboxes } from '../../../src/identity/mailboxes/queries.ts';
import { forwardedContent } from '../../../src/inbox/replies/forwarded.ts';
import type { Draft } from '../../../src/inbox/replies/schema.ts';
import { holdDrafts } from '../../../src/inbox/threads/drafts/draft-queries.ts';
import type { Thread } from '../../../src/inbox/threads/schema.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { heldWrite, someoneWaits } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { config, type Desk, deskOf, type Listed, type Problem, rowsIn } from './world.ts';

it('a forwarded text is escaped in HTML', () => {
  const original = {
    ...{ from: 'Ada <ada@example.com>', date: '2026-01-05T12:00:00.000Z', subject: '<i>' },
    ...{ to: [], cc: [], text: '1 < 2 & <b>"3"</b>', html: null },
  };
  const { html } = forwardedContent({ text: null, html: '<p>See</p>' }, original);
  expect(html).toContain('Subject: &lt;i&gt;<');
  expect(html).toContain('>1 &lt; 2 &amp; &lt;b&gt;&quot;3&quot;&lt;/b&gt;<');
});

describe.each(stores)('mail from a mailbox on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  beforeEach(async () => {
    desk = await deskOf(world);
  });

  const threads = async (query = '') =>
    (await api.get<Listed<Thread>>(`${desk.path}/threads${query}`)).body.items;

  describe('a new message', () => {
    const body = { to: ['ada@example.com'], subject: 'News', text: 'Here' };

    it('starts a thread in sent, from the mailbox', async () => {
      const answer = await desk.send({ ...body, cc: ['cy@example.com'] });
      expect([answer.status, answer.body.status]).toEqual([201, 'sent']);
      expect(await desk.email(answer.body.messageId)).toMatchObject({
        fromEmail: desk.address,
        fromName: 'The desk',
        toEmails: ['ada@example.com'],
        ccEmails: ['cy@example.com'],
        subject: 'News',
        inReplyTo: null,
        threadPosition: 0,
      });
      expect(await threads()).toMatchObject([
        { id: answer.body.threadId, folder: 'sent', subject: 'News', preview: 'Here' },
      ]);
    });

    it('uses the default sender, and its answer joins the thread', async () => {
      const defaultFrom = { address: 'hello@example.com', displayName: 'Hello' };
      const { app, operator } = test;
      const domain = await addDomain(app, operator, { domain: 'example.com', dkim: 'ed25519' });
      await verifyDomain(app, operator, domain.id, { force: true });
      await updateMailbox(app, operator, desk.id, { defaultFrom });
      const { body: sent } = await desk.send(body);
      const { fromEmail, fromName, messageIdHeader } = await desk.email(sent.messageId);
      expect([fromEmail, fromName]).toEqual(['hello@example.com', 'Hello']);
      await desk.arrive({ subject: 'Re: News', inReplyTo: messageIdHeader.slice(1, -1) });
      expect(await threads()).toMatchObject([
        { id: sent.threadId, folder: 'inbox', messageCount: 2, read: false },
      ]);
    });

    it('is rejected with 422 without recipient or text, or with a broken header', async () => {
      for (const [field, wrong] of [
        ['to', { ...body, to: [] }],
        ['to', { ...body, to: Array.from({ length: 51 }, (_, i) => `a${i}@example.com`) }],
        ['subject', { ...body, subject: 'a\r\nBcc: b@example.com' }],
        ['subject', { to: body.to, text: 'x' }],
        ['text', { to: body.to, subject: 'x' }],
      ] as const) {
        const answer = await desk.send(wrong);
        expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
      }
    });

    it('binds its idempotency key to its path', async () => {
      const first = await desk.send(body, api, 'k');
      expect((await desk.send(body, api, 'k')).body).toEqual(first.body);
      const other = await deskOf(world, 'other');
      expect((await other.send(body, api, 'k')).status).toBe(409);
      expect((await threads())[0]?.messageCount).toBe(1);
    });
  });

  describe('a forwarded message', () => {
    const boundary = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'];
    const text = [
      '--b',
      'Content-Type: text/html',
      '',
      '<p>See <b>this</b></p>',
      '--b',
      'Content-Type: application/pdf; name="plan.pdf"',
      'Content-Disposition: attachment; filename="plan.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'cGxhbg==',
      '--b',
      'Content-Type: message/rfc822',
      'Content-Disposition: attachment; filename="old.eml"',
      '',
      'Subject: old',
      '',
      'old',
      '--b--',
    ].join('\r\n');

    it('has all words of long HTML, above and below', async () => {
      const words = (name: string) =>
        Array.from({ length: 20_000 }, (_, at) => `<p>${name}${at}</p>`).join('\r\n');
      const html = ['MIME-Version: 1.0', 'Content-Type: text/html'];
      const id = await desk.arrive({ subject: 'Plan', headers: html, text: words('old') });
      const forward = { to: ['boss@example.com'], html: words('new') };
      const answer = await desk.reply(id, forward, api, 'forward');
      const sent = await desk.email(answer.body.messageId);
      expect(sent.text?.match(/^(?:old|new)\d+$/gm)).toHaveLength(40_000);
    });

    it('is quoted, with its attachments, in the thread of the original', async () => {
      const id = await desk.arrive({ subject: 'Plan', headers: boundary, text });
      const attachments = [{ filename: 'mine.txt', content: 'bWluZQ==' }];
      const answer = await desk.reply(
        id,
        { to: ['boss@example.com'], text: 'For you <3', attachments },
        api,
        'forward',
      );
      expect([answer.status, answer.body.status]).toEqual([201, 'sent']);
      const sent = await desk.email(answer.body.messageId);
      expect(sent).toMatchObject({
        toEmails: ['boss@example.com'],
        subject: 'Fwd: Plan',
        inReplyTo: null,
        attachments: [
          { filename: 'mine.txt', size: 4 },
          { filename: 'plan.pdf', contentType: 'application/pdf', size: 4 },
          { filename: 'old.eml' },
        ],
      });
      expect(sent.text).toContain(
        'For you <3\n\n---------- Forwarded message ----------\nFrom: Ada <ada@example.com>\n',
      );
      expect(sent.text).toContain('\nSubject: Plan\nTo: desk@sandbox.test\n\nSee this');
      expect(sent.html).toContain('For you &lt;3');
      expect(sent.html).toContain('<p>See <b>this</b></p>');
      expect(await threads()).toMatchObject([{ id: answer.body.threadId, messageCount: 2 }]);
    });

    it('carries the attachments of our own message', async () => {
      const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }];
      const first = await desk.send({
        to: ['ada@example.com'],
        subject: 'Fwd: x',
        text: 'words',
        attachments,
      });
      const body = { to: ['boss@example.com'] };
      const { body: on } = await desk.reply(first.body.messageId ?? '', body, api, 'forward');
      const sent = await desk.email(on.messageId);
      expect(sent).toMatchObject({
        subject: 'Fwd: x',
        html: null,
        attachments: [{ filename: 'a.txt', size: 5 }],
      });
      expect(sent.text).toMatch(
        /^-{10} Forwarded message -{10}\nFrom: The desk <desk@sandbox.test>/,
      );
      expect(sent.text).toMatch(/\n\nwords$/);
    });
  });

  describe('drafts', () => {
    const url = (id = '') => `${desk.path}/drafts${id && `/${id}`}`;
    const make = async (body: object = { to: ['ada@example.com'], subject: 'Draft', text: 'x' }) =>
      (await api.post<Draft & Problem>(url(), body)).body;
    const change = (id: string, body: object) =>
      api.request<Draft & Problem>('PATCH', url(id), { body });
    const send = (id: string, headers = {}) =>
      api.request<{ status: string; messageId: string } & Problem>('POST', `${url(id)}/send`, {
        headers,
      });

    it('are created, shown, listed by cursor, changed and deleted', async () => {
      const made = await make({ to: ['ada@example.com'], subject: 'One' });
      expect(made).toMatchObject({
        id: expect.stringMatching(/^draft_/),
        mailboxId: desk.id,
        inReplyToMessageId: null,
        to: ['ada@example.com'],
        cc: [],
        bcc: [],
        subject: 'One',
        text: null,
        actionId: null,
      });
      expect((await api.get(url(made.id))).body).toEqual(made);
      const changed = await change(made.id, { text: 'now', to: null, cc: ['b@example.com'] });
      expect(changed.body).toMatchObject({
        text: 'now',
        to: [],
        cc: ['b@example.com'],
        subject: 'One',
      });
      const others = [await make(), await make()];
      const listed: Draft[] = [];
      for (let query = '?limit=2'; ; ) {
        const { body } = await api.get<Listed<Draft>>(`${url()}${query}`);
        listed.push(...body.items);
        if (body.nextCursor === null) break;
        query = `?limit=2&cursor=${body.nextCursor}`;
      }
      const ids = [...others.map(({ id }) => id).reverse(), made.id];
      expect(listed.map(({ id }) => id)).toEqual(ids);
      expect((await api.get(`${url()}?cursor=nonsense`)).status).toBe(422);
      expect((await api.delete(url(made.id))).status).toBe(200);
      expect((await api.get(url(made.id))).status).toBe(404);
      expect((await api.delete(url(made.id))).status).toBe(404);
    });

    it('are another version after a change within the millisecond of their creation', async () => {
      const { id, updatedAt } = await make();
      const read = { id, updatedAt: Date.parse(updatedAt) };
      const held = () => test.app.store.write((trx) => holdDrafts(trx, [read]));
      expect([...(await held()).keys()]).toEqual([id]);
      await change(id, { text: 'y' });
      expect([...(await held()).keys()]).toEqual([]);
    });

    it('start a thread in drafts, deleted with its last draft', async () => {
      const { id, threadId } = await make();
      expect(await threads('?folder=drafts')).toMatchObject([
        { id: threadId, hasDraft: true, messageCount: 0, subject: 'Draft' },
      ]);
      await api.delete(url(id));
      expect(await threads()).toEqual([]);
    });

    it.runIf(store === 'postgres')(
      'are not locked by a deletion that waits for a send',
      async () => {
        const { app } = test;
        const { id } = await make();
        const sending = await heldWrite(app, (trx) => lockMailboxes(trx, [desk.id]));
        const deleted = api.delete(url(id));
        await someoneWaits(app, 'mailboxes');
        await app.store.write((trx) => sql`select id from drafts for update nowait`.execute(trx));
        await sending.commit();
        expect((await deleted).status).toBe(200);
      },
    );

    it('are sent once, into the thread that they started', async () => {
      const { id, threadId } = await make();
      const sent = await send(id);
      expect([sent.status, sent.body.status]).toEqual([201, 'sent']);
      expect(await threads()).toMatchObject([
        { id: threadId, folder: 'sent', hasDraft: false, messageCount: 1, subject: 'Draft' },
      ]);
      expect((await api.get(url(id))).status).toBe(404);
      expect((await send(id)).status).toBe(404);
      const eight = await make();
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(eight.id)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect((await rowsIn(test)).drafts).toBe(0);
    });

    it('repeat the result of a send with the same idempotency key', async () => {
      const { id } = await make();
      const headers = { 'idempotency-key': 'k' };
      const first = await send(id, headers);
      expect(await send(id, headers)).toMatchObject({ status: 201, body: first.body });
    });

    it('take recipients, subject and thread from the answered message', async () => {
      const messageId = await desk.arrive({ subject: 'A question' });
      const draft = await make({ inReplyToMessageId: messageId, text: 'So' });
      const [thread] = await threads();
      expect(draft).toMatchObject({
        threadId: thread?.id,
        inReplyToMessageId: messageId,
        to: ['ada@example.com'],
        subject: 'Re: A question',
      });
      expect(thread).toMatchObject({ hasDraft: true, folder: 'inbox' });
      const { body } = await send(draft.id);
      const sent = await desk.email(body.messageId);
      expect(sent.inReplyTo).toBe((await desk.email(messageId)).messageIdHeader);
      expect(await threads()).toMatchObject([{ id: thread?.id, messageCount: 2, hasDraft: false }]);
    });

    it('answer 422 when incomplete, and 404 in another mailbox', async () => {
      const noRecipient = await make({ subject: 'x', text: 'x' });
      expect(Object.keys((await send(noRecipient.id)).body.fields)).toEqual(['to']);
      const noWord = await make({ to: ['a@example.com'], subject: 'x' });
      expect(Object.keys((await send(noWord.id)).body.fields)).toEqual(['text']);
      expect((await make({ to: ['a@b.example\r\n'] })).fields).toEqual({
        'to.0': [expect.stringContaining('line breaks')],
      });
      const other = await deskOf(world, 'other');
      const answer = await api.get(`${other.path}/drafts/${noWord.id}`);
      expect(answer.status).toBe(404);
    });

    it('stay when all their recipients are blocked', async () => {
      await createBlock(test.app, test.operator, { address: 'ada@example.com', reason: 'manual' });
      const { id } = await make();
      expect((await send(id)).body.status).toBe('skipped');
      expect((await api.get(url(id))).status).toBe(200);
    });
  });
});

describe('an answer on the wire', () => {
  let sink: SmtpSink;
  beforeAll(async () => {
    sink = await startSmtpSink();
  });
  afterAll(() => sink.close());
  const world = eachApi({
    config: {
      ...config,
      get delivery() {
        return { mode: 'relay' as const, relay: { host: sink.host, port: sink.port } };
      },
    },
  });

  it('carries Subject, From, In-Reply-To and References of an answer', async () => {
    const desk = await deskOf(world);
    const id = await desk.arrive({
      subject: 'Antw: Hallo',
      id: 'second@example.com',
      references: ['first@example.com'],
    });
    const { body } = await desk.reply(id, { text: 'Ja', bcc: ['blind@example.com'] });
    const pipeline: RunningPipeline = await startPipeline(world.test.app);
    try {
      await expect
        .poll(async () => {
          await world.test.clock.advance(100);
          return sink.messages.length;
        })
        .toBe(2);
    } finally {
      await pipeline.close();
    }
    const to = sink.messages.flatMap(({ recipients }) => recipients);
    expect(to.sort()).toEqual(['ada@example.com', 'blind@example.com']);
    for (const { raw } of sink.messages) {
      const [head = ''] = raw
        .toString('utf8')
        .replace(/\r\n[ \t]/g, ' ')
        .split('\r\n\r\n');
      expect(head).toMatch(/^Subject: Re: Hallo$/m);
      expect(head).toMatch(/^From: "?The desk"? <desk@sandbox\.test>$/m);
      expect(head).toMatch(/^In-Reply-To: <second@example\.com>$/m);
      expect(head).toMatch(/^References: <first@example\.com> <second@example\.com>$/m);
      expect(head).toContain(`Message-ID: <${body.messageId}@`);
      expect(head).not.toContain('blind@example.com');
    }
  });
});
