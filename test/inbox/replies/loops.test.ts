// Loops between programs stop: a service does not answer an automatic mail, and after five sends
// into a thread within an hour its next send is a proposal, until a person writes.
import { beforeEach, describe, expect, it } from 'vitest';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { apiOf, config, type Desk, deskOf, rowsIn } from './world.ts';

const hour = 3_600_000;

describe.each(stores)('programs on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let agent: HttpApi;
  let person: HttpApi;
  beforeEach(async () => {
    desk = await deskOf(world);
    agent = await apiOf(world, { name: 'agent' });
    person = await apiOf(world, { owner: 'person' });
  });

  it.each([
    ['an out-of-office note', ['Auto-Submitted: auto-replied', 'Content-Type: text/plain']],
    [
      'a notice of a bounce',
      ['Return-Path: <>', 'Auto-Submitted: auto-generated', 'Content-Type: text/plain'],
    ],
  ])('do not answer %s, unlike a person', async (_case, headers) => {
    const id = await desk.arrive({ headers, subject: 'Out of office' });
    for (const verb of ['reply', 'reply-all']) {
      const answer = await desk.reply(id, { text: 'x' }, agent, verb);
      expect([answer.status, answer.body._tag]).toEqual([409, 'ConflictError']);
      expect(answer.body.message).toContain('automatic answer');
    }
    const draft = await agent.post<{ id: string }>(`${desk.path}/drafts`, {
      inReplyToMessageId: id,
      text: 'x',
    });
    const sent = await agent.post(`${desk.path}/drafts/${draft.body.id}/send`, undefined);
    expect(sent.status).toBe(409);
    expect((await desk.reply(id, { text: 'x' }, person)).body.status).toBe('sent');
    const body = { to: ['boss@example.com'] };
    expect((await desk.reply(id, body, agent, 'forward')).body.status).toBe('sent');
  });

  it('send five times into a thread within an hour, then propose', async () => {
    const id = await desk.arrive();
    for (let i = 0; i < 5; i++) {
      expect((await desk.reply(id, { text: `${i}` }, agent)).body.status).toBe('sent');
      await test.clock.advance(60_000);
    }
    const sixth = await desk.reply(id, { text: '6' }, agent);
    expect([sixth.status, sixth.body.status]).toEqual([201, 'proposed']);
    const other = await apiOf(world, { name: 'other' });
    expect((await desk.reply(id, { text: '7' }, other)).body.status).toBe('proposed');
    const approved = await person.post<MailboxAction>(
      `${desk.path}/actions/${sixth.body.actionId}/approve`,
      {},
    );
    expect(approved.body.state).toBe('executed');
    // The approval shows that a person has seen the thread.
    expect((await desk.reply(id, { text: '8' }, agent)).body.status).toBe('sent');
  });

  it('get one proposal for one idempotency key, though it is frozen on the second try', async () => {
    const id = await desk.arrive();
    for (let i = 0; i < 5; i++) await desk.reply(id, { text: `${i}` }, agent);
    const ask = () => desk.reply(id, { text: '6' }, agent, 'reply', 'sixth');
    const answers = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
    expect(answers.map(({ body }) => body.status)).toEqual(Array(4).fill('proposed'));
    expect(new Set(answers.map(({ body }) => body.actionId)).size).toBe(1);
    expect((await rowsIn(test)).mailbox_proposals).toBe(1);
    const { digest } = (
      await person.get<MailboxAction>(`${desk.path}/actions/${answers[0]?.body.actionId}`)
    ).body;
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('may send again after an hour, and at once after a person has written from either side', async () => {
    const id = await desk.arrive({ id: 'first@example.com' });
    const five = async () => {
      for (let i = 0; i < 5; i++) {
        expect((await desk.reply(id, { text: `${i}` }, agent)).body.status).toBe('sent');
      }
      expect((await desk.reply(id, { text: '6' }, agent)).body.status).toBe('proposed');
    };
    await five();
    await test.clock.advance(hour - 1);
    expect((await desk.reply(id, { text: 'x' }, agent)).body.status).toBe('proposed');
    await test.clock.advance(1);
    await five();
    await test.clock.advance(1_000);
    await desk.arrive({ inReplyTo: 'first@example.com' });
    await five();
    await test.clock.advance(1_000);
    expect((await desk.reply(id, { text: 'by hand' }, person)).body.status).toBe('sent');
    await test.clock.advance(1_000);
    await five();
    await test.clock.advance(1_000);
    await desk.arrive({
      inReplyTo: 'first@example.com',
      headers: ['Auto-Submitted: auto-replied', 'Content-Type: text/plain'],
    });
    expect((await desk.reply(id, { text: 'x' }, agent)).body.status).toBe('proposed');
  });

  it('have a limit that does not apply to a person', async () => {
    const id = await desk.arrive();
    for (let i = 0; i < 7; i++) {
      expect((await desk.reply(id, { text: `${i}` }, person)).body.status).toBe('sent');
    }
  });

  it('stop after five answers each when two mailboxes answer each other', async () => {
    const other = await deskOf(world, 'other');
    const desks = [desk, other] as const;
    const first = await desk.send({ to: [other.address], subject: 'Hello', text: 'Hello' }, agent);
    let last = first.body;
    let rounds = 0;
    for (; last.status === 'sent' && rounds < 40; rounds++) {
      await test.clock.advance(1_000);
      const [from, to] = rounds % 2 === 0 ? desks : [desks[1], desks[0]];
      const sent = await from.email(last.messageId);
      const id = await to.arrive({
        from: from.address,
        id: sent.messageIdHeader.slice(1, -1),
        references: (sent.references ?? []).map((reference) => reference.slice(1, -1)),
        subject: sent.subject ?? '',
      });
      last = (await to.reply(id, { text: `round ${rounds}` }, agent)).body;
    }
    expect([last.status, rounds]).toEqual(['proposed', 10]);
    const { body } = await api.get<{ pendingApprovals: number }>(`${desk.path}/agent-activity`);
    expect(body.pendingApprovals).toBe(1);
  });
});
