// A line of the log for each report that was read: what became of it, by ids and counts.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  arf,
  arrives,
  dsn,
  fbl,
  fieldsOf,
  lines,
  type ReportWorld,
  startReportWorld,
} from './report-fixture.ts';

const rua = 'dmarc@bounce.sandbox.test';
const midnight = Date.UTC(2026, 0, 4) / 1_000;
const record = `<record><row><source_ip>192.0.2.1</source_ip><count>9</count><policy_evaluated>
  <disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row>
  <identifiers><header_from>sandbox.test</header_from></identifiers></record>`;

function aggregate(domain: string): Buffer {
  const xml = `<feedback><report_metadata><org_name>Receiver</org_name><report_id>1</report_id>
    <date_range><begin>${midnight}</begin><end>${midnight + 86_399}</end></date_range>
    </report_metadata><policy_published><domain>${domain}</domain><p>none</p></policy_published>
    ${record}</feedback>`;
  return lines(
    ...['From: noreply@receiver.example', `To: ${rua}`, 'Subject: Report', 'MIME-Version: 1.0'],
    ...['Content-Type: application/gzip; name="r.xml.gz"', 'Content-Transfer-Encoding: base64'],
    ...['', gzipSync(xml).toString('base64'), ''],
  );
}

let world: ReportWorld;
let id: string;
let copy: { returnPath: string; raw: Buffer };
let bounced: { returnPath: string; id: string };
const logged: Record<string, unknown>[] = [];
beforeAll(async () => {
  const log = { write: (line: string) => void logged.push(JSON.parse(line)) };
  world = await startReportWorld({ log });
  const first = await world.sent('ada@example.com');
  id = first.id;
  copy = first.copyOf('ada@example.com');
  const second = await world.sent('bob@example.com');
  bounced = { id: second.id, returnPath: second.copyOf('bob@example.com').returnPath };
});
afterAll(() => world.close());

const messageIdField = () => `Message-ID: ${fieldsOf(copy.raw, 'Message-ID')[0]}`;
const applied = { result: 'applied' };
const cases: [string, () => [string, Buffer], () => object][] = [
  [
    'bounce',
    () => [bounced.returnPath, dsn(bounced.returnPath, 'bob@example.com')],
    () => ({ kind: 'bounce', ...applied, messageId: bounced.id, deliveries: 1 }),
  ],
  [
    'repeated bounce',
    () => [bounced.returnPath, dsn(bounced.returnPath, 'bob@example.com')],
    () => ({ kind: 'bounce', ...applied, messageId: bounced.id, deliveries: 0 }),
  ],
  [
    'complaint without a proof',
    () => [fbl, arf(lines('From: a@b.example', messageIdField(), 'Subject: Hello', '', 'Hello'))],
    () => ({ kind: 'complaint', result: 'unproven', messageId: id }),
  ],
  [
    'complaint',
    () => [fbl, arf(copy.raw, { recipient: 'ada@example.com' })],
    () => ({ kind: 'complaint', ...applied, messageId: id, deliveries: 1 }),
  ],
  [
    'complaint that is none',
    () => [fbl, lines('From: a@b.example', `To: ${fbl}`, 'Subject: Hello', '', 'Hello', '')],
    () => ({ kind: 'complaint', result: 'unreadable' }),
  ],
  [
    'DMARC report',
    () => [rua, aggregate('sandbox.test')],
    () => ({ kind: 'dmarc', ...applied, domain: 'sandbox.test', messages: 9 }),
  ],
  [
    'DMARC report on a foreign domain',
    () => [rua, aggregate('foreign.example')],
    () => ({ kind: 'dmarc', result: 'ignored' }),
  ],
];

it.each(cases)('a %s is a line of the log, without an address', async (_, mail, facts) => {
  logged.length = 0;
  await arrives(world.app, ...mail());
  const reports = logged.filter(({ msg }) => msg === 'report');
  const { level, time, reportId, organizationId, msg, ...rest } = reports[0] ?? {};
  expect([reports.length, level, rest]).toEqual([1, 'info', facts()]);
  expect([reportId, organizationId]).toEqual([expect.any(String), world.caller.organizationId]);
  expect([time, msg]).toEqual([expect.any(String), 'report']);
  expect(JSON.stringify(reports)).not.toContain('@');
});
