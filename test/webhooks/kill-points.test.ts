// A daemon dies while events are queued, claimed, posted and settled: no event is lost, none is
// posted under two ids, and counters equal rows. Each seed is one death at one point.
// KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a failed test> repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { record, recordTimeline } from '../../src/history/events/record.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { createPoster } from '../../src/webhooks/posting/post.ts';
import { inLong, stores, type TestStore } from '../support/command.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import {
  attemptRows,
  countsOf,
  makeEndpoint,
  type Receiver,
  receiver,
  status,
  until,
} from './engine.ts';
import { deliveryRows } from './fixtures.ts';
import { type KillPoint, moments, mortal, stages } from './mortal.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(10, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

const events = 8;
const schedule = [0, 5, 30];
const config = { webhooks: { allowPrivateAddresses: true, retry: { scheduleSeconds: schedule } } };

const turnsPerStep = 200;
const stepMs = 50;

/** Count of the moments of each stage before all has ended. */
const mostOf = { enqueue: events, claim: 6, body: 4, post: 2 * events, settle: 6 };

/** Chooses every stage and moment in turn, and a random occurrence of it. */
function pointOf(seed: number): KillPoint {
  const stage = stages[seed % stages.length] ?? 'post';
  const moment = moments[Math.floor(seed / stages.length) % moments.length] ?? 'after';
  const nth = 1 + Math.floor(seededRandom(seed).float() * mostOf[stage]);
  return { stage, moment, nth };
}

/** Reads the logged events of this round, by their subjects. */
async function loggedEvents({ app }: TestApp): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; subject: string }>`
    select id, message_id as subject from events where message_id like 'msg_kill%'
    union all select id, subject from resource_events where subject like 'dom_kill%'`.execute(
    app.store.db,
  );
  return new Map(rows.map(({ id, subject }) => [subject, id]));
}

describe.each(stores)('a daemon that dies, on %s', (store) => {
  it.each(seeds)('loses no event and miscounts none (KILL_SEED=%i)', async (seed) => {
    const point = pointOf(seed);
    const told = JSON.stringify({ seed, ...point });
    const test = await testApp({ store, config, seed });
    const [good, bad] = [await receiver(), await receiver()];
    bad.answer = status(500);
    const loops: WebhookLoop[] = [];
    try {
      await oneDeath(test, store, point, { good, bad, loops, told });
    } finally {
      for (const loop of loops) await loop.stop(0);
      await good.close();
      await bad.close();
      await test.close();
    }
  });
});

interface Parts {
  good: Receiver;
  bad: Receiver;
  /** Loops that can be stopped. */
  loops: WebhookLoop[];
  told: string;
}

async function oneDeath(
  test: TestApp,
  store: TestStore,
  point: KillPoint,
  { good, bad, loops, told }: Parts,
): Promise<void> {
  const { organizationId } = test.caller;
  const endpoints = {
    good: await makeEndpoint(test, good.url),
    bad: await makeEndpoint(test, bad.url),
  };
  const victim = await test.another();
  const death = mortal(victim, createPoster(victim), point);
  const dying = createWebhookLoop(victim, { poster: death.poster });
  await dying.start();
  // On PostgreSQL another daemon ran all the time; SQLite has one daemon.
  const survivor = createWebhookLoop(test.app);
  if (store === 'postgres') {
    loops.push(survivor);
    await survivor.start();
  }

  const acknowledged: string[] = [];
  /** Publishes the event with this number; half of the events are steps of messages. */
  async function enqueueOne(index: number): Promise<void> {
    const app = death.isDead ? test.app : victim;
    const subject = `${index % 2 === 0 ? 'dom' : 'msg'}_kill${index}`;
    const by = { organizationId, actor: { type: 'service' as const, id: null } };
    await app.store.write(async (trx) => {
      if (index % 2 === 0) {
        const event = { type: 'domain.verified', data: { id: subject }, facts: null };
        await record(app, trx, by as never, { subject, event });
        return;
      }
      const step = { organizationId, messageId: subject, recipientId: null, metadata: null };
      const timestamp = app.clock.now();
      await recordTimeline(app, trx, [{ ...step, eventType: 'sent', status: 'sent', timestamp }]);
    });
    acknowledged.push(subject);
  }
  for (let index = 0; index < events; index++) {
    let isOver = false;
    const isVictims = !death.isDead;
    void enqueueOne(index).then(() => {
      isOver = true;
    });
    // Work of the dead daemon never ends; work of another one does.
    await waitUntil(test, () => isOver || (isVictims && death.isDead));
    let isIdle = index % 3 !== 2;
    if (!isIdle) {
      void dying.idle().then(() => {
        isIdle = true;
      });
    }
    await waitUntil(test, () => isIdle || death.isDead);
  }

  await waitUntil(test, async () => death.isDead || (await isQuiet(test)));
  if (store === 'sqlite') {
    loops.push(survivor);
    await survivor.start();
  }
  await passTimeUntilAllEnded(test, survivor);
  await waitUntil(test, () => death.isAtRest);
  await passTimeUntilAllEnded(test, survivor);
  // A dead loop does not stop.
  if (!death.isDead) loops.push(dying);

  const logged = await loggedEvents(test);
  expect([...logged.keys()], told).toEqual(expect.arrayContaining(acknowledged));
  const rows = await deliveryRows(test.app);
  for (const [subject, id] of logged) {
    const of = rows.filter((row) => row.event_id === id);
    expect(of, `${subject} ${told}`).toHaveLength(2);
    const reached = new Set(of.map((row) => row.endpoint_id));
    expect(reached, `${subject} ${told}`).toEqual(new Set(Object.values(endpoints)));
  }
  expect(rows.length, told).toBe(2 * logged.size);
  for (const [name, id] of Object.entries(endpoints)) {
    const { counted, byRows } = await countsOf(test.app, id);
    const ended = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };
    const as = name === 'good' ? 'delivered' : 'exhausted';
    expect(byRows, told).toEqual({ ...ended, [as]: logged.size });
    expect(counted, told).toEqual(byRows);
  }
  for (const row of rows) {
    const attempts = await attemptRows(test.app, row.id);
    const wanted = row.endpoint_id === endpoints.bad ? schedule.length : 1;
    expect([row.attempt_count, attempts.length], told).toEqual([wanted, wanted]);
  }
  for (const { received } of [good, bad]) expectOneIdEach(received, logged, told);
}

/** Expects each event under its id, always as the same bytes. */
function expectOneIdEach(
  received: Receiver['received'],
  logged: ReadonlyMap<string, string>,
  told: string,
): void {
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body } of received) {
    const { data } = JSON.parse(body) as { data: { id: string } };
    const id = headers['webhook-id'] ?? '';
    expect(logged.get(data.id), told).toBe(id);
    bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
  }
  expect([...bodies.keys()].sort(), told).toEqual([...logged.values()].sort());
  expect(
    [...bodies.values()].filter(({ size }) => size !== 1),
    told,
  ).toEqual([]);
}

/** Waits while the clock advances slowly, because a repeated transaction waits by the clock. */
async function waitUntil(test: TestApp, holds: () => boolean | Promise<boolean>): Promise<void> {
  let turns = 0;
  await until(async () => {
    if (++turns % turnsPerStep === 0) await test.clock.advance(stepMs);
    return holds();
  });
}

async function nextDue({ app }: TestApp): Promise<number | null> {
  const { rows } = await sql<{ due: number | null }>`
    select min(due_at) as due from webhook_deliveries`.execute(app.store.db);
  const due = rows[0]?.due ?? null;
  return due === null ? null : Number(due);
}

/** Returns true when every due delivery has left. */
async function isQuiet(test: TestApp): Promise<boolean> {
  const due = await nextDue(test);
  return due === null || due > test.clock.now();
}

async function passTimeUntilAllEnded(test: TestApp, loop: WebhookLoop): Promise<void> {
  for (let step = 0; step < 200; step++) {
    let isIdle = false;
    void loop.idle().then(() => {
      isIdle = true;
    });
    await waitUntil(test, () => isIdle);
    const due = await nextDue(test);
    if (due === null) return;
    await test.clock.advance(Math.max(stepMs, due - test.clock.now()));
  }
  throw new Error('some deliveries did not end');
}
