// The diagnoses of wrong records: code and sentence. Each case changes a zone that is right, on a
// DNS server of loopback; the name servers of the zone are a second one.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkRecords } from '../../../src/identity/domains/check-records.ts';
import { diagnosisCodes } from '../../../src/identity/domains/diagnoses/codes.ts';
import { addDomain, getDomainRows } from '../../../src/identity/domains/domains.ts';
import type { DnsRecord, Domain } from '../../../src/identity/domains/schema.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';

const mailHost = 'mail.host.example';
const name = 'acme.example';
const rsaName = `svc1rsa._domainkey.${name}`;
const bounce = `bounce.${name}`;
const dmarcName = `_dmarc.${name}`;
const spf = `v=spf1 a:${mailHost} ~all`;
/** Address of the zone's name servers; the app is told which server that is. */
const authorityAddress = '198.51.100.53';

let test: TestApp;
let domain: Domain;
let dns: DnsServer;
let authority: DnsServer;

beforeAll(async () => {
  test = await testApp({
    config: {
      delivery: { hostname: mailHost, relay: { host: 'relay.example' } },
      dns: { servers: ['127.0.0.1:1'] },
    },
    nameServerAt: (address) => (address === authorityAddress ? authority.address : null),
  });
  domain = await addDomain(test.app, test.caller, { domain: name });
});
afterAll(() => test.close());
beforeEach(async () => {
  dns = await startDnsServer();
  authority = await startDnsServer();
  (test.app.config.dns.servers as string[]).splice(0, 9, dns.address);
  for (const server of [dns, authority]) publish(server, domain.dnsRecords);
  dns.set(name, 'NS', ['ns1.provider.example']);
  dns.set('ns1.provider.example', 'A', [authorityAddress]);
  dns.set(mailHost, 'A', ['203.0.113.25']);
});
afterEach(async () => {
  Object.assign(test.app.config.delivery, { mode: 'capture' });
  await dns.close();
  await authority.close();
});

function publish(
  server: DnsServer,
  records: readonly Pick<DnsRecord, 'type' | 'name' | 'value'>[],
) {
  for (const record of records) {
    if (record.type === 'TXT') server.set(record.name, 'TXT', [record.value]);
    else if (record.type === 'MX') server.set(record.name, 'MX', [mx(record.value)]);
  }
}

function mx(value: string) {
  const [preference, exchange = ''] = value.split(' ');
  return { preference: Number(preference), exchange };
}

/** Sets a TXT record at the resolver and at the name servers. */
const txt = (at: string, ...values: string[]) => {
  for (const server of [dns, authority]) server.set(at, 'TXT', values);
};
const mxAt = (at: string, ...values: string[]) => {
  for (const server of [dns, authority]) server.set(at, 'MX', values.map(mx));
};
/** Takes the records of a name and type out everywhere. */
const gone = (at: string, type: 'TXT' | 'MX') => {
  for (const server of [dns, authority]) server.set(at, type, []);
};
const check = () => passingTime(test.clock, verifyDomain(test.app, test.caller, domain.id));
const of = ({ dnsRecords }: Domain, purpose: string, type = 'TXT', at = 0) =>
  dnsRecords.filter((record) => record.purpose === purpose && record.type === type)[at];
const rsaValue = () => of(domain, 'dkim')?.value ?? '';
const edValue = () => of(domain, 'dkim', 'TXT', 1)?.value ?? '';

interface Case {
  code: (typeof diagnosisCodes)[number];
  what: string;
  /** Purpose and type of the record in question. */
  of: [purpose: string, type: 'TXT' | 'MX'];
  change: () => void;
  status: DnsRecord['status'];
  says: string;
  remedy: RegExp;
}

const dkim: [string, 'TXT'] = ['dkim', 'TXT'];
const returnPath: [string, 'MX'] = ['return-path', 'MX'];
const spfOf: [string, 'TXT'] = ['spf', 'TXT'];
const dmarc: [string, 'TXT'] = ['dmarc', 'TXT'];

const cases: Case[] = [
  {
    code: 'missing',
    what: 'a record that was not published',
    of: dkim,
    change: () => gone(rsaName, 'TXT'),
    status: 'missing',
    says: `there is no TXT record of ${rsaName}`,
    remedy: /^Publish the record/,
  },
  {
    code: 'doubled-name',
    what: 'a provider that appended the domain',
    of: dkim,
    change: () => {
      gone(rsaName, 'TXT');
      txt(`${rsaName}.${name}`, rsaValue());
    },
    status: 'missing',
    says: `the record stands at ${rsaName}.${name}: the provider appended the domain once more`,
    remedy: /Enter the name as "svc1rsa\._domainkey"/,
  },
  {
    code: 'doubled-name',
    what: 'a return path at the doubled name',
    of: returnPath,
    change: () => {
      gone(bounce, 'MX');
      mxAt(`${bounce}.${name}`, `10 ${mailHost}`);
    },
    status: 'missing',
    says: `the record stands at ${bounce}.${name}: the provider appended the domain once more`,
    remedy: /Enter the name as "bounce"/,
  },
  {
    code: 'at-apex',
    what: 'a key at the domain itself',
    of: dkim,
    change: () => {
      gone(rsaName, 'TXT');
      txt(name, spf, rsaValue());
    },
    status: 'missing',
    says: `the record stands at ${name} itself, not at ${rsaName}`,
    remedy: /Move it/,
  },
  {
    code: 'at-apex',
    what: 'a DMARC record at the domain itself',
    of: dmarc,
    change: () => {
      gone(dmarcName, 'TXT');
      txt(name, spf, 'v=DMARC1; p=none');
    },
    status: 'missing',
    says: `the record stands at ${name} itself, not at ${dmarcName}`,
    remedy: /Move it/,
  },
  {
    code: 'wrong-label',
    what: 'a key without _domainkey in its name',
    of: dkim,
    change: () => {
      gone(rsaName, 'TXT');
      txt(`svc1rsa.${name}`, rsaValue());
    },
    status: 'missing',
    says: `the record stands at svc1rsa.${name}, not at ${rsaName}`,
    remedy: /Move it/,
  },
  {
    code: 'wrong-label',
    what: 'a DMARC record one label too low',
    of: dmarc,
    change: () => {
      gone(dmarcName, 'TXT');
      txt(`_dmarc.mail.${name}`, 'v=DMARC1; p=none');
    },
    status: 'missing',
    says: `the record stands at _dmarc.mail.${name}, not at ${dmarcName}`,
    remedy: /Move it/,
  },
  {
    code: 'quoted',
    what: 'quotes in the value',
    of: dkim,
    change: () => txt(rsaName, `"${rsaValue()}"`),
    status: 'invalid',
    says: 'the value has quotes, backslashes or the word TXT in it',
    remedy: /Paste the value alone/,
  },
  {
    code: 'quoted',
    what: 'a pasted line of a zone file',
    of: dkim,
    change: () => txt(rsaName, `IN TXT "${rsaValue().replaceAll(';', '\\;')}"`),
    status: 'invalid',
    says: 'the value has quotes, backslashes or the word TXT in it',
    remedy: /Paste the value alone/,
  },
  {
    code: 'split-records',
    what: 'a key in two records',
    of: dkim,
    change: () => txt(rsaName, rsaValue().slice(255), rsaValue().slice(0, 255)),
    status: 'invalid',
    says: 'the key is split into 2 TXT records, which receivers read one by one',
    remedy: /one TXT record/,
  },
  {
    code: 'truncated',
    what: 'a key that a form cut off',
    of: dkim,
    change: () => txt(rsaName, rsaValue().slice(0, 255)),
    status: 'invalid',
    says: 'the key is cut off after 237 of 392 characters',
    remedy: /whole value/,
  },
  {
    code: 'other-key',
    what: 'a key of somebody else',
    of: dkim,
    change: () => txt(rsaName, 'v=DKIM1; k=rsa; p=theirs'),
    status: 'invalid',
    says: 'the record publishes another key',
    remedy: /value that is shown here/,
  },
  {
    code: 'revoked',
    what: 'a revoked key',
    of: dkim,
    change: () => txt(rsaName, 'v=DKIM1; k=rsa; p='),
    status: 'invalid',
    says: 'the record revokes the key (empty p=)',
    remedy: /value that is shown here/,
  },
  {
    code: 'wrong-key-type',
    what: 'a key of the other kind',
    of: dkim,
    change: () => txt(rsaName, edValue()),
    status: 'invalid',
    says: 'the record is not of type k=rsa',
    remedy: /begins with v=DKIM1; k=rsa/,
  },
  {
    code: 'unreadable-key',
    what: 'a text that is no key',
    of: dkim,
    change: () => txt(rsaName, 'hello'),
    status: 'invalid',
    says: 'the record has no p= tag',
    remedy: /value that is shown here/,
  },
  {
    code: 'testing-flag',
    what: 'a key in testing mode',
    of: dkim,
    change: () => txt(rsaName, rsaValue().replace('k=rsa;', 'k=rsa; t=s:y;')),
    status: 'valid',
    says: 'the key is marked as a test (t=y): receivers may treat its mail as unsigned',
    remedy: /Remove t=y/,
  },
  {
    code: 'wildcard',
    what: 'a wildcard that answers for every name',
    of: dkim,
    change: () => {
      txt(rsaName, 'v=spf1 -all');
      dns.wildcard(`_domainkey.${name}`, 'TXT', ['v=spf1 -all']);
    },
    status: 'invalid',
    says: `a wildcard record (*._domainkey.${name}) answers for every name, ${rsaName} too`,
    remedy: /takes precedence/,
  },
  {
    code: 'stale-cache',
    what: 'an old answer in a cache',
    of: dkim,
    change: () => dns.set(rsaName, 'TXT', ['v=DKIM1; k=rsa; p=old'], { ttlSeconds: 900 }),
    status: 'invalid',
    says: `the name servers of ${name} have the right record; the DNS servers that we ask still keep an older answer`,
    remedy: /ends in 15 minutes/,
  },
  {
    code: 'delegated',
    what: 'names that another provider has',
    of: dkim,
    change: () => {
      gone(rsaName, 'TXT');
      dns.set(`_domainkey.${name}`, 'NS', ['ns.keys.example']);
      dns.set('ns.keys.example', 'A', [authorityAddress]);
    },
    status: 'missing',
    says: `_domainkey.${name} is delegated to other name servers (ns.keys.example), where the record is missing`,
    remedy: /remove the NS records of _domainkey/,
  },
  {
    code: 'lame-delegation',
    what: 'name servers that do not know the zone',
    of: dkim,
    change: () => {
      dns.fault(rsaName, 'servfail');
      authority.fault(rsaName, 'refused');
    },
    status: 'pending',
    says: `the name servers of ${name} (ns1.provider.example) do not know the zone`,
    remedy: /At the registrar/,
  },
  {
    code: 'lame-delegation',
    what: 'name servers without an address',
    of: dkim,
    change: () => {
      gone(rsaName, 'TXT');
      dns.set('ns1.provider.example', 'A', []);
    },
    status: 'missing',
    says: `the name servers of ${name} (ns1.provider.example) have no address`,
    remedy: /At the registrar/,
  },
  {
    code: 'dnssec-bogus',
    what: 'wrong DNSSEC signatures',
    of: dkim,
    change: () => dns.fault(rsaName, 'bogus'),
    status: 'pending',
    says: `the DNSSEC signatures of ${name} are wrong, so DNS servers that check them give no answer`,
    remedy: /DS record/,
  },
  {
    code: 'no-domain',
    what: 'a domain that does not exist',
    of: dkim,
    change: () => {
      for (const one of [name, rsaName]) dns.fault(one, 'nxdomain');
    },
    status: 'missing',
    says: `${name} does not exist in DNS: it is not registered, or its registration has expired`,
    remedy: /Register or renew/,
  },
  {
    code: 'unanswered',
    what: 'a resolver that fails',
    of: dkim,
    change: () => {
      dns.fault(rsaName, 'servfail');
      dns.set(name, 'NS', []);
    },
    status: 'pending',
    says: `TXT ${rsaName}: SERVFAIL from `,
    remedy: /dns\.servers/,
  },
  {
    code: 'proxied',
    what: 'a return path behind a CDN',
    of: returnPath,
    change: () => {
      gone(bounce, 'MX');
      dns.set(bounce, 'A', ['104.16.1.2']);
    },
    status: 'missing',
    says: `${bounce} is proxied by a CDN (104.16.1.2), which hides its other records and takes no mail`,
    remedy: /DNS only/,
  },
  {
    code: 'cname-and-other',
    what: 'a CNAME at the return path',
    of: returnPath,
    change: () => {
      gone(bounce, 'MX');
      dns.fault(bounce, 'alias');
    },
    status: 'missing',
    says: `${bounce} is an alias of alias.${bounce}: no other record may stand beside a CNAME (RFC 1034 3.6.2)`,
    remedy: /Delete the CNAME/,
  },
  {
    code: 'cname-and-other',
    what: 'a CNAME beside an MX that answers',
    of: returnPath,
    change: () => dns.set(bounce, 'CNAME', ['other.example']),
    status: 'valid',
    says: `${bounce} has a CNAME to other.example beside its MX`,
    remedy: /^Delete the CNAME\.$/,
  },
  {
    code: 'mx-address',
    what: 'an MX to an address',
    of: returnPath,
    change: () => mxAt(bounce, '10 203.0.113.25'),
    status: 'invalid',
    says: 'the MX names the address 203.0.113.25; it must name a host (RFC 5321 5.1)',
    remedy: /Replace the record/,
  },
  {
    code: 'mx-cname',
    what: 'an MX to an alias',
    of: returnPath,
    change: () => {
      mxAt(bounce, '10 alias.example');
      dns.set('alias.example', 'CNAME', [mailHost]);
    },
    status: 'invalid',
    says: 'the MX names alias.example, which is a CNAME; it must name a host with addresses (RFC 2181 10.3)',
    remedy: /A and AAAA records/,
  },
  {
    code: 'mx-localhost',
    what: 'an MX to localhost',
    of: returnPath,
    change: () => mxAt(bounce, '10 localhost'),
    status: 'invalid',
    says: 'the MX names localhost, which is another machine for everybody',
    remedy: /delivery\.hostname/,
  },
  {
    code: 'null-mx',
    what: 'a null MX',
    of: returnPath,
    change: () => mxAt(bounce, '0 .'),
    status: 'invalid',
    says: `${bounce} says that it receives no mail (null MX, RFC 7505), so no bounce can come back`,
    remedy: /Replace the record/,
  },
  {
    code: 'other-hosts',
    what: 'an MX to others',
    of: returnPath,
    change: () => mxAt(bounce, '10 mx.other.example'),
    status: 'invalid',
    says: `mail goes to other hosts than ${mailHost}`,
    remedy: /Replace the record/,
  },
  {
    code: 'hostname-unresolved',
    what: 'a mail host without an address',
    of: returnPath,
    change: () => dns.set(mailHost, 'A', []),
    status: 'valid',
    says: `${mailHost} has no address, so no bounce can come back`,
    remedy: /A or AAAA record/,
  },
  {
    code: 'multiple-spf',
    what: 'two SPF records',
    of: spfOf,
    change: () => txt(name, spf, 'v=spf1 include:other.example ~all'),
    status: 'invalid',
    says: 'there is more than one SPF record (RFC 7208 4.5)',
    remedy: /Replace all of them/,
  },
  {
    code: 'too-many-lookups',
    what: 'an SPF record over ten look-ups',
    of: spfOf,
    change: () => {
      txt(name, `v=spf1 a:${mailHost} include:one.example include:two.example ~all`);
      dns.set('one.example', 'TXT', ['v=spf1 a:a.example mx:a.example include:three.example ~all']);
      dns.set('two.example', 'TXT', ['v=spf1 redirect=three.example']);
      dns.set('three.example', 'TXT', ['v=spf1 a:a.example mx:a.example a:b.example ptr ~all']);
      for (const one of ['a.example', 'b.example']) dns.set(one, 'A', ['192.0.2.1']);
      dns.set('a.example', 'MX', [mx('10 a.example')]);
    },
    status: 'invalid',
    says: 'the record needs more than 10 DNS look-ups, so receivers do not use it (RFC 7208 4.6.4)',
    remedy: /Remove each include/,
  },
  {
    code: 'void-lookups',
    what: 'an SPF record with names that do not exist',
    of: spfOf,
    change: () => txt(name, `v=spf1 a:${mailHost} a:x.example mx:y.example include:z.example ~all`),
    status: 'invalid',
    says: '3 names in the record do not exist; receivers allow 2 (RFC 7208 4.6.4)',
    remedy: /Remove the mechanisms/,
  },
  {
    code: 'pass-all',
    what: 'an SPF record for everybody',
    of: spfOf,
    change: () => txt(name, `v=spf1 a:${mailHost} +all`),
    status: 'valid',
    says: 'the record ends in +all: everybody may send in the name of the domain',
    remedy: /~all/,
  },
  {
    code: 'after-all',
    what: 'our mechanism behind all',
    of: spfOf,
    change: () => txt(name, `v=spf1 include:other.example -all a:${mailHost}`),
    status: 'invalid',
    says: `a:${mailHost} stands behind "-all", where receivers stop reading`,
    remedy: /beginning of the record/,
  },
  {
    code: 'spf-type',
    what: 'a record of the type SPF',
    of: spfOf,
    change: () => {
      gone(name, 'TXT');
      dns.set(name, 'SPF', [spf]);
    },
    status: 'missing',
    says: 'the record is of the type SPF, which receivers stopped reading in 2014 (RFC 7208 3.1)',
    remedy: /type TXT/,
  },
  {
    code: 'no-mechanism',
    what: 'an SPF record of another service',
    of: spfOf,
    change: () => txt(name, 'v=spf1 mx ~all'),
    status: 'invalid',
    says: `the record does not name a:${mailHost}; it is enough only if it covers the same addresses in another way`,
    remedy: /keeps all of it/,
  },
  {
    code: 'relay-spf',
    what: 'a smarthost without a known mechanism',
    of: spfOf,
    change: () => Object.assign(test.app.config.delivery, { mode: 'relay' }),
    status: 'pending',
    says: 'mail leaves by the smarthost relay.example, and delivery.relay.spf does not name',
    remedy: /^Set delivery\.relay\.spf/,
  },
  {
    code: 'multiple-dmarc',
    what: 'two DMARC records',
    of: dmarc,
    change: () => txt(dmarcName, 'v=DMARC1; p=none', 'v=DMARC1; p=reject'),
    status: 'invalid',
    says: 'there is more than one DMARC record (RFC 7489 6.6.3)',
    remedy: /Replace all of them/,
  },
  {
    code: 'dmarc-no-policy',
    what: 'a DMARC record without a policy',
    of: dmarc,
    change: () => txt(dmarcName, 'v=DMARC1; rua=mailto:a@acme.example'),
    status: 'invalid',
    says: 'the record has no p= tag of none, quarantine or reject',
    remedy: /p=none/,
  },
  {
    code: 'alignment',
    what: 'strict alignment of SPF',
    of: dmarc,
    change: () => txt(dmarcName, 'v=DMARC1; p=none; aspf=s'),
    status: 'valid',
    says: `aspf=s asks for a return path at ${name} itself, so SPF never counts for our mail`,
    remedy: /Remove aspf=s/,
  },
  {
    code: 'rua-consent',
    what: 'reports to a domain that did not agree',
    of: dmarc,
    change: () => txt(dmarcName, 'v=DMARC1; p=none; rua=mailto:d@reports.other.net'),
    status: 'valid',
    says: 'reports.other.net has not agreed to get reports on this domain, so receivers send it none (RFC 7489 7.1)',
    remedy: /acme\.example\._report\._dmarc\.reports\.other\.net/,
  },
];

describe('a check of records', () => {
  it('says nothing about a zone that is right', async () => {
    const { dnsRecords, status } = await check();
    expect(status).toBe('verified');
    for (const { error, diagnosis } of dnsRecords) expect([error, diagnosis]).toEqual([null, null]);
  });

  it.each(cases)('finds $code: $what', async ({ code, of: [purpose, type], change, ...wanted }) => {
    change();
    const record = of(await check(), purpose, type);
    expect(record?.diagnosis).toEqual({ code, remedy: expect.stringMatching(wanted.remedy) });
    expect(record?.status).toBe(wanted.status);
    expect(record?.error?.slice(0, wanted.says.length)).toBe(wanted.says);
  });

  it('has a case for each code', () => {
    expect([...new Set(cases.map(({ code }) => code))].sort()).toEqual([...diagnosisCodes].sort());
  });

  it('names the selector whose key stands at a name', async () => {
    const { dkimKeys } = domain;
    expect(dkimKeys.map(({ selector }) => selector)).toEqual(['svc1rsa', 'svc1ed']);
    txt(`svc1ed._domainkey.${name}`, edValue().replace(/p=.*/, `p=${dkimKeys[0]?.publicKey}`));
    expect(of(await check(), 'dkim', 'TXT', 1)?.error).toBe(
      'the record publishes the key of the selector svc1rsa',
    );
  });

  it('lets the resolver decide after 3 s where the name servers are silent, and says so', async () => {
    gone(rsaName, 'TXT');
    authority.fault(rsaName, 'timeout');
    // Time passes only after the question to the silent server.
    const checking = verifyDomain(test.app, test.caller, domain.id);
    await vi.waitFor(() => expect(authority.queries.map((query) => query.name)).toContain(rsaName));
    await test.clock.advance(3_000);
    const record = of(await checking, 'dkim');
    expect(record?.error).toBe(
      `there is no TXT record of ${rsaName} (the name servers of ${name} did not answer in 3 s: ` +
        'this is the answer of our DNS servers)',
    );
  });

  it('asks nothing twice, and no address that it must not ask', async () => {
    gone(rsaName, 'TXT');
    gone(bounce, 'MX');
    gone(dmarcName, 'TXT');
    txt(name, `v=spf1 a:${mailHost} include:a.example include:b.example +all`);
    dns.set('a.example', 'TXT', ['v=spf1 include:b.example include:a.example ~all']);
    dns.set('b.example', 'TXT', ['v=spf1 include:a.example ~all']);
    await check();
    for (const server of [dns, authority]) {
      const asked = server.queries.map((query) => `${query.type} ${query.name}`);
      expect(asked.filter((one, at) => asked.indexOf(one) !== at)).toEqual([]);
      expect(asked.length).toBeLessThan(100);
    }
    dns.set('ns1.provider.example', 'A', ['127.0.0.1']);
    const before = authority.queries.length;
    await check();
    expect(authority.queries.length).toBe(before);
  });
});

describe('any zone', () => {
  const faults = [
    'servfail',
    'bogus',
    'refused',
    'nxdomain',
    'timeout',
    'malformed',
    'loop',
    'alias',
  ] as const;
  const texts = [
    '',
    'v=spf1 '.repeat(60),
    `v=spf1 ${'include:a.example '.repeat(20)}`,
    'v=spf1 include:%{i}.x redirect=acme.example',
    'v=DMARC1; p=none; rua=mailto:@,mailto:a@b!10m,mailto:x@,,,',
    'v=DKIM1; p=; t=y; =; ;;;',
    '"v=DKIM1; k=rsa; p=abc"',
    '\u0000\u0001',
  ];

  it('neither makes a check throw nor lets it take over 10 s', async () => {
    const seed = Number(process.env.ZONE_SEED ?? Math.floor(Math.random() * 1_000_000));
    const random = seededRandom(seed);
    const chance = (part: number) => random.float() < part;
    const pick = <T>(some: readonly T[]) => some[Math.floor(random.float() * some.length)] as T;
    const { organizationId } = test.caller;
    const rows = await getDomainRows(test.app, test.app.store.db, organizationId, domain.id);
    const named = `ZONE_SEED=${seed}`;
    for (let round = 0; round < 60; round++) {
      const names = [
        name,
        rsaName,
        bounce,
        dmarcName,
        mailHost,
        'a.example',
        'ns1.provider.example',
      ];
      for (const one of names) {
        for (const server of [dns, authority]) {
          server.fault(one, chance(0.25) ? pick(faults) : undefined);
          if (chance(0.5)) server.set(one, 'TXT', [pick(texts), pick(texts)]);
          if (chance(0.3)) server.set(one, 'MX', [mx(`1 ${pick(names)}`), mx('0 .')]);
          if (chance(0.3)) server.set(one, 'NS', [pick(names), 'ns1.provider.example']);
          if (chance(0.3)) server.set(one, 'A', [pick(['127.0.0.1', authorityAddress])]);
        }
      }
      const asked = dns.queries.length + authority.queries.length;
      const startedAt = test.clock.elapsed();
      const checked = await passingTime(test.clock, checkRecords(test.app, rows), 100);
      expect(test.clock.elapsed() - startedAt, named).toBeLessThanOrEqual(10_000);
      // A silent server is asked twice, and one that refuses EDNS.
      expect(dns.queries.length + authority.queries.length - asked).toBeLessThanOrEqual(400);
      for (const { check } of checked) {
        const { status, diagnosis } = check;
        if (status !== 'valid') expect(diagnosis, named).not.toBeNull();
      }
    }
  });
});
