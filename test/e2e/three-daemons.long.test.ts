// Three real daemons on one PostgreSQL under mixed load, while daemons are killed, stopped and
// restarted. Then a checker reads sink, receiver and store. DAEMONS_SEED repeats a round.
// DAEMONS_SECONDS=300 is a soak, which also stops daemons for 90 seconds. Slow: daemons die and
// start again for seconds, then all mail is waited for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  trustingTests,
  until,
} from '../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type Receiver, receiver } from '../webhooks/engine.ts';

const seed = Number(process.env.DAEMONS_SEED ?? Math.floor(Math.random() * 1_000_000));
const seconds = Number(process.env.DAEMONS_SECONDS ?? 6);
const isSoak = seconds > 60;
const senders = 6;
const receivers = 2;
const readers = 120;
const leaseMs = 60_000;
/** The lease of a post lasts longer than that of a mail. */
const postLeaseMs = 90_000;

let schema: PostgresSchema;
let database: pg.Client;
let home: DaemonHome;
let sink: SmtpSink;
let hooks: Receiver;
beforeAll(async () => {
  schema = await postgresSchema(inject('postgresUrl'));
  database = new pg.Client({ connectionString: schema.url });
  await database.connect();
  sink = await startSmtpSink();
  hooks = await receiver();
  home = daemonHome({
    ...relayTo(sink),
    ...trustingTests,
    SVC_DATABASE_URL: schema.url,
    SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true',
  });
});
afterAll(async () => {
  await home.close();
  await sink.close();
  await hooks.close();
  await database.end();
  await schema.drop();
});

/** Answers that clients got. */
interface Told {
  /** Message id of each key that was answered 201. */
  sent: Map<string, string>;
  /** Ids of mail that was answered 250. */
  received: Set<string>;
  /** Mails without an answer. */
  unknown: number;
  problems: string[];
}

const subjectsOf = () =>
  sink.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1] ?? '');

async function oneOf<Row>(query: string, values: unknown[] = []): Promise<Row[]> {
  return (await database.query(query, values)).rows as Row[];
}

it(`no mail is lost or doubled while daemons die (seed ${seed})`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random.float() * count);
  const daemons: (DaemonProcess | null)[] = [await home.start()];
  daemons.push(...(await Promise.all([home.start(), home.start()])));
  await home.cli.json([
    ...['webhooks', 'create', '--url', hooks.url],
    ...['--event', 'message.sent', '--event', 'mailbox.message.received'],
  ]);
  await home.cli.json([
    ...['mailboxes', 'create', '--slug', 'box', '--address', 'box@sandbox.test'],
  ]);
  const told: Told = { sent: new Map(), received: new Set(), unknown: 0, problems: [] };
  let isOver = false;
  let kills = 0;
  const anyDaemon = () => daemons.filter((one) => one !== null)[pick(2)];

  /** Sends a message to any daemon, again and again until a daemon accepts. */
  const sendUntilTaken = async (key: string) => {
    for (;;) {
      const body = {
        channel: 'email',
        to: [{ email: `${key}@example.com` }],
        email: { subject: key, text: '.' },
      };
      const asked = anyDaemon()?.request<{ id: string }>('POST', '/v1/messages', {
        headers: { 'idempotency-key': key },
        body,
      });
      const answer = await Promise.race([asked, wait(5_000)]).catch(() => undefined);
      if (answer?.status === 201) return answer.body.id;
      if (answer && answer.status < 500) told.problems.push(`${key}: ${answer.status}`);
      await wait(50);
    }
  };
  const sending = async (name: string) => {
    for (let n = 0; !isOver; n++) {
      const key = `${name}-${n}`;
      const id = await sendUntilTaken(key);
      told.sent.set(key, id);
      const isRepeated = pick(8) === 0;
      if (isRepeated && (await sendUntilTaken(key)) !== id) told.problems.push(`${key} is two`);
    }
  };
  const receiving = async (name: string) => {
    for (let n = 0; !isOver; n++) {
      const port = anyDaemon()?.smtpPort ?? 0;
      const transport = createTransport({
        ...{ host: '127.0.0.1', port, secure: false, ignoreTLS: true },
        ...{ connectionTimeout: 3_000, socketTimeout: 5_000, greetingTimeout: 3_000 },
      });
      const mail = {
        from: 'ada@example.com',
        to: 'box@sandbox.test',
        subject: `${name} ${n}`,
        text: '.',
      };
      try {
        const { response } = await transport.sendMail(mail);
        const id = /stored as (msg_\w+)/.exec(response)?.[1];
        if (id) told.received.add(id);
        else told.problems.push(response);
      } catch {
        told.unknown += 1;
      }
      transport.close();
      await wait(20);
    }
  };
  const trouble = async () => {
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end) {
      await wait(1_000 + pick(2_000));
      const place = pick(daemons.length);
      const victim = daemons[place];
      if (!victim) continue;
      const kind = pick(3);
      if (kind === 0) {
        victim.signal('SIGSTOP');
        await wait(isSoak && pick(4) === 0 ? 90_000 : 500 + pick(3_000));
        victim.signal('SIGCONT');
        continue;
      }
      daemons[place] = null;
      if (kind === 1) {
        kills += 1;
        await victim.kill();
      } else {
        await victim.stop();
      }
      await wait(pick(1_000));
      daemons[place] = await home.start();
    }
  };

  // A campaign goes out meanwhile.
  const addresses = Array.from({ length: readers }, (_, n) => `reader-${n}@example.com`);
  writeFileSync(
    join(home.cli.directory, 'readers.csv'),
    ['email,tags', ...addresses.map((address) => `${address},news`)].join('\n'),
  );
  await home.cli.json(['contacts', 'import', 'readers.csv']);
  const group = await home.cli.json<{ id: string }>([
    ...['unsubscribe-groups', 'create', '--name', 'News'],
  ]);
  const campaign = await home.cli.json<{ id: string }>([
    ...[
      'campaigns',
      'create',
      '--name',
      'news',
      '--subject',
      'news',
      '--text',
      'ho',
      '--tag',
      'news',
    ],
    ...['--unsubscribe-group', group.id],
  ]);
  const work = [
    ...Array.from({ length: senders }, (_, n) => sending(`s${n}`)),
    ...Array.from({ length: receivers }, (_, n) => receiving(`r${n}`)),
  ];
  await daemons[0]?.request('POST', `/v1/campaigns/${campaign.id}/runs`, { body: {} });
  await trouble();
  isOver = true;
  await Promise.all(work);
  await endLeases();

  const expected = told.sent.size + readers;
  await until(
    async () => {
      const [row] = await oneOf<{ n: string }>(
        "select count(*) as n from messages where direction = 'outbound' and status <> 'sent'",
      );
      return Number(row?.n) === 0 && sink.messages.length >= expected;
    },
    'all mail is sent',
    90_000,
  );
  // The event of a received mail is stored with its parsed content.
  await until(async () => (await dueRows('email_projections')) === 0, 'all mail is parsed', 90_000);
  await until(async () => (await dueRows('webhook_deliveries')) === 0, 'events are posted', 90_000);

  await checkMail(told, kills);
  await checkEvents(told);
  expect(told.problems).toEqual([]);
});

/** Counts the rows of a queue that still have work. */
async function dueRows(table: 'email_projections' | 'webhook_deliveries'): Promise<number> {
  const [row] = await oneOf<{ n: string }>(
    `select count(*) as n from ${table} where due_at is not null`,
  );
  return Number(row?.n);
}

/** Ends the leases of killed daemons at once. A soak waits for their end. */
async function endLeases(): Promise<void> {
  if (isSoak) return;
  // The living daemons have settled their claims by then.
  await wait(4_000);
  await database.query(
    `update deliveries set due_at = due_at - $1, claimed_at = claimed_at - $1
     where claimed_by is not null`,
    [leaseMs],
  );
  // The event of a received mail follows its parsing.
  await database.query(
    'update email_projections set due_at = due_at - $1 where due_at is not null',
    [leaseMs],
  );
  // Posts that a kill cut off, and posts that wait for a retry.
  await database.query(
    'update webhook_deliveries set due_at = due_at - $1 where due_at is not null',
    [postLeaseMs],
  );
  await database.query('notify svc_changes');
}

async function checkMail(told: Told, kills: number): Promise<void> {
  const counts = new Map<string, number>();
  for (const subject of subjectsOf()) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  for (const key of told.sent.keys()) {
    expect(counts.get(key) ?? 0, key).toBeGreaterThanOrEqual(1);
    expect(counts.get(key) ?? 0, key).toBeLessThanOrEqual(1 + kills);
  }
  // Only mail in flight at a kill is repeated.
  const repeated = [...told.sent.keys()].filter((key) => (counts.get(key) ?? 0) > 1);
  if (kills === 0) expect(repeated).toEqual([]);
  const perReader = new Map<string, number>();
  for (const { recipients } of sink.messages) {
    for (const one of recipients.filter((address) => address.startsWith('reader-'))) {
      perReader.set(one, (perReader.get(one) ?? 0) + 1);
    }
  }
  expect(perReader.size).toBe(readers);
  for (const [reader, count] of perReader) expect(count, reader).toBeLessThanOrEqual(1 + kills);
  // A message for each key and each reader.
  const [outbound] = await oneOf<{ n: string }>(
    "select count(*) as n from messages where direction = 'outbound'",
  );
  expect(Number(outbound?.n)).toBe(told.sent.size + readers);
  const ids = await oneOf<{ id: string }>("select id from messages where direction = 'inbound'");
  const stored = new Set(ids.map(({ id }) => id));
  expect([...told.received].filter((id) => !stored.has(id))).toEqual([]);
  expect(stored.size).toBeLessThanOrEqual(told.received.size + told.unknown);
}

async function checkEvents(told: Told): Promise<void> {
  const posted = new Map<string, Set<string>>();
  for (const { body } of hooks.received) {
    const { id, type, data } = JSON.parse(body) as {
      id: string;
      type: string;
      data: { messageId?: string; id?: string; message?: { id: string } };
    };
    const subject = `${type} ${data.messageId ?? data.message?.id ?? data.id}`;
    posted.set(subject, (posted.get(subject) ?? new Set()).add(id));
  }
  const wanted = [
    ...[...told.sent.values()].map((id) => `message.sent ${id}`),
    ...[...told.received].map((id) => `mailbox.message.received ${id}`),
  ];
  expect(wanted.filter((subject) => !posted.has(subject))).toEqual([]);
  // An event may be posted again, with the same id.
  expect(wanted.filter((subject) => posted.get(subject)?.size !== 1)).toEqual([]);
}
