// 200 MB in 20 reports: their use of event loop, memory, store and parser, and their effect.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getOrganization } from '../../../src/access/organizations/organizations.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { findReportMail, takeReports } from '../../../src/outbound/reports/queries.ts';
import { createReportReader } from '../../../src/outbound/reports/reports.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import {
  arf,
  dsn,
  fbl,
  fieldsOf,
  lines,
  type ReportWorld,
  startReportWorld,
} from './report-fixture.ts';

const mb = 1024 * 1024;
const reportBytes = 10 * mb;
const [victim, mallory] = ['ada@a.test', 'mallory@b.test'];

let world: ReportWorld;

beforeEach(async () => {
  world = await startReportWorld();
});
afterEach(() => world.close());

/** Fills the report up to its full size with this text. */
function padded(report: Buffer, filling: string): Buffer {
  return Buffer.concat([report, Buffer.alloc(reportBytes - report.length, filling)]);
}

async function store(address: string, raw: Buffer): Promise<void> {
  const addressee = await resolveAddressee(world.app, address);
  if (addressee.kind === 'refused') throw new Error(`${address}: ${addressee.text}`);
  const envelope = inboundEnvelope([addressee]);
  expect(await receive(world.app, envelope, raw)).toMatchObject({ kind: 'stored' });
}

async function unread(): Promise<{ count: number; bytes: number }> {
  const query = sql<{ count: number; bytes: number | null }>`
    select count(*) as count, sum(length(raw)) as bytes from inbound_reports`;
  const [row] = (await query.execute(world.app.store.db)).rows;
  return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 };
}

/** Measures every turn of the event loop until it is stopped. */
function watchTurns() {
  const before = process.memoryUsage().arrayBuffers;
  let start = startWork();
  let longestMs = 0;
  let mostBytes = 0;
  let isOn = true;
  const look = () => {
    longestMs = Math.max(longestMs, workedMs(start));
    mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - before);
    start = startWork();
    if (isOn) setImmediate(look);
  };
  look();
  return () => {
    isOn = false;
    look();
    return { longestMs, mostBytes };
  };
}

/** Delivers 20 hostile reports of three kinds. */
async function flood(): Promise<void> {
  const { copyOf } = await world.sent([victim, mallory]);
  const attack = copyOf(mallory).returnPath;
  const zipped = lines(
    'From: noreply-dmarc@receiver.example',
    'MIME-Version: 1.0',
    'Content-Type: application/gzip; name="report.xml.gz"',
    'Content-Transfer-Encoding: base64',
    '',
    '',
  );
  const [messageId] = fieldsOf(copyOf(victim).raw, 'Message-ID');
  const complaint = arf(`Message-ID: ${messageId}\r\n\r\n`, { recipient: victim });
  const reports: [number, string, Buffer][] = [
    [8, fbl, padded(complaint, 'no more to say\r\n')],
    [6, attack, padded(dsn(attack, victim), `<${victim}>: 550 5.1.1 no such user\r\n`)],
    [6, 'dmarc@bounce.sandbox.test', padded(zipped, 'H4sIAAAAAAAA\r\n')],
  ];
  for (const [count, address, raw] of reports) {
    for (let at = 0; at < count; at++) await store(address, raw);
  }
}

it('neither stalls the loop nor holds memory, and starves, blocks and pauses nobody', async () => {
  const { app, caller } = world;
  await flood();
  const stored = await unread();
  expect(stored.count).toBe(20);
  expect(stored.bytes).toBeLessThanOrEqual(20 * mb);

  const small = lines('From: bob@b.test', 'Subject: hello', '', 'Hello.', '');
  await app.mime.parse(small);
  const reader = createReportReader(app);
  const stop = watchTurns();
  const reading = reader.readDue();
  await app.mime.parse(small);
  expect((await unread()).count).toBeGreaterThan(15);
  expect(await reading).toBe(20);
  const { longestMs, mostBytes } = stop();
  expect(await unread()).toEqual({ count: 0, bytes: 0 });
  expect(longestMs).toBeLessThan(500);
  expect(mostBytes).toBeLessThan(40 * mb);

  expect(await world.blocked()).toEqual([]);
  expect((await getOrganization(app, caller.organizationId)).sendingStatus).toBe('enabled');
});

it('stored whole by an earlier version is read up to the same limit', async () => {
  const { app } = world;
  const raw = arf('Subject: hello\r\n\r\n');
  await store(fbl, raw);
  await app.store.write((trx) =>
    sql`update inbound_reports set raw = cast(raw || zeroblob(${reportBytes}) as blob)`.execute(
      trx,
    ),
  );
  expect((await unread()).bytes).toBeGreaterThan(reportBytes);
  const [taken] = await app.store.write((trx) => {
    const now = app.clock.now();
    return takeReports(trx, { now, leaseUntil: now, limit: 1 });
  });
  const read = await findReportMail(app.store.db, taken?.id ?? '');
  expect(read?.raw).toHaveLength(mb);
  expect(read?.raw.includes(raw)).toBe(true);
  expect(await createReportReader(app).readDue()).toBe(1);
  expect((await unread()).count).toBe(0);
});
