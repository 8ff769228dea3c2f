// A conversation by mail, end to end: its messages leave over SMTP, and the answer comes in over
// SMTP to the real listener, on both stores.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { listMessagesQuery } from '../../../src/outbound/messages/lists/list-schema.ts';
import { listMessages } from '../../../src/outbound/messages/messages.ts';
import {
  createConversation,
  getConversation,
} from '../../../src/people/conversations/conversations.ts';
import { addMailbox, type SmtpService, smtpService } from '../../listener/smtp-service.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';

describe.each(stores)('a conversation by mail on %s', (store) => {
  let service: SmtpService;
  let pipeline: RunningPipeline;
  let id: string;
  beforeEach(async () => {
    service = await smtpService({ store });
    const { app, operator, port } = service;
    pipeline = await startPipeline(app, { localPort: port });
    await addMailbox(app, operator, 'desk@sandbox.test');
    id = (await createConversation(app, operator, { title: 'A late invoice' })).id;
  });
  afterEach(async () => {
    await pipeline.close();
    await service.close();
  });

  const show = async () => {
    const { status, messageCount } = await getConversation(service.app, service.operator, id);
    return [status, messageCount];
  };
  const messages = async (query: object) =>
    (await listMessages(service.app, service.operator, listMessagesQuery.parse(query))).items;
  const from = { email: 'desk@sandbox.test' };
  const sendTo = (to: string, more = {}) =>
    send(service.app, service.operator, to, { from, ...more });

  /** Sends an answer over SMTP, and returns the reply to its final dot. */
  async function answer(...header: string[]): Promise<string> {
    return answerAt('desk@sandbox.test', ...header);
  }

  async function answerAt(to: string, ...header: string[]): Promise<string> {
    const session = await service.session();
    await session.say('MAIL FROM:<inbox@sandbox.test>');
    await session.say(`RCPT TO:<${to}>`);
    await session.say('DATA');
    const lines = ['From: inbox@sandbox.test', ...header, 'Subject: Re: Hello', '', 'Thanks.', '.'];
    return session.say(lines.join('\r\n'));
  }

  it('keeps its last activity when the clock is set back', async () => {
    const { app, operator, clock } = service;
    const times = async () => {
      const { startedAt, lastActivityAt } = await getConversation(app, operator, id);
      return [startedAt, lastActivityAt];
    };
    const first = await sendTo('inbox@sandbox.test', { conversationId: id });
    await clock.advance(60_000);
    const last = await sendTo('inbox@sandbox.test', { conversationId: id });
    expect(await times()).toEqual([first.createdAt, last.createdAt]);
    clock.set(clock.now() - 30_000);
    await sendTo('inbox@sandbox.test', { conversationId: id });
    expect(await show()).toEqual(['waiting', 3]);
    expect(await times()).toEqual([first.createdAt, last.createdAt]);
  });

  it('includes the answer to its message, with right counts and states', async () => {
    const question = await sendTo('inbox@sandbox.test', { conversationId: id });
    expect(await show()).toEqual(['waiting', 1]);
    await pipeline.idle();
    // The recipient is one of our own mailboxes: that copy is not an answer.
    const [copy] = await messages({ direction: 'inbound' });
    expect([copy?.subject, copy?.conversationId]).toEqual(['Hello', null]);
    expect(await show()).toEqual(['waiting', 1]);

    const itself = `<${question.id}@sandbox.test>`;
    expect(await answer(`In-Reply-To: ${itself}`)).toMatch(/^250 /);
    expect(await show()).toEqual(['active', 2]);
    const parts = await messages({ conversationId: id });
    expect(parts.map(({ direction }) => direction)).toEqual(['inbound', 'outbound']);

    // A program that answers names both messages.
    const reply = await sendTo('inbox@sandbox.test', {
      email: { inReplyToMessageId: parts[0]?.id },
    });
    expect([reply.conversationId, ...(await show())]).toEqual([id, 'waiting', 3]);
    await pipeline.idle();
    expect(await show()).toEqual(['waiting', 3]);
    expect(await answer(`References: ${itself} <other@example.com>`)).toMatch(/^250 /);
    expect(await show()).toEqual(['active', 4]);
  });

  it.each([
    ['no message', []],
    ['a stranger', ['In-Reply-To: <msg_06dq2k0qz8h3v5m1r9t4w7xy@sandbox.test>']],
    ['a malformed id', ['In-Reply-To: <hello@sandbox.test>', 'References: msg_1 <>']],
  ])('excludes an answer to %s', async (_case, header) => {
    await sendTo('inbox@sandbox.test', { conversationId: id });
    expect(await answer(...header)).toMatch(/^250 /);
    expect(await show()).toEqual(['waiting', 1]);
    const inbound = await messages({ direction: 'inbound' });
    const ours = inbound.find(({ subject }) => subject === 'Re: Hello');
    expect(ours?.conversationId).toBeNull();
  });

  it('excludes mail received by another organization', async () => {
    const { app, operator } = service;
    const { caller } = await otherOrganization(app);
    const domain = await addDomain(app, caller, { domain: 'other.example', dkim: 'ed25519' });
    await verifyDomain(app, caller, domain.id, { force: true });
    await addMailbox(app, caller, 'desk@other.example');
    const question = await sendTo('inbox@sandbox.test', { conversationId: id });
    const header = `In-Reply-To: <${question.id}@sandbox.test>`;
    expect(await answerAt('desk@other.example', header)).toMatch(/^250 /);
    expect(await show()).toEqual(['waiting', 1]);
    const query = listMessagesQuery.parse({ direction: 'inbound' });
    const { items } = await listMessages(app, caller, query);
    expect(items.map(({ conversationId }) => conversationId)).toEqual([null]);
    expect((await getConversation(app, operator, id)).contacts).toEqual([]);
  });

  it('excludes an answer to a message without a conversation', async () => {
    const plain = await sendTo('inbox@sandbox.test');
    expect(await answer(`In-Reply-To: <${plain.id}@sandbox.test>`)).toMatch(/^250 /);
    expect(await show()).toEqual(['active', 0]);
  });
});
