// A daemon dies while mail is answered, proposed, approved and rejected, and the callers retry.
// Nothing is sent twice or without its approval, nothing acknowledged is lost, and counters equal
// rows. Each seed is one death before, within or after one of the transactions. KILL_POINTS=300 is
// a soak; KILL_SEED=<the seed in the name of a failed test> repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { rejectAction } from '../../../src/inbox/approvals/actions.ts';
import { reply } from '../../../src/inbox/replies/answers.ts';
import { approveAction } from '../../../src/inbox/replies/approve.ts';
import { createDraft, sendDraft } from '../../../src/inbox/replies/drafts.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { inLong, stores } from '../../support/command.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { agentOf, callerOf } from '../approvals/fixtures.ts';
import { arrive, countsOf } from '../threads/mails.ts';
import { config } from './world.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(8, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

/** Number of transactions in a round. */
const writesOfRound = 12;

/** Maps seeds to every transaction and moment in turn. */
function pointOf(seed: number): KillPoint {
  const moment = moments[seed % moments.length] ?? 'within';
  return { moment, nth: 1 + (Math.floor(seed / moments.length) % writesOfRound) };
}

/** Runs the request on the victim, and repeats it on the survivor if the victim dies. */
async function retried<T>(
  died: Promise<void>,
  victim: App,
  survivor: App,
  ask: (app: App) => Promise<T>,
): Promise<T> {
  const first = await Promise.race([ask(victim).then((value) => ({ value })), died]);
  return first ? first.value : ask(survivor);
}

/** Returns null for a decision that has already been made. */
async function decided<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof ConflictError && error.message.includes('decided only once')) return null;
    throw error;
  });
}

interface Keys {
  program: Caller;
  agent: Caller;
  operator: Caller;
}

/** Makes the requests of a round, and returns their outcomes. */
async function round(
  ask: <T>(work: (app: App) => Promise<T>) => Promise<T>,
  { program, agent, operator }: Keys,
  at: { mailboxId: string; messageId: string },
): Promise<{ sent: ReplyResult[]; approved: string[]; refused: string[] }> {
  const { mailboxId } = at;
  const answer = (caller: Caller, key: string) =>
    ask((app) => reply(app, caller, at, { text: key }, { all: false, key }));
  const sent = [await answer(program, 'one')];
  const proposals = [await answer(agent, 'two'), await answer(agent, 'three')];
  const body = { to: ['bo@example.com'], subject: 'x', text: 'x' };
  const draft = await ask((app) => createDraft(app, operator, mailboxId, body));
  const draftAt = { mailboxId, draftId: draft.id };
  sent.push(await ask((app) => sendDraft(app, program, draftAt, {}, 'four')));
  const other = await ask((app) => createDraft(app, operator, mailboxId, body));
  const otherAt = { mailboxId, draftId: other.id };
  proposals.push(await ask((app) => sendDraft(app, agent, otherAt, {}, 'five')));
  const ids = proposals.map(({ actionId }) => actionId ?? '');
  const [first = '', second = '', third = ''] = ids;
  for (const actionId of [first, third]) {
    await ask((app) => decided(approveAction(app, operator, { mailboxId, actionId }, {})));
  }
  await ask((app) => decided(rejectAction(app, operator, { mailboxId, actionId: second }, {})));
  await answer(agent, 'six');
  sent.push(await answer(program, 'seven'));
  return { sent, approved: [first, third], refused: [second] };
}

async function rowsOf({ app }: TestApp, query: ReturnType<typeof sql<Record<string, unknown>>>) {
  return (await query.execute(app.store.db)).rows;
}

async function expectWhole(
  test: TestApp,
  { sent, approved, refused }: Awaited<ReturnType<typeof round>>,
): Promise<void> {
  const actions = await rowsOf(
    test,
    sql`select id, state, message_id from mailbox_actions order by id`,
  );
  const stateOf = new Map(actions.map(({ id, state }) => [id, state]));
  for (const id of approved) expect(stateOf.get(id)).toBe('executed');
  for (const id of refused) expect(stateOf.get(id)).toBe('rejected');
  const executed = actions.filter(({ state }) => state === 'executed');
  expect(actions.filter(({ state }) => state === 'proposed')).toHaveLength(1);
  expect(executed).toHaveLength(sent.length + approved.length);
  const messages = await rowsOf(
    test,
    sql`select m.id, count(d.id) as deliveries from messages m
      join deliveries d on d.message_id = m.id where m.direction = 'outbound' group by m.id`,
  );
  // Each was sent once, by its own action, to one recipient.
  expect(messages.map(({ id }) => id).sort()).toEqual(
    executed.map(({ message_id }) => message_id).sort(),
  );
  expect(messages.every(({ deliveries }) => Number(deliveries) === 1)).toBe(true);
  const ids = new Set(messages.map(({ id }) => id));
  for (const { messageId } of sent) expect(ids.has(messageId)).toBe(true);
  expect(await rowsOf(test, sql`select action_id as id from mailbox_proposals`)).toEqual(
    actions.filter(({ state }) => state === 'proposed').map(({ id }) => ({ id })),
  );
  const counts = (rows: Record<string, unknown>[]) =>
    rows.map(({ state, count }) => [state, Number(count)]);
  expect(
    counts(
      await rowsOf(
        test,
        sql`select state, sum(count) as count from mailbox_hours
          where kind = 'action' and hour = -1 group by state having sum(count) > 0 order by state`,
      ),
    ),
  ).toEqual(
    counts(
      await rowsOf(
        test,
        sql`select state, count(*) as count from mailbox_actions group by state order by state`,
      ),
    ),
  );
  const { said, counted } = await countsOf(test.app);
  expect(said).toEqual(counted);
}

describe.each(stores)('the death of a daemon while mail is answered, on %s', (store) => {
  it.each(seeds)(
    'sends nothing twice, and nothing without approval (KILL_SEED=%i)',
    async (seed) => {
      const test = await testApp({ store, config, seed });
      try {
        const { app, operator } = test;
        const { id: mailboxId } = await createMailbox(app, operator, { slug: 'desk' });
        const rcpt = ['desk@sandbox.test'];
        const messageId = await arrive(app, { rcpt, to: 'desk@sandbox.test' });
        const keys = {
          program: await callerOf(app, operator, { role: 'developer' }),
          agent: await agentOf(app, operator, mailboxId),
          operator,
        };
        const victim = await test.another();
        const died = mortal(victim, pointOf(seed));
        let isDead = false;
        void died.then(() => {
          isDead = true;
        });
        const done = await round((work) => retried(died, victim, app, work), keys, {
          mailboxId,
          messageId,
        });
        expect(isDead).toBe(true);
        await expectWhole(test, done);
      } finally {
        await test.close();
      }
    },
  );
});
