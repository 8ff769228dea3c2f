// PostgreSQL that fails at each statement of an accept, of a claim and of a settlement: nothing is
// answered that is not stored, nothing is stored twice, and the next request after the fault works.
//
//   fault     | at the statement
//   ----------+---------------------------------------------------------------------------------------
//   cut       | the network breaks before it is sent
//   lost      | it is done, and the network breaks before its answer
//   killed    | the server ends the connection before it
//   read-only | the server has become a standby: writes fail from here on
//   silent    | the network takes it and passes nothing on
//
// A run takes each commit and a sample of the other statements; `FAULTS=all` takes each.
// Slow: a silent server costs its time-out at each statement.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { CapacityError } from '../../src/platform/errors.ts';
import { startPipeline } from '../support/delivery.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type PostgresSchema, postgresDatabase } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TcpProxy, tcpProxy, throughProxy } from '../support/tcp-proxy.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const faults = ['cut', 'lost', 'killed', 'read-only', 'silent'] as const;
type Fault = (typeof faults)[number];

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000);
const isWhole = process.env['FAULTS'] === 'all';
const timeout = isWhole ? 600_000 : 60_000;

/**
 * Returns the places of the statements that a fault meets. A silent server costs its time-out each:
 * it meets one.
 */
function placesOf(fault: Fault, statements: readonly string[]): number[] {
  const places = [...statements.keys()];
  if (isWhole) return places;
  const step = Math.ceil(statements.length / (fault === 'silent' ? 1 : 4));
  return places.filter(
    (at) => at % step === seed % step || (fault !== 'silent' && statements[at] === 'commit'),
  );
}

let database: PostgresSchema;
let proxy: TcpProxy;
let service: TestApp;
let api: HttpApi;
let sink: SmtpSink;
let admin: pg.Client;
const undo: (() => void)[] = [];

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

/** Calls `at` before each statement through the proxy; it returns a fault, or null to continue. */
function tap(at: () => Fault | null): string[] {
  const seen: string[] = [];
  const original = pg.Client.prototype.query as unknown as Query;
  const tapped: Query = function (...args) {
    const { port } = this as unknown as { port: number };
    // Statements of the pool return promises; those of the driver itself take a callback.
    if (port !== proxy.port || typeof args.at(-1) === 'function') return original.apply(this, args);
    seen.push(textOf(args[0]));
    const fault = at();
    return fault === null ? original.apply(this, args) : failing(fault, this, args, original);
  };
  pg.Client.prototype.query = tapped as unknown as typeof pg.Client.prototype.query;
  undo.push(() => {
    pg.Client.prototype.query = original as unknown as typeof pg.Client.prototype.query;
  });
  return seen;
}

const textOf = (query: unknown) =>
  typeof query === 'string' ? query : (query as { text: string }).text;

async function failing(fault: Fault, client: pg.Client, args: unknown[], query: Query) {
  if (fault === 'cut') proxy.cut();
  if (fault === 'silent') proxy.freeze();
  if (fault === 'killed') {
    const { processID } = client as unknown as { processID: number };
    await admin.query('select pg_terminate_backend($1, 5000)', [processID]);
  }
  if (fault === 'read-only') {
    await query.call(client, 'set default_transaction_read_only = on');
    await query.call(client, 'set transaction read only');
  }
  // The fault is over soon.
  const mend = () => setTimeout(() => proxy.mend(), 20);
  if (fault !== 'lost') return Promise.resolve(query.apply(client, args)).finally(mend);
  await query.apply(client, args);
  proxy.cut();
  mend();
  throw new Error('Connection terminated unexpectedly');
}

beforeEach(async () => {
  database = await postgresDatabase(inject('postgresUrl'));
  proxy = await tcpProxy(Number(new URL(database.url).port));
  sink = await startSmtpSink();
  service = await testApp({
    store: 'postgres',
    postgresUrl: throughProxy(database.url, proxy),
    config: {
      database: { statementTimeoutSeconds: 0.1 },
      delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } },
    },
  });
  api = httpApi(service);
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(async () => {
  for (const one of undo.splice(0)) one();
  await api.close();
  await service.close();
  await admin.end();
  await sink.close();
  await proxy.close();
  await database.drop();
});

const payload = (subject: string) => ({
  channel: 'email',
  to: [{ email: 'ada@example.com' }],
  email: { subject, text: 'It works.\n' },
});

const sendWith = (subject: string) =>
  api.request<Message>('POST', '/v1/messages', {
    body: payload(subject),
    headers: { 'idempotency-key': subject },
  });

async function stored(subject: string): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    'select count(*)::int as n from messages where subject = $1',
    [subject],
  );
  return rows[0]?.n ?? 0;
}

/** Repeats a send until it is accepted, as a client does after a 503. */
async function repeated(subject: string): Promise<void> {
  const endAt = performance.now() + 5_000;
  for (;;) {
    const { status } = await sendWith(subject);
    if (status === 201) return;
    expect([subject, status]).toEqual([subject, 503]);
    expect(performance.now(), `${subject} recovers`).toBeLessThan(endAt);
  }
}

/** Runs `work` for each chosen statement and fault. Returns the number of runs. */
async function overStatements(
  statements: readonly string[],
  work: (fault: Fault, at: number) => Promise<void>,
): Promise<number> {
  let runs = 0;
  for (const fault of faults) {
    for (const at of placesOf(fault, statements)) {
      await work(fault, at);
      runs += 1;
    }
  }
  return runs;
}

describe(`PostgreSQL that fails at a statement (SEED=${seed})`, () => {
  it('of an accept: a 201 is stored, and a 503 is stored at most once over its repeats', {
    timeout,
  }, async () => {
    await sendWith('warm');
    const statements = tap(() => null);
    await sendWith('counted');
    undo.pop()?.();
    expect(statements).toContain('commit');
    const answers = new Set<number>();
    const runs = await overStatements(statements, async (fault, at) => {
      const subject = `${fault} at ${at}`;
      let left = at;
      tap(() => (left-- === 0 ? fault : null));
      const { status, body } = await sendWith(subject);
      undo.pop()?.();
      proxy.mend();
      answers.add(status);
      expect([subject, status]).toEqual([subject, status === 201 ? 201 : 503]);
      if (status === 503) expect(body).toMatchObject({ _tag: 'CapacityError' });
      const now = await stored(subject);
      if (status === 201) expect([subject, now]).toEqual([subject, 1]);
      await repeated(subject);
      expect([subject, await stored(subject)]).toEqual([subject, 1]);
    });
    expect(runs).toBeGreaterThan(10);
    expect([...answers]).toContain(503);
  });

  /** Starts a pipeline, again if its first reads meet the fault. */
  async function startedPipeline() {
    for (;;) {
      try {
        return await startPipeline(service.app);
      } catch (error) {
        if (!(error instanceof CapacityError)) throw error;
      }
    }
  }

  it('of claim and settlement: each message is delivered, none is sent more than once more', {
    timeout,
  }, async () => {
    const deliver = async (subject: string, begin = () => {}) => {
      await repeated(subject);
      begin();
      const pipeline = await startedPipeline();
      const isDelivered = async () => {
        const { rows } = await admin.query<{ status: string }>(
          'select status from messages where subject = $1',
          [subject],
        );
        return rows[0]?.status === 'sent';
      };
      const endAt = performance.now() + 10_000;
      while (!(await isDelivered())) {
        expect(performance.now(), `${subject} is sent`).toBeLessThan(endAt);
        await sleep(10);
        // A claim that was stored and not heard of ends with its lease.
        await service.clock.advance(30_000);
      }
      await pipeline.close();
    };
    await deliver('warm');
    let statements: string[] = [];
    await deliver('counted', () => {
      statements = tap(() => null);
    });
    undo.pop()?.();
    expect(statements).toContain('commit');
    await overStatements(statements, async (fault, at) => {
      const subject = `${fault} at ${at}`;
      let left = at;
      await deliver(subject, () => tap(() => (left-- === 0 ? fault : null)));
      undo.pop()?.();
      const copies = sink.messages.filter(({ raw }) => raw.toString().includes(`: ${subject}\r\n`));
      expect([subject, copies.length >= 1 && copies.length <= 2]).toEqual([subject, true]);
    });
  });
});
