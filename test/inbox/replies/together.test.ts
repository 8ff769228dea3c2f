// Concurrent sends from mailboxes: they share a transaction, and each gets the same answer as
// alone.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/core/api/route.ts';
import { createMailbox, pauseMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { reply, sendNew } from '../../../src/inbox/replies/answers.ts';
import { createDraft, sendDraft } from '../../../src/inbox/replies/drafts.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { addLabels } from '../../../src/inbox/threads/marks/labels.ts';
import { listThreadsQuery } from '../../../src/inbox/threads/schema.ts';
import { listThreads } from '../../../src/inbox/threads/threads.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { leap } from '../../support/virtual-clock.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { agentOf, callerOf } from '../approvals/fixtures.ts';
import { countsOf, mailboxOf, takeMail, threadAll } from '../threads/mails.ts';
import { config, rowsIn } from './world.ts';

const dayMs = 24 * 3_600_000;

describe.each(stores)('concurrent mail of a mailbox, on %s', (store) => {
  const test = eachApp({ store, config });
  let mailboxId: string;
  let program: Caller;
  beforeEach(async () => {
    mailboxId = await mailboxOf(test.app);
    program = await callerOf(test.app, test.operator, { role: 'developer' });
  });

  /** Receives `count` mails, each from another address, and returns their ids. */
  async function receive(count: number): Promise<string[]> {
    const subjects = Array.from({ length: count }, (_, index) => `Question ${index}`);
    const taken = await Promise.all(
      subjects.map((subject) =>
        takeMail(test.app, { subject, from: `${subject.slice(9)}@a.example` }),
      ),
    );
    await threadAll(test.app);
    return taken.flat();
  }

  const answer = (messageId: string, key: string | null = null, text = 'Thanks', by = program) =>
    reply(test.app, by, { mailboxId, messageId }, { text }, { all: false, key });

  /** Returns the kind of error of each refusal, else the status. */
  const outcomes = (results: readonly PromiseSettledResult<ReplyResult>[]) =>
    results.map((result) =>
      result.status === 'fulfilled' ? result.value.status : result.reason._tag,
    );

  async function expectCountersEqualRows(): Promise<void> {
    const { said, counted } = await countsOf(test.app);
    expect(said).toEqual(counted);
  }

  describe('its number of statements', () => {
    let watch: ReturnType<typeof watchQueries>;
    beforeEach(() => {
      watch = watchQueries();
    });
    afterEach(() => watch.stop());

    it('grows little with each further mail', async () => {
      const ids = await receive(33);
      const statementsOf = async (messageIds: readonly string[]) => {
        watch.take();
        const sent = await Promise.all(messageIds.map((id) => answer(id)));
        expect(sent.every(({ status }) => status === 'sent')).toBe(true);
        return watch.take().reduce((sum, { times }) => sum + times, 0);
      };
      await statementsOf(ids.slice(0, 1));
      const alone = await statementsOf(ids.slice(1, 2));
      // Inserts come in powers of two, and only the thread of each mail is changed alone.
      const together = await statementsOf(ids.slice(2, 33));
      expect(together).toBeLessThan(alone + 31 + 60);
      expect(await rowsIn(test)).toMatchObject({ messages: 66, mailbox_actions: 33 });
      await expectCountersEqualRows();
    });
  });

  it('is refused one by one: the others are sent, and the key of a refused one stays free', async () => {
    const { app, operator } = test;
    const [first = '', second = '', third = ''] = await receive(3);
    const paused = await createMailbox(app, operator, { slug: 'paused' });
    await pauseMailbox(app, operator, paused.id);
    const news = { to: ['bo@example.com'], subject: 'News', text: 'x' };
    const elsewhere = await callerOf(app, operator, {
      role: 'developer',
      constraints: { domains: ['elsewhere.example'] },
    });
    const before = await rowsIn(test);
    const results = await Promise.allSettled([
      answer(first),
      answer(second, 'k', 'x', elsewhere),
      sendNew(app, program, paused.id, news, 'p'),
      sendNew(app, program, mailboxId, { ...news, to: ['not an address'] }, null),
      answer(third),
    ]);
    expect(outcomes(results)).toEqual([
      'sent',
      'ForbiddenError',
      'ConflictError',
      'skipped',
      'sent',
    ]);
    const after = await rowsIn(test);
    expect(Number(after.messages) - Number(before.messages)).toBe(2);
    expect((await answer(second, 'k')).status).toBe('sent');
    expect((await sendNew(app, program, mailboxId, news, 'p')).status).toBe('sent');
    await expectCountersEqualRows();
  });

  it('sends one mail for one key, and answers other content with a conflict', async () => {
    const [id = ''] = await receive(1);
    const results = await Promise.allSettled([
      answer(id, 'k'),
      answer(id, 'k'),
      answer(id, 'k', 'Other words'),
      answer(id, 'k'),
    ]);
    expect(outcomes(results)).toEqual(['sent', 'sent', 'ConflictError', 'sent']);
    const same = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    expect(new Set(same.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await rowsIn(test)).toMatchObject({ messages: 2, mailbox_actions: 1 });
  });

  it("is sent into one thread in order, and becomes a proposal from a program's sixth on", async () => {
    const [id = ''] = await receive(1);
    const texts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    const results = await Promise.all(texts.map((text) => answer(id, null, text)));
    expect(results.map(({ status }) => status)).toEqual([
      ...Array(5).fill('sent'),
      ...Array(2).fill('proposed'),
    ]);
    const { rows } = await sql<{ preview: string; message_count: number }>`
      select preview, message_count from threads`.execute(test.app.store.db);
    expect(rows.map((row) => [row.preview, Number(row.message_count)])).toEqual([['five', 6]]);
    await expectCountersEqualRows();
  });

  it('sends one draft once, and proposes it once', async () => {
    const { app, operator } = test;
    const body = { to: ['bo@example.com'], subject: 'x', text: 'x' };
    const agent = await agentOf(app, operator, mailboxId);
    for (const [by, status] of [
      [program, 'sent'],
      [agent, 'proposed'],
    ] as const) {
      const { id: draftId } = await createDraft(app, operator, mailboxId, body);
      const send = () => sendDraft(app, by, { mailboxId, draftId }, {}, null);
      const results = outcomes(await Promise.allSettled([send(), send(), send()]));
      // A request after the send finds no draft.
      const others = results.filter((outcome) => outcome !== status);
      expect(results).toContain(status);
      expect(others).toHaveLength(2);
      for (const outcome of others)
        expect(['ConflictError', 'ResourceNotFoundError']).toContain(outcome);
    }
    expect(await rowsIn(test)).toMatchObject({ messages: 1 });
  });

  it('moves its threads to the front of their labels', async () => {
    const { app, clock, operator } = test;
    const listed = async () => {
      const query = listThreadsQuery.parse({ label: 'urgent' });
      const { items } = await listThreads(app, operator, mailboxId, query);
      return items.map(({ subject }) => subject);
    };
    const ids = await receive(3);
    const { items } = await listThreads(app, operator, mailboxId, listThreadsQuery.parse({}));
    for (const { id, subject } of items) {
      if (subject === 'Question 2') continue;
      await addLabels(app, operator, mailboxId, id, { labels: ['urgent'] });
    }
    for (const order of [
      [1, 0],
      [0, 1],
    ]) {
      await clock.advance(1_000);
      await Promise.all([answer(ids[order[0] ?? 0] ?? ''), answer(ids[2] ?? '')]);
      expect(await listed()).toEqual(order.map((number) => `Question ${number}`));
    }
  });

  it('starts a thread each for one subject to one person, and one of them is found by it', async () => {
    const news = { to: ['bo@example.com'], subject: 'News', text: 'x' };
    const sent = await Promise.all(
      [1, 2, 3].map(() => sendNew(test.app, program, mailboxId, news, null)),
    );
    expect(new Set(sent.map(({ threadId }) => threadId)).size).toBe(3);
    const { rows } = await sql<{ thread_id: string }>`
      select thread_id from thread_references r where (select count(*) from thread_references o
        where o.thread_id = r.thread_id) = 2`.execute(test.app.store.db);
    const named = new Set(rows.map((row) => row.thread_id));
    expect(named.size).toBe(1);
    expect(sent.map(({ threadId }) => threadId)).toEqual(expect.arrayContaining([...named]));
  });

  it('makes the last thread of a subject the one that an answer without a parent joins', async () => {
    const { app } = test;
    const news = { to: ['bo@example.com'], subject: 'News', text: 'x' };
    const first = await sendNew(app, program, mailboxId, news, null);
    await leap(test, 6 * dayMs);
    const second = await sendNew(app, program, mailboxId, news, null);
    await leap(test, 6 * dayMs);
    await takeMail(app, { from: 'bo@example.com', subject: 'Re: News' });
    await threadAll(app);
    const { items } = await listThreads(app, test.operator, mailboxId, listThreadsQuery.parse({}));
    expect(items.map(({ id, messageCount }) => [id, messageCount])).toEqual([
      [second.threadId, 2],
      [first.threadId, 1],
    ]);
  });
});
