// Answering a message (specification 2.5, 4.4): recipients, sender and thread; skipped recipients,
// replays and refusals.
import { beforeEach, describe, expect, it } from 'vitest';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { enableCatchAll } from '../../../src/identity/mailboxes/catch-all.ts';
import { addAddress, pauseMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Thread } from '../../../src/inbox/threads/schema.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { config, type Desk, deskOf, type Listed, rowsIn } from './world.ts';

describe.each(stores)('answering on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  beforeEach(async () => {
    desk = await deskOf(world);
  });

  const threads = async () => (await api.get<Listed<Thread>>(`${desk.path}/threads`)).body.items;

  it('goes to the sender, from the address that received the mail, in the same thread', async () => {
    const id = await desk.arrive({ from: 'Ada <ada@example.com>', subject: 'A question' });
    const [before] = await threads();
    const { status, body } = await desk.reply(id, { text: 'Thank you', html: '<p>Thank you</p>' });
    expect([status, body]).toEqual([
      201,
      {
        actionId: expect.stringMatching(/^act_/),
        messageId: expect.stringMatching(/^msg_/),
        threadId: before?.id,
        status: 'sent',
        waitReason: null,
        reviewExpectedAt: null,
        skippedRecipients: [],
        createdAt: new Date(test.clock.now()).toISOString(),
      },
    ]);
    const sent = await desk.email(body.messageId);
    expect(sent).toMatchObject({
      direction: 'outbound',
      status: 'pending',
      fromEmail: 'desk@sandbox.test',
      fromName: 'The desk',
      toEmails: ['ada@example.com'],
      ccEmails: null,
      bccEmails: null,
      subject: 'Re: A question',
      threadPosition: 1,
      text: 'Thank you',
      html: '<p>Thank you</p>',
    });
    const question = await desk.email(id);
    expect(sent.inReplyTo).toBe(question.messageIdHeader);
    expect(sent.references).toEqual([question.messageIdHeader]);
    expect(await threads()).toMatchObject([
      { id: before?.id, messageCount: 2, folder: 'inbox', from: { address: 'ada@example.com' } },
    ]);
    const { body: events } = await api.get<Listed<{ type: string; data: object }>>(
      `${desk.path}/events?type=mailbox.message.sent`,
    );
    expect(events.items).toMatchObject([
      { data: { mailboxId: desk.id, threadId: before?.id, message: { id: body.messageId } } },
    ]);
    const { body: actions } = await api.get<Listed<object>>(`${desk.path}/actions`);
    expect(actions.items).toMatchObject([
      {
        id: body.actionId,
        type: 'reply',
        state: 'executed',
        messageId: body.messageId,
        threadId: before?.id,
        summary: { to: ['ada@example.com'], subject: 'Re: A question', preview: 'Thank you' },
      },
    ]);
  });

  it('goes to Reply-To, cc and bcc, to each address once', async () => {
    const headers = ['Reply-To: Help <help@example.com>, two@example.com'];
    const id = await desk.arrive({ cc: 'other@example.com', headers });
    const { body } = await desk.reply(id, {
      text: 'x',
      cc: ['Copy@example.com', 'help@example.com'],
      bcc: ['blind@example.com'],
    });
    expect(await desk.email(body.messageId)).toMatchObject({
      toEmails: ['help@example.com', 'two@example.com'],
      ccEmails: ['Copy@example.com'],
      bccEmails: ['blind@example.com'],
    });
  });

  it('goes to all recipients but this mailbox, under any of its addresses, for reply-all', async () => {
    await addAddress(test.app, test.operator, desk.id, { address: 'help@sandbox.test' });
    const id = await desk.arrive({
      from: 'ada@example.com',
      to: 'Desk <desk+x@sandbox.test>, bo@example.com, HELP@sandbox.test, ada@example.com',
      cc: 'cy@example.com, bo@example.com',
    });
    const { body } = await desk.reply(id, { text: 'x', cc: ['di@example.com'] }, api, 'reply-all');
    expect(await desk.email(body.messageId)).toMatchObject({
      toEmails: ['ada@example.com'],
      ccEmails: ['bo@example.com', 'cy@example.com', 'di@example.com'],
    });
  });

  it('goes to the recipients of our own message, from its address', async () => {
    await addAddress(test.app, test.operator, desk.id, { address: 'help@sandbox.test' });
    const id = await desk.arrive({ rcpt: ['help+a@sandbox.test'], to: 'help+a@sandbox.test' });
    const first = await desk.reply(id, { text: 'one', cc: ['cy@example.com'] });
    expect((await desk.email(first.body.messageId)).fromEmail).toBe('help@sandbox.test');
    const second = await desk.reply(first.body.messageId ?? '', { text: 'two' });
    const sent = await desk.email(second.body.messageId);
    expect(sent).toMatchObject({
      fromEmail: 'help@sandbox.test',
      toEmails: ['ada@example.com'],
      ccEmails: null,
      subject: 'Re: A question',
    });
    expect(sent.references).toHaveLength(2);
    const all = await desk.reply(first.body.messageId ?? '', { text: 'x' }, api, 'reply-all');
    expect((await desk.email(all.body.messageId)).ccEmails).toEqual(['cy@example.com']);
  });

  it('is sent from the default address when a catch-all matched', async () => {
    const { app, operator } = test;
    const domain = await addDomain(app, operator, { domain: 'shop.example', dkim: 'ed25519' });
    await verifyDomain(app, operator, domain.id, { force: true });
    await enableCatchAll(app, operator, { domainId: domain.id, mailboxId: desk.id });
    const id = await desk.arrive({ rcpt: ['any@shop.example'], to: 'any@shop.example' });
    const { body } = await desk.reply(id);
    expect((await desk.email(body.messageId)).fromEmail).toBe(desk.address);
  });

  it('has one Re: in any language, and at most 50 References with the first among them', async () => {
    const references = Array.from({ length: 60 }, (_, i) => `r${i}@example.com`);
    const id = await desk.arrive({
      subject: 'AW: RE[2]: Frage',
      references,
      id: 'last@example.com',
    });
    const sent = await desk.email((await desk.reply(id)).body.messageId);
    expect(sent.subject).toBe('Re: Frage');
    expect(sent.references).toHaveLength(50);
    expect(sent.references?.[0]).toBe('<r0@example.com>');
    expect(sent.references?.slice(-2)).toEqual(['<r59@example.com>', '<last@example.com>']);
  });

  describe('skipped recipients', () => {
    it('are the blocked of each reason and the malformed, while the others get the mail', async () => {
      const { app, operator } = test;
      const reasons = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;
      for (const reason of reasons) {
        await createBlock(app, operator, { address: `${reason}@example.com`, reason });
      }
      const id = await desk.arrive();
      const { status, body } = await desk.reply(id, {
        text: 'x',
        cc: ['Bounce@example.com', 'complaint@example.com', 'not an address'],
        bcc: ['unsubscribe@example.com', 'manual@example.com', 'left@example.com', 'a@'],
      });
      expect([status, body.status]).toEqual([201, 'sent']);
      const skip = (address: string, reason: string) => ({
        address,
        reason,
        unsubscribeGroupId: null,
      });
      expect(body.skippedRecipients).toEqual([
        skip('Bounce@example.com', 'bounce'),
        skip('complaint@example.com', 'complaint'),
        skip('not an address', 'malformed'),
        skip('unsubscribe@example.com', 'unsubscribe'),
        skip('manual@example.com', 'manual'),
        skip('a@', 'malformed'),
      ]);
      const sent = await desk.email(body.messageId);
      expect(sent).toMatchObject({
        status: 'pending',
        toEmails: ['ada@example.com'],
        ccEmails: null,
        bccEmails: ['left@example.com'],
      });
      expect(sent.deliveries).toHaveLength(2);
    });

    it('leave nothing to send: 201 skipped, again for a repeat', async () => {
      await createBlock(test.app, test.operator, { address: 'ada@example.com', reason: 'manual' });
      const id = await desk.arrive();
      const before = await rowsIn(test);
      const first = await desk.reply(id, { text: 'x' }, api, 'reply', 'skip');
      expect([first.status, first.body]).toEqual([
        201,
        expect.objectContaining({ status: 'skipped', messageId: null, actionId: null }),
      ]);
      expect(await rowsIn(test)).toEqual(before);
      expect(await desk.reply(id, { text: 'x' }, api, 'reply', 'skip')).toMatchObject({
        status: 201,
        body: first.body,
      });
      expect((await api.get<Listed<object>>(`${desk.path}/actions`)).body.items).toEqual([]);
    });

    it('do not stop a copy when only the sender is blocked', async () => {
      await createBlock(test.app, test.operator, { address: 'ada@example.com', reason: 'manual' });
      const id = await desk.arrive();
      const { body } = await desk.reply(id, { text: 'x', cc: ['cy@example.com'] });
      expect(body.status).toBe('sent');
      const sent = await desk.email(body.messageId);
      expect([sent.toEmails, sent.ccEmails]).toEqual([[], ['cy@example.com']]);
    });
  });

  describe('the Idempotency-Key of an answer', () => {
    it('repeats the result without a send, and answers other content with 409', async () => {
      const id = await desk.arrive();
      const first = await desk.reply(id, { text: 'one' }, api, 'reply', 'k');
      const before = await rowsIn(test);
      const again = await desk.reply(id, { text: 'one' }, api, 'reply', 'k');
      expect([again.status, again.body]).toEqual([201, first.body]);
      for (const [body, how] of [
        [{ text: 'two' }, 'reply'],
        [{ text: 'one' }, 'reply-all'],
      ] as const) {
        const other = await desk.reply(id, body, api, how, 'k');
        expect([other.status, other.body._tag]).toEqual([409, 'ConflictError']);
      }
      expect(await rowsIn(test)).toEqual(before);
      const { body: list } = await api.get<Listed<object>>(`${desk.path}/actions`);
      expect(list.items).toHaveLength(1);
    });

    it('makes one mail of concurrent repeats', async () => {
      const id = await desk.arrive();
      const asked = Array.from({ length: 8 }, () =>
        desk.reply(id, { text: 'x' }, api, 'reply', 'k'),
      );
      const made = new Set((await Promise.all(asked)).map(({ body }) => body.messageId));
      expect(made.size).toBe(1);
      expect((await threads())[0]?.messageCount).toBe(2);
    });

    it('stays free after a refusal, and answers 409 once its message is deleted', async () => {
      const id = await desk.arrive();
      await pauseMailbox(test.app, test.operator, desk.id);
      expect((await desk.reply(id, { text: 'x' }, api, 'reply', 'k')).status).toBe(409);
      await api.post(`${desk.path}/resume`, undefined);
      const { status, body } = await desk.reply(id, { text: 'x' }, api, 'reply', 'k');
      expect(status).toBe(201);
      await api.post(`/v1/messages/${body.messageId}/cancel`, undefined);
      expect((await api.delete(`/v1/messages/${body.messageId}`)).status).toBe(200);
      const gone = await desk.reply(id, { text: 'x' }, api, 'reply', 'k');
      expect([gone.status, gone.body.message]).toEqual([409, expect.stringContaining('deleted')]);
    });
  });

  it('answers 404 for a message of another mailbox or none', async () => {
    const other = await deskOf(world, 'other');
    const there = await other.arrive();
    for (const missing of [there, test.app.newId('message')]) {
      const answer = await desk.reply(missing);
      expect([answer.status, answer.body]).toMatchObject([
        404,
        { resource: 'message', id: missing },
      ]);
    }
  });

  it('answers 409 in a paused mailbox', async () => {
    const id = await desk.arrive();
    await pauseMailbox(test.app, test.operator, desk.id);
    const paused = await desk.reply(id);
    expect([paused.status, paused.body]).toMatchObject([409, { resource: 'mailbox' }]);
    expect((await desk.send({ to: ['a@example.com'], subject: 'x', text: 'x' })).status).toBe(409);
  });

  const refused: readonly [string, object][] = [
    ['cc', { text: 'x', cc: Array.from({ length: 51 }, (_, i) => `a${i}@example.com`) }],
    [
      'cc',
      {
        text: 'x',
        cc: Array.from({ length: 26 }, (_, i) => `a${i}@example.com`),
        bcc: Array.from({ length: 25 }, (_, i) => `b${i}@example.com`),
      },
    ],
    ['cc.0', { text: 'x', cc: ['a@example.com\r\nBcc: b@example.com'] }],
    ['cc.0', { text: 'x', cc: ['a@example.com\n'] }],
    ['bcc.1', { text: 'x', bcc: ['a@example.com', 'b\r@example.com'] }],
    ['bcc.0', { text: 'x', bcc: ['a\0@example.com'] }],
    ['text', {}],
    ['text', { text: '', html: '', attachments: [] }],
    ['text', { text: null, html: null, attachments: null, cc: null, bcc: null }],
    ['subject', { text: 'x', subject: 'mine' }],
    ['to', { text: 'x', to: ['a@example.com'] }],
    ['attachments.0.content', { attachments: [{ filename: 'a.txt', content: '%%%' }] }],
  ];

  it('answers invalid content with 422 on its field, and sends nothing', async () => {
    const id = await desk.arrive();
    const before = await rowsIn(test);
    for (const [field, body] of refused) {
      const answer = await desk.reply(id, body);
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
    }
    expect(await rowsIn(test)).toEqual(before);
  });

  const many = Array.from({ length: 50 }, (_, i) => `a${i}@example.com`);

  it('rejects 50 recipients besides the sender with 422', async () => {
    const id = await desk.arrive();
    const { status, body } = await desk.reply(id, { text: 'x', cc: many });
    expect([status, Object.keys(body.fields)]).toEqual([422, ['cc']]);
  });

  it('accepts attachments without text, to 50 recipients', async () => {
    const id = await desk.arrive();
    const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }];
    const { body } = await desk.reply(id, { attachments, cc: many.slice(1) });
    const sent = await desk.email(body.messageId);
    expect(sent.attachments).toMatchObject([{ filename: 'a.txt', size: 5 }]);
    expect(sent.deliveries).toHaveLength(50);
    expect((await threads())[0]?.hasAttachments).toBe(true);
  });
});
