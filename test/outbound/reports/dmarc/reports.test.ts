// DMARC reports from RCPT to the table: their organization, duplicates, reports without effect, and
// the answers over HTTP and of the command's function.
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../../daemon/http/routes.ts';
import { operatorOf } from '../../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../../src/core/api/route.ts';
import { addDomain } from '../../../../src/identity/domains/domains.ts';
import type { Domain } from '../../../../src/identity/domains/schema.ts';
import { verifyDomain } from '../../../../src/identity/domains/verification.ts';
import { receive } from '../../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../../src/inbox/receiving/resolve.ts';
import { listDmarcReports } from '../../../../src/outbound/reports/dmarc/dmarc-reports.ts';
import { listDmarcReportsQuery } from '../../../../src/outbound/reports/dmarc/dmarc-schema.ts';
import { createReportReader } from '../../../../src/outbound/reports/reports.ts';
import { zip } from '../../../mail/parse/archives.ts';
import { stores } from '../../../support/command.ts';
import { type TestApp, testApp, testStart } from '../../../support/test-app.ts';

const day = 86_400_000;
const midnight = Date.UTC(2026, 0, 4);
const rua = 'dmarc@bounce.acme.example';

interface ReportOptions {
  id?: string;
  domain?: string;
  reporter?: string;
  beginsAt?: number;
  records?: string;
}

function record(ip: string, count: number, dkim: string, spf: string): string {
  return `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated>
    <disposition>none</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row>
    <identifiers><header_from>acme.example</header_from></identifiers></record>`;
}

const mixed = [
  record('192.0.2.1', 90, 'pass', 'fail'),
  record('192.0.2.9', 4, 'fail', 'fail'),
  record('192.0.2.1', 6, 'pass', 'fail'),
].join('');

function feedback(options: ReportOptions = {}): Buffer {
  const { id = '1', domain = 'acme.example', reporter = 'Receiver' } = options;
  const { beginsAt = midnight, records = mixed } = options;
  const begin = beginsAt / 1000;
  return Buffer.from(`<feedback><report_metadata><org_name>${reporter}</org_name>
    <report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${begin + 86_399}</end>
    </date_range></report_metadata><policy_published><domain>${domain}</domain><p>none</p>
    </policy_published>${records}</feedback>`);
}

function mailWith(type: string, filename: string, bytes: Buffer): Buffer {
  const lines = [
    'From: noreply-dmarc@receiver.example',
    `To: ${rua}`,
    'Subject: Report Domain: acme.example',
    'Message-ID: <1@receiver.example>',
    'MIME-Version: 1.0',
    `Content-Type: ${type}; name="${filename}"`,
    `Content-Disposition: attachment; filename="${filename}"`,
    'Content-Transfer-Encoding: base64',
    '',
    bytes.toString('base64').replaceAll(/(.{76})/g, '$1\r\n'),
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

const gzipped = (options?: ReportOptions) =>
  mailWith('application/gzip', 'report.xml.gz', gzipSync(feedback(options)));
const zipped = (options?: ReportOptions) =>
  mailWith(
    'application/zip',
    'report.zip',
    zip([{ name: 'report.xml', content: feedback(options) }]),
  );

describe.each(stores)('DMARC reports on %s', (store) => {
  let service: TestApp;
  let domain: Domain;

  beforeEach(async () => {
    service = await testApp({ store });
    domain = await addVerified(service.operator, 'acme.example');
  });
  afterEach(() => service.close());

  async function addVerified(operator: Caller, name: string): Promise<Domain> {
    const { id } = await addDomain(service.app, operator, { domain: name, dkim: 'ed25519' });
    return verifyDomain(service.app, operator, id, { force: true });
  }

  /** Passes a mail to `address` through the listener and the reader. */
  async function arrives(raw: Buffer, address = rua): Promise<string> {
    const { app } = service;
    const addressee = await resolveAddressee(app, address);
    if (addressee.kind === 'refused') return `${addressee.code}`;
    const envelope = {
      mailFrom: 'noreply-dmarc@receiver.example',
      addressees: [addressee],
      remoteAddress: '127.0.0.1',
      helo: 'mx.receiver.example',
      tls: false,
      protocol: 'ESMTP',
      id: 'test.1',
    };
    const { kind } = await receive(app, envelope, raw);
    const reader = createReportReader(app);
    expect(await reader.readDue()).toBe(1);
    expect(await reader.readDue()).toBe(0);
    return kind;
  }

  const list = (query: Record<string, string> = {}, caller = service.caller, id = domain.id) =>
    listDmarcReports(service.app, caller, id, listDmarcReportsQuery.parse(query));

  it('come to the address of the proposed record', async () => {
    const value = domain.dnsRecords.find(({ purpose }) => purpose === 'dmarc')?.value ?? '';
    const address = /^v=DMARC1; p=none; rua=mailto:(\S+)$/.exec(value)?.[1] ?? '';
    expect(await resolveAddressee(service.app, address)).toMatchObject({
      kind: 'report',
      report: 'dmarc',
      organizationId: service.caller.organizationId,
    });
    expect(await resolveAddressee(service.app, 'dmarc@acme.example')).toMatchObject({
      kind: 'refused',
    });
  });

  it.each([
    ['gzip', gzipped],
    ['zip', zipped],
  ])('in %s are summed up, failing sources first', async (_form, raw) => {
    expect(await arrives(raw())).toBe('stored');
    const judged = { disposition: 'none', spf: 'fail', headerFrom: 'acme.example' };
    const listed = await list();
    expect(listed).toEqual({
      items: [
        {
          id: expect.stringMatching(/^dmr_[0-9a-hjkmnp-tv-z]{24}$/),
          domain: 'acme.example',
          reporter: 'Receiver',
          reportId: '1',
          beginsAt: '2026-01-04T00:00:00.000Z',
          endsAt: '2026-01-04T23:59:59.000Z',
          messages: 100,
          passed: 96,
          failed: 4,
          sources: [
            { ip: '192.0.2.9', count: 4, dkim: 'fail', ...judged },
            { ip: '192.0.2.1', count: 96, dkim: 'pass', ...judged },
          ],
          createdAt: new Date(testStart).toISOString(),
        },
      ],
      pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
      daily: [{ day: '2026-01-04', messages: 100, passed: 96, failed: 4 }],
    });
    const route = routes.find(({ name }) => name === 'listDmarcReports');
    expect(route?.output.parse(listed)).toEqual(listed);
  });

  it('count once when repeated, but again from another reporter', async () => {
    await arrives(gzipped());
    await arrives(zipped());
    await arrives(gzipped({ reporter: 'Other' }));
    const { daily, pagination } = await list();
    expect(pagination.total).toBe(2);
    expect(daily).toEqual([{ day: '2026-01-04', messages: 200, passed: 192, failed: 8 }]);
  });

  it('are paged newest first, with the days of all pages', async () => {
    for (const back of [2, 0, 1, 40]) {
      await arrives(gzipped({ id: `${back}`, beginsAt: midnight - back * day }));
    }
    const { items, pagination, daily } = await list({ limit: '2' });
    expect(items.map(({ reportId }) => reportId)).toEqual(['0', '1']);
    expect(pagination).toMatchObject({ total: 3, totalPages: 2 });
    expect(daily.map((one) => one.day)).toEqual(['2026-01-02', '2026-01-03', '2026-01-04']);
    expect((await list({ days: '60' })).pagination.total).toBe(4);
  });

  it.each([
    ['on a domain without an organization', gzipped({ domain: 'elsewhere.example' })],
    ['from the future', gzipped({ beginsAt: midnight + 10 * day })],
    ['older than 90 days', gzipped({ beginsAt: midnight - 100 * day })],
    ['in damaged gzip', mailWith('application/gzip', 'a.xml.gz', Buffer.from('no gzip'))],
  ])('%s have no effect', async (_what, raw) => {
    expect(await arrives(raw)).toBe('stored');
    expect((await list({ days: '90' })).items).toEqual([]);
  });

  it('on the domain of another organization have no effect for either', async () => {
    const { id } = await createOrganization(service.app, { name: 'other', plan: 'free' });
    const other = operatorOf(id);
    const theirs = await addVerified(other, 'other.example');
    await arrives(gzipped({ domain: 'other.example' }));
    expect((await list({}, other, theirs.id)).items).toEqual([]);
    expect((await list()).items).toEqual([]);
    await expect(list({}, service.caller, theirs.id)).rejects.toMatchObject({
      _tag: 'ResourceNotFoundError',
    });
  });

  it('go to the organization that has proven the domain, even if another one named it first', async () => {
    const { app, operator } = service;
    const { id } = await createOrganization(app, { name: 'other', plan: 'free' });
    await addDomain(app, operator, { domain: 'shared.example', dkim: 'ed25519' });
    const proven = await addVerified(operatorOf(id), 'shared.example');
    await arrives(gzipped({ domain: 'shared.example' }), 'DMARC@bounce.shared.example');
    expect((await list({}, operatorOf(id), proven.id)).items).toHaveLength(1);
  });

  it('are deleted 90 days after their arrival, when the next one comes', async () => {
    await arrives(gzipped());
    await service.clock.advance(91 * day);
    await arrives(gzipped({ id: '2', beginsAt: midnight + 90 * day }));
    const { items } = await list({ days: '90' });
    expect(items.map(({ reportId }) => reportId)).toEqual(['2']);
  });
});
