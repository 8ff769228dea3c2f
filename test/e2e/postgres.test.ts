// Two real daemons on one PostgreSQL: they share the queue, each message is sent once, and the
// claims of a killed daemon are taken over when its lease ends (docs/making/store.md).
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

const sends = 200;
const leaseMs = 60_000;

interface Claim {
  worker: string;
  count: number;
  /** Shortest time from a claim to the end of its lease. */
  shortestMs: number;
  /** Latest end of a lease, in ms since 1970. */
  lastEnd: number;
}

let schema: PostgresSchema;
let database: pg.Client;
/** One home: both daemons need the same `secret.key`. */
let home: DaemonHome;
let sinks: [SmtpSink, SmtpSink];
let daemons: [DaemonProcess, DaemonProcess];

beforeAll(async () => {
  schema = await postgresSchema(inject('postgresUrl'));
  database = new pg.Client({ connectionString: schema.url });
  await database.connect();
  sinks = [await startSmtpSink(), await startSmtpSink()];
  home = daemonHome({ SVC_DATABASE_URL: schema.url, SVC_DELIVERY_MODE: 'relay' });
  // Each daemon has a sink of its own, which identifies the sender.
  const start = (sink: SmtpSink) =>
    home.start({
      env: {
        SVC_DELIVERY_RELAY_HOST: sink.host,
        SVC_DELIVERY_RELAY_PORT: String(sink.port),
      },
    });
  daemons = [await start(sinks[0]), await start(sinks[1])];
});
afterAll(async () => {
  await home.close();
  await Promise.all(sinks.map((sink) => sink.close()));
  await database.end();
  await schema.drop();
});

/** Sends over these daemons in turn; returns the ids. */
function sendOver(senders: readonly DaemonProcess[], name: string): Promise<string[]> {
  return Promise.all(
    Array.from({ length: sends }, async (_, index) => {
      const daemon = senders[index % senders.length] ?? daemons[0];
      const { status, body } = await daemon.request<Message>('POST', '/v1/messages', {
        body: {
          channel: 'email',
          to: [{ email: `user${index}@example.com` }],
          email: { subject: `${name} ${index}`, text: `${index}\n` },
        },
      });
      expect(status).toBe(201);
      return body.id;
    }),
  );
}

/** Counts how often the messages of one run arrived, by subject, at both sinks together. */
function arrivals(name: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { raw } of sinks.flatMap(({ messages }) => [...messages])) {
    const subject = /^Subject: (.*)\r$/m.exec(raw.toString())?.[1] ?? '';
    if (subject.startsWith(`${name} `)) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  }
  return counts;
}

function onceEach(name: string): Map<string, number> {
  return new Map(Array.from({ length: sends }, (_, index) => [`${name} ${index}`, 1]));
}

async function countWithStatus(daemon: DaemonProcess, status: string): Promise<number> {
  const { body } = await daemon.request<{ pagination: { total: number } }>(
    'GET',
    `/v1/messages?direction=outbound&status=${status}&limit=1`,
  );
  return body.pagination.total;
}

it('200 sends over two daemons are each delivered once', async () => {
  await sendOver(daemons, 'shared');
  await until(() => arrivals('shared').size === sends, 'all have arrived');
  await until(async () => (await countWithStatus(daemons[0], 'sent')) === sends, 'all are settled');
  expect(arrivals('shared')).toEqual(onceEach('shared'));
  for (const { received } of sinks) expect(received).toBeGreaterThan(0);
});

it('one daemon shows at once a message stored by the other', async () => {
  const [id] = await sendOver([daemons[0]], 'seen');
  const { status } = await daemons[1].request('GET', `/v1/messages/${id}`);
  expect(status).toBe(200);
});

describe('SIGKILL of one daemon', () => {
  it('has its claims taken over when the lease ends, not before', async () => {
    const [dying, survivor] = daemons;
    await until(async () => (await countWithStatus(survivor, 'sent')) === 2 * sends, 'quiet');
    // Deliveries that the first daemon claims stay in flight, so that it dies with claims.
    sinks[0].on({ verb: 'dot' }, { hang: true });
    survivor.signal('SIGSTOP');
    await sendOver([dying], 'orphaned');
    await until(async () => (await claims()).length > 0, 'the first daemon holds something');
    await dying.kill();
    const killedAt = Date.now();
    survivor.signal('SIGCONT');
    const claim = await until(async () => {
      const [only, ...others] = await claims();
      const left = sends - arrivals('orphaned').size;
      return only?.count === left && others.length === 0 && only;
    }, 'the second daemon has sent all but the claims of the first');
    // The dying daemon may have renewed its leases: each third of a lease it renews all of them.
    expect(claim.shortestMs).toBeGreaterThanOrEqual(leaseMs);
    expect(claim.lastEnd).toBeLessThanOrEqual(killedAt + leaseMs);
    // Shifts the rows by a minute: the leases are over, from the survivor's view.
    const { rowCount } = await database.query(
      'update deliveries set due_at = due_at - $1, claimed_at = claimed_at - $1 where claimed_by = $2',
      [leaseMs, claim.worker],
    );
    expect(rowCount).toBe(claim.count);
    await database.query('notify svc_changes');
    await until(() => arrivals('orphaned').size === sends, 'all have arrived');
    await until(
      async () => (await countWithStatus(survivor, 'sent')) === 3 * sends,
      'all are settled',
    );
    expect(arrivals('orphaned')).toEqual(onceEach('orphaned'));
  });

  /** Reads the claims of each worker from the store. */
  async function claims(): Promise<Claim[]> {
    const { rows } = await database.query(
      `select claimed_by as worker, count(*)::int as count,
         min(due_at - claimed_at)::int as "shortestMs", max(due_at)::float8 as "lastEnd"
       from deliveries where claimed_by is not null group by claimed_by`,
    );
    return rows;
  }
});
