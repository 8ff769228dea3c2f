// Counts, states and totals of conversations are true after any order of events: they are compared
// with the rows and with a model of the table of states.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteConversation } from '../../../src/outbound/messages/forget/forget-conversation.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import {
  createConversation,
  getConversation,
  listConversations,
  moveConversation,
} from '../../../src/people/conversations/conversations.ts';
import {
  type ConversationStatus,
  conversationStatuses,
} from '../../../src/people/conversations/schema.ts';
import type { MoveName } from '../../../src/people/conversations/states.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { receiveMail } from '../../inbox/receiving/received-mail.ts';
import { inLong, stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
/** TEST_RUNS=500 is a soak. */
const runs = Number(process.env.TEST_RUNS ?? inLong(15, 5));

type Step = 'send' | 'answer' | 'delete' | MoveName;

/** The table of states, written by hand. */
const becomes: Record<Exclude<Step, 'delete'>, Partial<Record<ConversationStatus, string>>> = {
  send: { active: 'waiting', waiting: 'waiting', resolved: 'resolved', archived: 'archived' },
  answer: { active: 'active', waiting: 'active', resolved: 'active', archived: 'archived' },
  resolve: { active: 'resolved', waiting: 'resolved' },
  archive: { active: 'archived', waiting: 'archived', resolved: 'archived' },
  reopen: { resolved: 'active', archived: 'active' },
};

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step>(
      ...(['send', 'send', 'answer', 'answer', 'delete'] as const),
      ...(['resolve', 'archive', 'reopen'] as const),
    ),
    fc.nat(),
  ),
  { minLength: 1, maxLength: 14 },
);

describe.each(stores)('conversations beside their messages on %s', (store) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await testApp({ store });
  });
  afterAll(() => test.close());

  const answerTo = (id: string) =>
    receiveMail(test.app, ['From: ada@example.com', `In-Reply-To: <${id}@sandbox.test>`, '', 'Hi']);
  const make = async () => (await createConversation(test.app, test.operator, {})).id;
  const show = (id: string) => getConversation(test.app, test.operator, id);

  async function rowsOf(id: string): Promise<{ count: number; last: number | null }> {
    const { rows } = await sql<{ count: number; last: number | null }>`
      select count(*) as count, max(created_at) as last from messages
      where conversation_id = ${id}`.execute(test.app.store.db);
    return rows[0] ?? { count: 0, last: null };
  }

  /** Compares the totals of the lists with the rows, by status. */
  async function expectTrueTotals(): Promise<void> {
    const { rows } = await sql<{ status: string; count: number }>`
      select status, count(*) as count from conversations group by status`.execute(
      test.app.store.db,
    );
    const there = new Map(rows.map(({ status, count }) => [status, Number(count)]));
    for (const status of conversationStatuses) {
      const query = { status, page: 1, limit: 1 };
      const { pagination } = await listConversations(test.app, test.operator, query);
      expect([status, pagination.total]).toEqual([status, there.get(status) ?? 0]);
    }
  }

  it(`follow any order of sends, answers, deletions and moves (TEST_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const id = await make();
        let status: ConversationStatus = 'active';
        // A message that is never deleted, so that one can always be answered.
        const first = await send(test.app, test.operator, 'a@simulator.test', {
          conversationId: id,
        });
        status = 'waiting';
        const parts: string[] = [];
        let last = test.clock.now();
        for (const [step, index] of plan) {
          test.clock.set(test.clock.now() + 1_000);
          if (step === 'delete') {
            const [gone] = parts.splice(index % Math.max(1, parts.length), 1);
            if (gone) await deleteMessage(test.app, test.operator, gone);
          } else if (step === 'send') {
            const { id: sent } = await send(test.app, test.operator, 'a@simulator.test', {
              conversationId: id,
            });
            parts.push(sent);
          } else if (step === 'answer') {
            parts.push(await answerTo(first.id));
          } else {
            const moved = moveConversation(test.app, test.operator, id, step);
            if (becomes[step][status]) await moved;
            else await expect(moved).rejects.toThrow(ConflictError);
          }
          if (step === 'send' || step === 'answer') last = test.clock.now();
          if (step !== 'delete') status = (becomes[step][status] ?? status) as ConversationStatus;
          const shown = await show(id);
          const rows = await rowsOf(id);
          expect([shown.status, shown.messageCount]).toEqual([status, Number(rows.count)]);
          expect(shown.messageCount).toBe(1 + parts.length);
          expect(Date.parse(shown.lastActivityAt ?? '')).toBe(last);
          expect(shown.resolvedAt === null).toBe(shown.resolutionType === null);
          expect([status === 'resolved', status === 'archived']).toEqual([
            shown.resolvedAt !== null && shown.archivedAt === null,
            shown.archivedAt !== null,
          ]);
        }
        await expectTrueTotals();
      }),
      { seed, numRuns: runs },
    );
  }, 240_000);

  it('have the right counts after concurrent changes, with two daemons on PostgreSQL', async () => {
    const apps = store === 'postgres' ? [test.app, await test.another()] : [test.app];
    const ids = [await make(), await make()];
    const sendOne = (index: number) => {
      const app = apps[index % apps.length] ?? test.app;
      const conversationId = ids[index % 2] ?? '';
      return send(app, test.operator, 'a@simulator.test', { conversationId });
    };
    const first = await Promise.all([0, 1].map(sendOne));
    const there = await Promise.all(Array.from({ length: 20 }, (_, index) => sendOne(index)));
    await Promise.all(
      there.flatMap((message, index) => [
        sendOne(index),
        answerTo(first[index % 2]?.id ?? ''),
        deleteMessage(apps[index % apps.length] ?? test.app, test.operator, message.id),
        sendOne(index + 1),
      ]),
    );
    for (const id of ids) {
      const { messageCount } = await show(id);
      expect([messageCount, Number((await rowsOf(id)).count)]).toEqual([31, 31]);
    }
    await expectTrueTotals();
  });

  it('keep no message that is sent during their deletion', async () => {
    const id = await make();
    const sends = Array.from({ length: 30 }, () =>
      send(test.app, test.operator, 'a@simulator.test', { conversationId: id }),
    );
    const first = await sends[0];
    const more = Promise.allSettled([
      ...sends,
      deleteConversation(test.app, test.operator, id),
      ...Array.from({ length: 30 }, () =>
        send(test.app, test.operator, 'a@simulator.test', { conversationId: id }),
      ),
      answerTo(first?.id ?? ''),
    ]);
    for (const result of await more) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ resource: 'conversation' });
    }
    expect(Number((await rowsOf(id)).count)).toBe(0);
    await expectTrueTotals();
  });
});
