// Concurrent sends with one idempotency key, in seeded interleavings of two daemons on one store,
// with failing writes, crashing daemons and clients that hang up. Always: one message, right
// replays, released claims (specification 4.2 rules 5 to 8). `IDEMPOTENCY_SEED=n` replays one seed:
// the plan is the same, the timing is the machine's.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../../daemon/http/server.ts';
import type { Caller, Route } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { conversationNoun } from '../../../src/people/conversations/schema.ts';
import { idSource } from '../../../src/platform/runtime/ids.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { openService } from '../../../src/service/service.ts';
import { inLong, stores, type TestStore } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import {
  type FaultyStore,
  faultyStore,
  type WriteFault,
  writeFaults,
} from '../messages/faulty-store.ts';
import { otherOrganization, payload } from '../messages/fixtures.ts';

/**
 * PostgreSQL has fewer, because each crash opens a new pool of connections. IDEMPOTENCY_SEEDS=5000
 * is a soak.
 */
const soaked = Number(process.env.IDEMPOTENCY_SEEDS ?? 0);
const seeds: Record<TestStore, number> = {
  sqlite: soaked || inLong(100, 12),
  postgres: soaked || 100,
};
/** Worlds side by side, each with a store of its own, because a send mostly waits. */
const worldsAtOnce = 3;
const timeoutMs = 180_000;
const replayed = process.env.IDEMPOTENCY_SEED;

const sendRoute = routes.find(({ name }) => name === 'sendMessage') as Route;
const organizations = ['mine', 'theirs'] as const;
type Organization = (typeof organizations)[number];

/** `refused` has a sender that may not send (403), `missing` an unknown reference (404). */
type Content = 'first' | 'second' | 'refused' | 'missing';

interface Plan {
  organization: Organization;
  content: Content;
  daemon: 0 | 1;
  afterTurns: number;
  /** Turns of the event loop after which the client hangs up. */
  leavesAfterTurns: number | null;
  /** Repeats the send, to either daemon, until its answer is final. */
  persists: boolean;
}

interface Answer {
  plan: Plan;
  status: number;
  body: Message;
}

/** Counts of each event, over all seeds. */
interface Seen {
  answers: Map<number, number>;
  faults: Map<WriteFault, number>;
  left: number;
}

const mostFaults = 2;
/** A crash is half as likely as any other fault, because a start costs the most. */
const drawn = [...writeFaults, ...writeFaults.filter((fault) => !fault.startsWith('crashes'))];
/** Longer than a request takes from its arrival to its route. */
const turnsOfAnAnswer = 10;

describe.each(stores)('interleavings of sends with one idempotency key on %s', (store) => {
  const seen: Seen = { answers: new Map(), faults: new Map(), left: 0 };
  let worlds: World[];
  let tests: TestApp[];

  beforeAll(async () => {
    tests = await Promise.all(Array.from({ length: worldsAtOnce }, () => testApp({ store })));
    worlds = await Promise.all(tests.map((test) => openWorld(test, seen)));
  });
  afterAll(async () => {
    for (const test of tests) await test.close();
  });

  it('always end with one message, right replays and released claims', {
    timeout: timeoutMs,
  }, async () => {
    const left = replayed ? [Number(replayed)] : Array.from({ length: seeds[store] }, (_, i) => i);
    const runs = worlds.map(async (world) => {
      for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
        try {
          await runSeed(world, seed);
        } catch (cause) {
          left.length = 0;
          const { message } = cause as Error;
          const text = `seed ${seed} (IDEMPOTENCY_SEED=${seed} replays it): ${message}`;
          throw new Error(text, { cause });
        }
      }
    });
    await Promise.all(runs);
    for (const world of worlds) await world.close();
    for (const { app } of tests) await expectUsageToAgree(app);
    if (replayed || seeds[store] < 100) return;
    // The checks above mean nothing unless every fault happened. Fewer seeds meet a part of the
    // faults.
    for (const fault of writeFaults) expect(seen.faults.get(fault), fault).toBeGreaterThan(0);
    for (const status of [201, 403, 404, 409, 500, 503]) {
      expect(seen.answers.get(status), String(status)).toBeGreaterThan(0);
    }
    expect(seen.left).toBeGreaterThan(0);
  });
});

/** Opens a world with a second organization that may send. */
async function openWorld(test: TestApp, seen: Seen): Promise<World> {
  const { caller } = await otherOrganization(test.app);
  const { id } = await addDomain(test.app, caller, { domain: 'acme.example', dkim: 'ed25519' });
  await verifyDomain(test.app, caller, id, { force: true });
  await createSender(test.app, caller, { email: 'news@acme.example', isDefault: true });
  const callers = new Map([
    ['mine', test.caller],
    ['theirs', caller],
  ]);
  return new World(test, callers, seen);
}

/** The part of a daemon that dies in a crash. */
interface Process {
  app: App;
  faulty: FaultyStore;
}

/**
 * Two daemons on one store, each of which may crash and restart. Their HTTP faces stay, because
 * they hold no state; the app behind them is a new one.
 */
class World {
  readonly test: TestApp;
  readonly #callers: Map<string, Caller>;
  readonly #seen: Seen;
  readonly #processes: Promise<Process>[];
  readonly #faces: readonly HttpServer[];
  readonly #running = new Set<Promise<unknown>>();
  #nextFault: () => WriteFault | null = () => null;
  #started = 0;

  constructor(test: TestApp, callers: Map<string, Caller>, seen: Seen) {
    this.test = test;
    this.#callers = callers;
    this.#seen = seen;
    this.#processes = [this.#start(), this.#start()];
    this.#faces = [this.#face(0), this.#face(1)];
  }

  organizationId(name: Organization): string {
    return this.#callers.get(name)?.organizationId ?? '';
  }

  async close(): Promise<void> {
    for (const face of this.#faces) await face.close();
    for (const { app } of await Promise.all(this.#processes)) await app.close();
  }

  /** Injects faults into the writes from now on. */
  plague(next: () => WriteFault | null): void {
    this.#nextFault = () => {
      const fault = next();
      if (fault) this.#seen.faults.set(fault, (this.#seen.faults.get(fault) ?? 0) + 1);
      return fault;
    };
  }

  async #start(): Promise<Process> {
    const { config, log } = this.test.app;
    this.#started += 1;
    const random = seededRandom(5_000_000 + this.#started);
    const app = await openService(config, log, { clock: this.test.clock, random });
    const faulty = faultyStore(app.store, () => this.#nextFault());
    return { app: { ...app, store: faulty.store }, faulty };
  }

  #face(index: number): HttpServer {
    const run: Route['run'] = async (_app, request) => {
      const { app, faulty } = await this.#process(index);
      const result = sendRoute.run(app, request);
      const ended = Promise.race([result, faulty.crashed]).catch(() => {});
      this.#running.add(ended);
      void ended.then(() => this.#running.delete(ended));
      return result;
    };
    return createHttpServer(this.test.app, {
      routes: [{ ...sendRoute, run }],
      authenticate: async (name) => this.#callers.get(name) ?? null,
      isQueueRunning: () => true,
    });
  }

  #process(index: number): Promise<Process> {
    return this.#processes[index] as Promise<Process>;
  }

  /** Starts another daemon on the store of a dead one. */
  #restart(index: number, dead: Promise<Process>): void {
    if (this.#processes[index] !== dead) return;
    this.#processes[index] = dead.then(async ({ app, faulty }) => {
      await faulty.idle();
      await app.close();
      return this.#start();
    });
  }

  /** Sends; returns null where no answer came, after a crash or a hang-up. */
  async send(plan: Plan, key: string, daemon: number): Promise<Answer | null> {
    const current = this.#process(daemon);
    const { faulty } = await current;
    const gone = new AbortController();
    const answered = this.#faces[daemon]?.inject({
      method: 'POST',
      url: '/v1/messages',
      headers: {
        'x-api-key': plan.organization,
        'idempotency-key': key,
        'content-type': 'application/json',
      },
      payload: JSON.stringify(bodyOf(plan.content, key)),
      signal: gone.signal,
    });
    answered?.catch(() => {});
    const left = turns(plan.leavesAfterTurns).then(() => 'left' as const);
    const response = await Promise.race([answered, left, faulty.crashed]);
    if (response === 'crashed') this.#restart(daemon, current);
    if (response === 'left') {
      this.#seen.left += 1;
      gone.abort();
    }
    if (!response || typeof response === 'string') return null;
    const { statusCode: status } = response;
    this.#seen.answers.set(status, (this.#seen.answers.get(status) ?? 0) + 1);
    return { plan, status, body: response.json() };
  }

  /** Waits for all requests, also of clients that hung up, and restarts crashed daemons. */
  async settled(): Promise<void> {
    await turns(turnsOfAnAnswer);
    await Promise.all(this.#running);
    for (const index of this.#processes.keys()) {
      const current = this.#process(index);
      const { faulty } = await current;
      const state = await Promise.race([faulty.crashed, turns(1)]);
      if (state === 'crashed') this.#restart(index, current);
    }
  }
}

/** Waits for turns of the event loop; for ever with null. */
async function turns(count: number | null): Promise<void> {
  if (count === null) return new Promise(() => {});
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

const conversation = idSource(virtualClock(), seededRandom(1))(conversationNoun);

function bodyOf(content: Content, key: string): unknown {
  const email = { subject: `${key} ${content}` };
  if (content === 'refused') return payload(email, { from: { email: 'ceo@elsewhere.example' } });
  return payload(email, content === 'missing' ? { conversationId: conversation } : {});
}

async function runSeed(world: World, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random.float() * count);
  const key = `seed-${seed}`;
  const plans = Array.from({ length: 2 + below(3) }, (): Plan => {
    const contents: Content[] = [
      'first',
      'first',
      'first',
      'first',
      'second',
      'refused',
      'missing',
    ];
    return {
      organization: below(6) === 0 ? 'theirs' : 'mine',
      content: contents[below(contents.length)] ?? 'first',
      daemon: below(2) === 0 ? 0 : 1,
      afterTurns: below(8),
      leavesAfterTurns: below(6) === 0 ? below(12) : null,
      persists: below(10) < 7,
    };
  });
  const faultRandom = seededRandom(seed ^ 0x5eed);
  let faultsLeft = Math.floor(faultRandom.float() * (mostFaults + 1));
  world.plague(() => {
    if (faultsLeft === 0 || faultRandom.float() < 0.4) return null;
    faultsLeft -= 1;
    return drawn[Math.floor(faultRandom.float() * drawn.length)] ?? null;
  });
  const answers = (await Promise.all(plans.map((plan) => perform(world, plan, key)))).flat();
  world.plague(() => null);
  await world.settled();
  for (const organization of organizations) {
    if (!plans.some((plan) => plan.organization === organization)) continue;
    const own = answers.filter(({ plan }) => plan.organization === organization);
    await expectOneOutcome(world, organization, key, own);
  }
}

const mostTries = 12;

/** Runs one client; returns all its answers. */
async function perform(world: World, plan: Plan, key: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  await turns(plan.afterTurns);
  for (let tries = 0; tries < mostTries; tries++) {
    const patience = tries === 0 ? plan : { ...plan, leavesAfterTurns: null };
    const answer = await world.send(patience, key, (plan.daemon + tries) % 2);
    if (answer) answers.push(answer);
    const isFinal = answer !== null && answer.status < 500;
    if (isFinal || !plan.persists) return answers;
  }
  throw new Error('a client was told nothing final');
}

interface Stored {
  id: string;
  subject: string;
  claims: number;
  deliveries: number;
  events: number;
}

async function storedOf({ test }: World, organizationId: string, key: string): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    select id, subject,
      (select count(*) from idempotency_claims c where c.message_id = m.id and c.claim_key = ${key}) as claims,
      (select count(*) from deliveries d where d.message_id = m.id) as deliveries,
      (select count(*) from events e where e.message_id = m.id) as events
    from messages m where organization_id = ${organizationId}
      and subject in (${`${key} first`}, ${`${key} second`}, ${`${key} refused`}, ${`${key} missing`})
  `.execute(test.app.store.db);
  return rows;
}

async function claimsOf({ test }: World, organizationId: string, key: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from idempotency_claims
    where organization_id = ${organizationId} and claim_key = ${key}`.execute(test.app.store.db);
  return Number(rows[0]?.n);
}

async function expectOneOutcome(
  world: World,
  organization: Organization,
  key: string,
  answers: readonly Answer[],
): Promise<void> {
  const organizationId = world.organizationId(organization);
  const stored = await storedOf(world, organizationId, key);
  expect(stored.length, 'at most one message').toBeLessThanOrEqual(1);
  expect(await claimsOf(world, organizationId, key), 'no claim without its message').toBe(
    stored.length,
  );
  const [message] = stored;
  if (message) {
    expect(message).toMatchObject({ claims: 1, deliveries: 1, events: 1 });
  }
  for (const { plan, status, body } of answers) expectRight(key, message, plan, status, body);
  const bodies = new Set(
    answers
      .flatMap(({ status, body }) => (status === 201 ? [body] : []))
      .map((body) => JSON.stringify(body)),
  );
  expect(bodies.size, 'one answer for all').toBeLessThanOrEqual(1);

  // Afterwards, without faults: the message is replayed, or the key is free.
  const probe = (content: Content) =>
    world.send(
      { organization, content, daemon: 0, afterTurns: 0, leavesAfterTurns: null, persists: false },
      key,
      0,
    );
  const winner = message?.subject === `${key} second` ? 'second' : 'first';
  const loser = winner === 'first' ? 'second' : 'first';
  const repeat = await probe(winner);
  expect(repeat?.status, 'a repeat').toBe(201);
  if (message) expect(repeat?.body.id, 'a repeat').toBe(message.id);
  for (const body of bodies) expect(JSON.stringify(repeat?.body), 'a repeat').toBe(body);
  expect((await probe(loser))?.status, 'other content').toBe(409);
}

function expectRight(
  key: string,
  message: Stored | undefined,
  { content }: Plan,
  status: number,
  body: Message,
): void {
  if (status === 201) {
    expect(body.id, 'a 201 is of the message').toBe(message?.id);
    expect(message?.subject, 'a 201 is of the same content').toBe(`${key} ${content}`);
  } else if (status === 409) {
    expect(message, 'a 409 is for a message').toBeDefined();
    expect(message?.subject, 'a 409 is for other content').not.toBe(`${key} ${content}`);
  } else if (status === 403) {
    expect(content).toBe('refused');
  } else if (status === 404) {
    expect(content).toBe('missing');
  } else {
    expect([500, 503], 'a fault was injected').toContain(status);
  }
}

/** Expects the usage to count accepted sends, without replays and rolled back attempts. */
async function expectUsageToAgree({ store }: App): Promise<void> {
  const { rows } = await sql<{ counted: number; accepted: number }>`
    select sum(messages) as counted, (select count(*) from messages) as accepted
    from daily_usage`.execute(store.db);
  expect(Number(rows[0]?.counted)).toBe(Number(rows[0]?.accepted));
}
