// The text of svc domains reports: the rate, the bars, a line for each report, and the failing
// sources.
import { afterEach, beforeAll, expect, it } from 'vitest';
import {
  type DmarcReportRow,
  insertDmarcReport,
} from '../../../../src/outbound/reports/dmarc/dmarc-queries.ts';
import type { DmarcReportPage } from '../../../../src/outbound/reports/dmarc/dmarc-schema.ts';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
import { openStore } from '../../../../src/platform/store/open.ts';
import { type CliWorkspace, initializedWorkspace } from '../../../support/cli.ts';

const day = 86_400_000;
/** Midnight two days ago: the command looks back from the real time. */
const monday = Math.floor(systemClock.now() / day) * day - 2 * day;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

let cli: CliWorkspace;
let organizationId: string;
let stored = 0;

beforeAll(async () => {
  cli = await initializedWorkspace();
  await cli.run(['domains', 'add', 'acme.example']);
  const { items } = await cli.json<{ items: { id: string }[] }>(['orgs', 'list']);
  organizationId = items[0]?.id ?? '';
  return () => cli.close();
});

/** Stores reports as their reader would. */
async function store(...reports: Partial<DmarcReportRow>[]): Promise<void> {
  const opened = await openStore({ url: 'sqlite:svc.db' }, cli.env.SVC_DATA_DIR ?? '', systemClock);
  try {
    for (const report of reports) {
      stored += 1;
      const beginsAt = report.begins_at ?? monday;
      const row = {
        id: `dmr_${String(stored).padStart(24, '0')}`,
        organization_id: organizationId,
        domain: 'acme.example',
        reporter: 'google.com',
        report_id: `${stored}`,
        begins_at: beginsAt,
        ends_at: beginsAt + day - 1_000,
        messages: 0,
        passed: 0,
        failed: 0,
        sources: '[]',
        created_at: beginsAt + day,
        ...report,
      };
      await opened.write((trx) => insertDmarcReport(trx, row));
    }
  } finally {
    await opened.close();
  }
}

function failing(...ips: string[]): string {
  const judged = { disposition: 'none', dkim: 'fail', spf: 'fail', headerFrom: 'acme.example' };
  return JSON.stringify(ips.map((ip, index) => ({ ip, count: 9 - index, ...judged })));
}

afterEach(async () => {
  const opened = await openStore({ url: 'sqlite:svc.db' }, cli.env.SVC_DATA_DIR ?? '', systemClock);
  const { deleteDmarcReportsBefore } = await import(
    '../../../../src/outbound/reports/dmarc/dmarc-queries.ts'
  );
  await opened.write((trx) =>
    deleteDmarcReportsBefore(trx, organizationId, Number.MAX_SAFE_INTEGER),
  );
  await opened.close();
});

async function shown(...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli.run(['domains', 'reports', 'acme.example', ...flags]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

it('names the address for reports before the first one', async () => {
  expect(await shown()).toBe(
    'No DMARC reports in the last 30 days. Receivers send them to the rua address of the DMARC record: svc domains dns\n',
  );
  expect(await shown('--days', '7')).toMatch(/^No DMARC reports in the last 7 days\./);
});

it('begins with the rate over all days and its bars, from the first day to the last', async () => {
  await store(
    { messages: 100, passed: 100 },
    { begins_at: monday + day, messages: 300, passed: 150, failed: 150 },
  );
  const [head] = (await shown()).split('\n');
  expect(head).toBe(`62.5% of 400 messages passed  ${dayOf(monday)} █▅ ${dayOf(monday + day)}`);
});

it('prints day, reporter, messages, rate and failing sources of each report', async () => {
  await store(
    { messages: 1_000, passed: 999, failed: 1, sources: failing('192.0.2.9') },
    {
      reporter: 'Yahoo',
      begins_at: monday + day,
      messages: 30,
      passed: 0,
      failed: 30,
      sources: failing('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '2001:db8::5'),
    },
    { reporter: 'nobody.example', begins_at: monday - day },
  );
  const lines = (await shown()).split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim());
  expect(lines).toContain(`${dayOf(monday)} google.com 1000 99.9% 192.0.2.9 (9)`);
  expect(lines).toContain(
    `${dayOf(monday + day)} Yahoo 30 0.0% 192.0.2.1 (9), 192.0.2.2 (8), 192.0.2.3 (7) and 2 more`,
  );
  expect(lines.find((line) => line.includes('nobody.example'))).toMatch(/nobody\.example 0 -/);
});

it('never rounds a rate up to 100 %', async () => {
  await store({ messages: 100_000, passed: 99_999, failed: 1, sources: failing('192.0.2.9') });
  expect(await shown()).toMatch(/^99\.9% of 100000 messages passed/);
});

it('prints the name of a reporter without control characters', async () => {
  await store({ reporter: 'evil\u001b[2J\u0007', messages: 1, passed: 1 });
  const text = await shown();
  expect(text).toContain('evil');
  const isControl = (character: string) => character < ' ' && character !== '\n';
  expect([...text].filter(isControl)).toEqual([]);
});

it('mentions further pages under a head that covers all of them', async () => {
  await store(
    ...Array.from({ length: 3 }, (_, index) => ({
      begins_at: monday - index * day,
      messages: 10,
      passed: 5,
      failed: 5,
    })),
  );
  const first = await shown('--limit', '2');
  expect(first).toMatch(/^50\.0% of 30 messages passed/);
  expect(first).toMatch(/\n\nPage 1 of 2, 3 in all\.\n$/);
  const last = await shown('--limit', '2', '--page', '2');
  expect(last).toContain(dayOf(monday - 2 * day));
  expect(last).toContain('Page 2 of 2');
  const past = await shown('--limit', '2', '--page', '9');
  expect(past).toMatch(/Page 9 of 2, 3 in all\.\n$/);
  const json = await cli.json<DmarcReportPage>(['domains', 'reports', 'acme.example']);
  expect(json.pagination.total).toBe(3);
});
