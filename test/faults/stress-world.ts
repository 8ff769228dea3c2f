// Two services over one PostgreSQL, both delivering, with every kind of write to many rows at once:
// the kinds of work, and the conditions that hold for the store when all is quiet.
import { sql } from 'kysely';
import { inject } from 'vitest';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import type { App } from '../../src/core/app.ts';
import { findDeliveries } from '../../src/outbound/deliveries/queries.ts';
import { overallStatus } from '../../src/outbound/deliveries/status.ts';
import { deleteMessage } from '../../src/outbound/messages/messages.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { holdQueue, releaseHold } from '../../src/outbound/queue/desk/holds.ts';
import {
  dropDeliveries,
  flushQueue,
  retryDeliveries,
} from '../../src/outbound/queue/desk/queue.ts';
import { cancelMessage } from '../../src/outbound/queue/schedule/cancel.ts';
import {
  applyLateOutcomes,
  type LateOutcome,
} from '../../src/outbound/queue/settling/late-outcome.ts';
import { sendBatch } from '../../src/outbound/sending/batch.ts';
import { scheduleMessage } from '../../src/outbound/sending/schedule/schedule.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { deleteBlock, listBlocks } from '../../src/people/blocks/blocks.ts';
import { listBlocksQuery } from '../../src/people/blocks/schema.ts';
import { importBlocks } from '../../src/people/imports/blocks.ts';
import { CapacityError, ServiceError } from '../../src/platform/errors.ts';
import { type Random, seededRandom } from '../../src/platform/runtime/random.ts';
import { complaint, lateBounce } from '../identity/reputation/fixtures.ts';
import { payloadFor, type RunningPipeline, startPipeline } from '../support/delivery.ts';
import { postgresDatabase } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const bodies = ['One body.\n', 'Another body.\n', 'A third body.\n', 'The last body.\n'];
/** Few addresses that are imported, found dead, and sent to, so that these meet. */
const deadAddresses = 40;
const importedAddresses = 300;
const tickMs = 10;
/** Recent messages, the choice for cancels, deletions and late outcomes. */
const mostRecent = 400;

export interface StressWorld {
  /** Does random work for this time, `clients` at once; resolves when no work is left. */
  run(clients: number, ms: number): Promise<void>;
  /** Counts each end of each kind of work: `send`, `send: ConflictError`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Counts the refusals because the store could not write. */
  capacityErrors(): number;
  /** Counts the transactions that PostgreSQL ended for a deadlock. */
  deadlocks(): Promise<number>;
  /** Lists the violated conditions in words. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

interface Accepted {
  messages: number;
  emails: number;
}

/** Starts both services; `seed` decides the work, the machine its order. */
export async function startStressWorld(seed: number): Promise<StressWorld> {
  const sink = await startSmtpSink();
  sink.on({ verb: 'RCPT', match: /<dead/ }, '550 5.1.1 no such user');
  sink.on({ verb: 'RCPT', match: /<wait/ }, '451 4.2.0 later');
  const database = await postgresDatabase(inject('postgresUrl'));
  const service = await testApp({
    store: 'postgres',
    postgresUrl: database.url,
    seed,
    config: {
      delivery: {
        mode: 'relay',
        // Sent mail counts as delivered within the test.
        relay: { host: sink.host, port: sink.port, assumeDeliveredAfterMinutes: 1 / 60 },
        retry: { scheduleMinutes: [0.02, 60] },
      },
      health: { minimumSends: 1_000_000 },
    },
  });
  const apps = [service.app, await service.another()] as const;
  const pipelines: RunningPipeline[] = [];
  for (const [index, app] of apps.entries()) {
    pipelines.push(await startPipeline(app, { worker: `wrk_stress${index}` }));
  }
  const keys: string[] = [];
  for (let i = 0; i < 8; i++) {
    keys.push((await createKey(service.app, service.operator, { role: 'admin' })).key ?? '');
  }
  const stopClock = followRealTime(service);
  const work = createWork(service, apps, keys, seededRandom(seed));
  return {
    async run(clients, ms) {
      const endAt = performance.now() + ms;
      const client = async () => {
        while (performance.now() < endAt) await work.step();
      };
      await Promise.all(Array.from({ length: clients }, client));
      await work.calmDown();
    },
    counts: work.counts,
    capacityErrors: () => work.capacityErrors,
    async deadlocks() {
      const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
        where datname = current_database()`.execute(service.app.store.db);
      return Number(rows[0]?.deadlocks);
    },
    violations: () => findViolations(service.app, sink, work),
    async close() {
      stopClock();
      for (const pipeline of pipelines) await pipeline.close();
      await service.close();
      await sink.close();
      await database.drop();
    },
  };
}

/** Advances the clock of the service with the real one. */
function followRealTime({ clock }: TestApp): () => void {
  let last = performance.now();
  let isAdvancing = false;
  const timer = setInterval(() => {
    if (isAdvancing) return;
    // Times in the store are whole milliseconds.
    const now = last + Math.floor(performance.now() - last);
    isAdvancing = true;
    void clock.advance(now - last).finally(() => {
      isAdvancing = false;
    });
    last = now;
  }, tickMs);
  return () => clearInterval(timer);
}

interface Work {
  step(): Promise<void>;
  /** Releases the holds, and waits until nothing is claimed or ready. */
  calmDown(): Promise<void>;
  readonly counts: Map<string, number>;
  readonly capacityErrors: number;
  readonly accepted: Accepted;
  readonly deleted: ReadonlySet<string>;
  /** Ids of messages answered with 201. */
  readonly ids: ReadonlySet<string>;
  /** Errors that no caller may ever get. */
  readonly faults: ReadonlySet<string>;
}

function createWork(
  { operator: caller, clock }: TestApp,
  apps: readonly [App, App],
  keys: readonly string[],
  random: Random,
): Work {
  const counts = new Map<string, number>();
  const recent: Message[] = [];
  const ids = new Set<string>();
  const deleted = new Set<string>();
  const accepted: Accepted = { messages: 0, emails: 0 };
  const authenticators = apps.map(createAuthenticator);
  const faults = new Set<string>();
  let capacityErrors = 0;
  let serial = 0;

  const below = (end: number) => Math.floor(random.float() * end);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const shuffled = <T>(list: readonly T[]) =>
    list.map((value) => ({ value, at: random.float() })).sort((a, b) => a.at - b.at);

  const newAddress = () => {
    const kind = below(100);
    if (kind < 6) return `dead${below(deadAddresses)}@example.com`;
    if (kind < 10) return `imported${below(importedAddresses)}@example.com`;
    return `${kind < 20 ? 'wait' : 'user'}${serial++}@d${below(5)}.example`;
  };
  const newPayload = () => {
    const to = Array.from({ length: pick([1, 1, 1, 2, 3]) }, newAddress);
    return payloadFor([...new Set(to)], { email: { text: pick(bodies) } });
  };
  const took = (message: Message) => {
    ids.add(message.id);
    accepted.messages++;
    accepted.emails += message.deliveries.length;
    recent.push(message);
    if (recent.length > mostRecent) recent.shift();
  };
  const recentMessage = (): Message | undefined => recent[below(recent.length)];

  const kinds: Record<string, { share: number; run(app: App): Promise<unknown> }> = {
    send: {
      share: 60,
      async run(app) {
        const key = below(4) === 0 ? `key ${serial++}` : null;
        took(await sendMessage(app, caller, newPayload(), key));
      },
    },
    batch: {
      share: 4,
      async run(app) {
        const key = below(2) === 0 ? `batch ${serial++}` : null;
        const results = await sendBatch(app, caller, Array.from({ length: 10 }, newPayload), key);
        for (const result of results) if ('message' in result) took(result.message);
      },
    },
    schedule: {
      share: 4,
      async run(app) {
        const scheduledFor = clock.now() + 100 + below(2_000);
        took(await scheduleMessage(app, caller, { ...newPayload(), scheduledFor }));
      },
    },
    delete: {
      share: 8,
      async run(app) {
        const message = recentMessage();
        if (!message) return;
        await deleteMessage(app, caller, message.id);
        deleted.add(message.id);
      },
    },
    cancel: {
      share: 6,
      run: async (app) => cancelMessage(app, caller, recentMessage()?.id ?? 'msg_'),
    },
    late: {
      share: 8,
      async run(app) {
        const deliveries = await findDeliveries(app.store.db, [recentMessage()?.id ?? 'msg_']);
        const outcome: LateOutcome = pick([lateBounce, complaint, { kind: 'delivered' }]);
        const outcomes = shuffled(deliveries).map(({ value: delivery }) => ({ delivery, outcome }));
        await app.store.write((trx) => applyLateOutcomes(app, trx, outcomes));
      },
    },
    import: {
      share: 2,
      async run(app) {
        const some = Array.from(
          { length: importedAddresses },
          (_, i) => `imported${i}@example.com`,
        );
        const dead = Array.from({ length: deadAddresses }, (_, i) => `dead${i}@example.com`);
        const listed = shuffled([...some, ...dead]).slice(0, 200);
        const file = `email\n${listed.map(({ value }) => value).join('\n')}\n`;
        const source = (async function* () {
          yield Buffer.from(file);
        })();
        await importBlocks(app, caller, source, { reason: 'manual', dryRun: false });
      },
    },
    unblock: {
      share: 4,
      async run(app) {
        const { items } = await listBlocks(app, caller, listBlocksQuery.parse({ limit: 50 }));
        const block = pick(items);
        if (block) await deleteBlock(app, caller, block.id);
      },
    },
    flush: { share: 1, run: (app) => flushQueue(app, {}) },
    hold: { share: 1, run: (app) => holdQueue(app, { domain: `d${below(5)}.example` }, null) },
    release: { share: 1, run: (app) => releaseHold(app, { domain: `d${below(5)}.example` }) },
    retry: {
      share: 1,
      run: (app) =>
        retryDeliveries(app, [recentMessage()?.id ?? 'msg_', recentMessage()?.id ?? 'msg_']),
    },
    drop: { share: 1, run: async (app) => dropDeliveries(app, [recentMessage()?.id ?? 'msg_']) },
    plan: {
      share: 1,
      run: (app) => updateOrganization(app, 'default', { timezone: pick(['UTC', 'Asia/Tokyo']) }),
    },
    keys: {
      share: 1,
      async run(app) {
        const authenticator = authenticators[apps.indexOf(app)];
        for (const { value } of shuffled(keys)) await authenticator?.authenticate(value);
        await authenticator?.flushLastUsed();
      },
    },
  };
  const lots = Object.entries(kinds).flatMap(([name, { share }]) =>
    Array.from({ length: share }, () => name),
  );

  const attempt = async (name: string, app: App) => {
    const end = await (kinds[name]?.run(app) ?? Promise.resolve()).then(
      () => name,
      (error: unknown) => {
        if (error instanceof CapacityError) capacityErrors++;
        if (error instanceof ServiceError) return `${name}: ${error._tag}`;
        faults.add(`${name}: ${error}`.slice(0, 200));
        return `${name}: fault`;
      },
    );
    counts.set(end, (counts.get(end) ?? 0) + 1);
  };

  return {
    counts,
    accepted,
    deleted,
    ids,
    faults,
    get capacityErrors() {
      return capacityErrors;
    },
    step: () => attempt(pick(lots), pick(apps)),
    async calmDown() {
      const [app] = apps;
      for (let i = 0; i < 5; i++) {
        await releaseHold(app, { domain: `d${i}.example` }).catch((error: unknown) => {
          if (!(error instanceof ServiceError) || error.status !== 404) throw error;
        });
      }
      const busy = sql<{ n: number }>`select count(*) as n from deliveries where turn is not null
        or claimed_by is not null or status in ('scheduled', 'sent')`;
      while (Number((await busy.execute(app.store.db)).rows[0]?.n) > 0) {
        await new Promise((resolve) => setTimeout(resolve, tickMs));
      }
    },
  };
}

/** Queries that must find no row, by the violation that a row means. */
const forbidden: Record<string, string> = {
  'contents with a wrong count of uses': `select 1 from contents c where uses <>
    (select count(*) from messages where content_id = c.id)`,
  'unused contents': 'select 1 from contents where uses < 1',
  'ended deliveries that are still in the queue': `select 1 from deliveries
    where terminal_at is not null and (due_at is not null or turn is not null or lane is not null)`,
  'deliveries without a next step': `select 1 from deliveries
    where terminal_at is null and due_at is null and status <> 'sent'`,
  'messages without their first event': `select 1 from messages m where direction = 'outbound' and
    (select count(*) from events where message_id = m.id
     and event_type in ('accepted', 'scheduled')) <> 1`,
  'sent deliveries without exactly one event': `select 1 from deliveries d
    where sent_at is not null and (select count(*) from events e where e.message_id = d.message_id
    and e.recipient_id = d.recipient_id and e.event_type = 'sent') <> 1`,
  'events of deleted messages': `select 1 from events e where message_id <> '' and not exists
    (select 1 from messages where id = e.message_id)`,
  'claims of no message': `select 1 from idempotency_claims c where message_id <> '' and
    response <> '' and not exists (select 1 from messages where id = c.message_id)`,
};

async function findViolations(app: App, sink: SmtpSink, work: Work): Promise<string[]> {
  const { db } = app.store;
  const found: string[] = [...work.faults];
  const expectZero = (violation: string, count: number) => {
    if (count > 0) found.push(`${count} ${violation}`);
  };
  for (const [violation, query] of Object.entries(forbidden)) {
    const { rows } = await sql<{
      n: number;
    }>`select count(*) as n from (${sql.raw(query)}) q`.execute(db);
    expectZero(violation, Number(rows[0]?.n));
  }
  const { rows: deliveries } = await sql<{
    message_id: string;
    email: string;
    status: Message['status'];
    sent_at: number | null;
    message_status: Message['status'];
  }>`select d.message_id, d.email, d.status, d.sent_at, m.status as message_status
    from deliveries d join messages m on m.id = d.message_id`.execute(db);
  for (const [id, rows] of Map.groupBy(deliveries, (row) => row.message_id)) {
    const status = overallStatus(rows.map((row) => row.status));
    if (rows[0]?.message_status !== status) found.push(`${id} is not ${status}`);
  }
  const copies = new Map<string, number>();
  for (const { recipients } of sink.messages) {
    for (const email of recipients) copies.set(email, (copies.get(email) ?? 0) + 1);
  }
  // Addresses with a number of their own are written to once.
  for (const { email, sent_at } of deliveries) {
    const wanted = sent_at === null ? 0 : 1;
    const isOwn = email.startsWith('user');
    if (isOwn && copies.get(email) !== (wanted || undefined)) {
      found.push(`${email}: ${copies.get(email) ?? 0} copies instead of ${wanted}`);
    }
  }
  const { rows: messages } = await sql<{ id: string }>`select id from messages
    where direction = 'outbound'`.execute(db);
  const kept = new Set(messages.map(({ id }) => id));
  expectZero(
    'deleted messages that are there',
    [...work.deleted].filter((id) => kept.has(id)).length,
  );
  const lost = [...work.ids].filter((id) => !(kept.has(id) || work.deleted.has(id)));
  expectZero('accepted messages that are lost', lost.length);
  const { rows: counted } = await sql<Accepted>`select sum(accepted)::int as messages,
    sum(emails)::int as emails from counters`.execute(db);
  for (const name of ['messages', 'emails'] as const) {
    const [is, wanted] = [counted[0]?.[name], work.accepted[name]];
    if (is !== wanted) found.push(`${is} ${name} counted instead of ${wanted}`);
  }
  return found;
}
