// DMARC aggregate reports: as XML, gzip and zip, alone and inside mails; bombs.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDmarcMail } from '../../../src/mail/parse/dmarc/dmarc-mail.ts';
import { type DmarcReport, readDmarcReport } from '../../../src/mail/parse/dmarc/dmarc-report.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { zip } from './archives.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

function record(ip = '192.0.2.10', count = 2): string {
  return `<record>
    <row><source_ip>${ip}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf>
        <reason><type>forwarded</type><comment>known &amp; trusted</comment></reason>
      </policy_evaluated></row>
    <identifiers><header_from>Example.com</header_from><envelope_from>rp.example.com</envelope_from></identifiers>
    <auth_results>
      <dkim><domain>example.com</domain><selector>svc1</selector><result>pass</result></dkim>
      <dkim><domain>list.example.org</domain><result>FAIL</result></dkim>
      <spf><domain>rp.example.com</domain><scope>mfrom</scope><result>softfail</result></spf>
    </auth_results>
  </record>`;
}

function feedback(records: string, head = '<?xml version="1.0" encoding="UTF-8" ?>'): string {
  return `${head}
<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">
  <version>1.0</version>
  <report_metadata>
    <org_name>Example &lt;Mail&gt; &#x41;</org_name><email>noreply-dmarc@example.net</email>
    <extra_contact_info>https://example.net/dmarc</extra_contact_info>
    <report_id>4711.example</report_id>
    <date_range><begin>1741046400</begin><end>1741132799</end></date_range>
  </report_metadata>
  <policy_published><domain>example.com</domain><adkim>r</adkim><aspf>s</aspf>
    <p>quarantine</p><sp>reject</sp><pct>100</pct><np>none</np></policy_published>
  ${records}
</feedback>`;
}

const expected: DmarcReport = {
  organizationName: 'Example <Mail> A',
  email: 'noreply-dmarc@example.net',
  reportId: '4711.example',
  beginAt: 1741046400000,
  endAt: 1741132799000,
  policy: {
    domain: 'example.com',
    adkim: 'relaxed',
    aspf: 'strict',
    p: 'quarantine',
    sp: 'reject',
    pct: 100,
  },
  records: [
    {
      sourceIp: '192.0.2.10',
      count: 2,
      disposition: 'none',
      dkim: 'pass',
      spf: 'fail',
      reasons: ['forwarded'],
      headerFrom: 'example.com',
      envelopeFrom: 'rp.example.com',
      dkimResults: [
        { domain: 'example.com', selector: 'svc1', result: 'pass' },
        { domain: 'list.example.org', selector: null, result: 'fail' },
      ],
      spfResults: [{ domain: 'rp.example.com', selector: null, result: 'softfail' }],
    },
  ],
  isTruncated: false,
};

const xml = Buffer.from(feedback(record()));
const name = 'example.net!example.com!1741046400!1741132799.xml';
const packed = zip([{ name, content: xml }]);

describe('an aggregate report', () => {
  it.each([
    ['as XML', xml],
    ['as XML with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), xml])],
    ['as XML in UTF-16', Buffer.from(`\ufeff${xml}`, 'utf16le')],
    ['with gzip', gzipSync(xml)],
    ['with zip, deflated', packed],
    ['with zip, stored', zip([{ name, content: xml, method: 0 }])],
    ['with zip and a comment', zip([{ name, content: xml }], 'a comment')],
    ['with prefixes', Buffer.from(xml.toString().replace(/<(\/?)([a-z])/g, '<$1d:$2'))],
    [
      'with comments and CDATA',
      Buffer.from(
        xml
          .toString()
          .replace('<record>', '<!-- one > two --><record >')
          .replace('4711.example', '<![CDATA[4711.example]]>'),
      ),
    ],
  ])('is read from %s', (_form, bytes) => {
    expect(readDmarcReport(bytes)).toEqual(expected);
  });

  it('may have no records', () => {
    expect(readDmarcReport(Buffer.from(feedback('')))).toEqual({ ...expected, records: [] });
  });

  it('leaves out records without an address or a count', () => {
    const records = [record('no address'), record('2001:db8::1', 7), record('192.0.2.1', -1)];
    const report = readDmarcReport(Buffer.from(feedback(records.join(''))));
    expect(report?.records.map(({ sourceIp, count }) => [sourceIp, count])).toEqual([
      ['2001:db8::1', 7],
    ]);
  });

  it('keeps the first 10,000 records', () => {
    const report = readDmarcReport(gzipSync(feedback(record().repeat(10_001))));
    expect(report?.records).toHaveLength(10_000);
    expect(report?.isTruncated).toBe(true);
    const full = readDmarcReport(gzipSync(feedback(record().repeat(10_000))));
    expect(full?.isTruncated).toBe(false);
  });
});

describe('a refused report', () => {
  const doctype = '<!DOCTYPE feedback [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>';
  const nested = `${'<a>'.repeat(40)}${'</a>'.repeat(40)}`;
  it.each([
    ['a DTD', feedback(record(), doctype)],
    ['a custom entity', feedback(record()).replace('4711.example', '&b;')],
    ['an entity without its end', feedback(record()).replace('4711.example', 'a & b')],
    ['a character beyond Unicode', feedback(record()).replace('4711', '&#x110000;')],
    ['elements 40 deep', feedback(nested)],
    ['a second root', `${feedback(record())}<feedback/>`],
    ['text after the root', `${feedback(record())}more`],
    ['an end tag without its start', feedback(record()).replace('</row>', '</cell>')],
    ['another root', feedback(record()).replaceAll('feedback', 'report')],
    ['a record of 1,000 elements', feedback(`<record>${'<a/>'.repeat(1000)}</record>`)],
    ['no policy', feedback(record()).replace(/<policy_published>.*<\/policy_published>/s, '')],
    ['no report id', feedback(record()).replace(/<report_id>.*<\/report_id>/, '')],
    ['an invalid date', feedback(record()).replace('1741046400', 'yesterday')],
    ['nothing', ''],
    ['HTML', '<html><body>Report</body></html>'],
  ])('has %s', (_what, source) => {
    expect(readDmarcReport(Buffer.from(source))).toBeNull();
  });

  it.each([
    [
      'a zip with two files',
      zip([
        { name, content: xml },
        { name: 'b.xml', content: xml },
      ]),
    ],
    ['a zip with no file', zip([])],
    ['an encrypted zip', zip([{ name, content: xml, flags: 1 }])],
    ['a zip that lies about the size', zip([{ name, content: xml, bytes: 10 }])],
    ['a zip with changed content', flip(zip([{ name, content: xml, method: 0 }]), 200)],
    ['a zip without its end', packed.subarray(0, -30)],
    ['a gzip without its end', gzipSync(xml).subarray(0, -10)],
    ['a zip bomb', zip([{ name, content: Buffer.alloc(11 * 1024 * 1024) }])],
    ['a zip bomb that lies', zip([{ name, content: Buffer.alloc(11 * 1024 * 1024), bytes: 100 }])],
    ['a gzip bomb', gzipSync(Buffer.alloc(200 * 1024 * 1024))],
    ['more than 10 MB', Buffer.alloc(10 * 1024 * 1024 + 1, 0x20)],
  ])('is %s', (_what, bytes) => {
    const started = startWork();
    expect(readDmarcReport(bytes)).toBeNull();
    expect(workedMs(started)).toBeLessThan(500);
  });

  it.each(['<', '<a ', '<a b="', '&', '&amp;', '<a>', '<!--', '<a/>', 'x', ']]>', '<?', '< '])(
    'is 10 MB of %j, within bounded time',
    (piece) => {
      const bytes = Buffer.from(`<feedback>${piece.repeat(10_000_000 / piece.length)}`);
      const started = startWork();
      expect(readDmarcReport(bytes)).toBeNull();
      expect(workedMs(started)).toBeLessThan(2000);
    },
  );

  it('has a million elements beside those of a report', () => {
    const padded = (count: number) =>
      readDmarcReport(
        Buffer.from(xml.toString().replace('</feedback>', `${'<a/>'.repeat(count)}</feedback>`)),
      );
    expect(padded(1_000)).not.toBeNull();
    expect(padded(1_000_000)).toBeNull();
  });

  function flip(bytes: Buffer, at: number): Buffer {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    return changed;
  }
});

describe('a mail with a report', () => {
  const header = [
    'From: noreply-dmarc@example.net',
    'To: rua@example.com',
    'Subject: Report Domain: example.com Submitter: example.net Report-ID: 4711',
    'Message-ID: <dmarc-1@example.net>',
    'MIME-Version: 1.0',
  ];
  const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/(.{76})/g, '$1\r\n');

  it.each([
    ['application/zip', `${name}.zip`, packed],
    ['application/gzip', `${name}.gz`, gzipSync(xml)],
    ['application/octet-stream', `${name}.gz`, gzipSync(xml)],
    ['text/xml', name, xml],
  ])('may be a single part of type %s', async (type, filename, bytes) => {
    const lines = [
      ...header,
      `Content-Type: ${type}; name="${filename}"`,
      `Content-Disposition: attachment; filename="${filename}"`,
      'Content-Transfer-Encoding: base64',
    ];
    const raw = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${base64(bytes)}\r\n`);
    expect(await readDmarcMail(raw, await parseMime(raw))).toEqual(expected);
  });

  it('may have other parts', async () => {
    const part = (lines: string[], body: string) =>
      `--b\r\n${lines.join('\r\n')}\r\n\r\n${body}\r\n`;
    const attached = (type: string, filename: string, bytes: Buffer) =>
      part(
        [
          `Content-Type: ${type}`,
          `Content-Disposition: attachment; filename="${filename}"`,
          'Content-Transfer-Encoding: base64',
        ],
        base64(bytes),
      );
    const body = [
      part(['Content-Type: text/plain'], 'This is an aggregate report.'),
      attached('image/png', 'logo.png', Buffer.from('png')),
      attached('application/gzip', 'other.gz', gzipSync('no report')),
      attached('application/gzip', `${name}.gz`, gzipSync(xml)),
      '--b--\r\n',
    ].join('');
    const lines = [...header, 'Content-Type: multipart/mixed; boundary=b'];
    const raw = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
    expect(await readDmarcMail(raw, await parseMime(raw))).toEqual(expected);
  });

  it('without attachments has no report', async () => {
    const raw = Buffer.from(`${header.join('\r\n')}\r\n\r\n${xml}`);
    expect(await readDmarcMail(raw, await parseMime(raw))).toBeNull();
  });
});

describe(`a damaged report (seed ${seed})`, () => {
  it('never makes the reader throw', () => {
    const damaged = fc
      .record({
        source: fc.constantFrom(
          xml,
          gzipSync(xml),
          packed,
          zip([{ name, content: xml, method: 0 }]),
        ),
        edits: fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 6 })), {
          maxLength: 8,
        }),
        end: fc.double({ min: 0.2, max: 1.5, noNaN: true }),
      })
      .map(({ source, edits, end }) => {
        const raw = Buffer.from(source);
        for (const [at, bytes] of edits) raw.set(bytes, at % (raw.length - 6));
        return raw.subarray(0, Math.ceil(raw.length * Math.min(end, 1)));
      });
    fc.assert(
      fc.property(damaged, (bytes) => {
        const report = readDmarcReport(bytes);
        expect(JSON.parse(JSON.stringify(report))).toEqual(report);
      }),
      { seed, numRuns: Number(process.env.TEST_RUNS ?? 1000) },
    );
  });
});
