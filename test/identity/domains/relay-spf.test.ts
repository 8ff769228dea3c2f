// SPF records of domains whose mail leaves by smarthosts: the proposed record and the verdict.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { expectedSpf, type SpfConfig } from '../../../src/identity/domains/expected-spf.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const hostname = 'mail.host.example';
const name = 'acme.example';
const host = '127.0.0.1';
const spf = 'include:spf.relay.example';

let dns: DnsServer;
let test: TestApp;
beforeEach(async () => {
  test = await testApp();
  dns = await startDnsServer();
  dns.set('spf.relay.example', 'TXT', ['v=spf1 ip4:192.0.2.0/24 ~all']);
});
afterEach(async () => {
  await test.close();
  await dns.close();
});

async function spfRecords(delivery: ConfigInput['delivery'], published?: string) {
  const config = { delivery: { hostname, ...delivery }, dns: { servers: [dns.address] } };
  await test.close();
  test = await testApp({ config, nameServerAt: () => null });
  const { id } = await addDomain(test.app, test.caller, { domain: name });
  if (published !== undefined) {
    for (const at of [name, `bounce.${name}`]) dns.set(at, 'TXT', [published]);
  }
  const { dnsRecords } = await verifyDomain(test.app, test.caller, id);
  const found = dnsRecords.filter(({ type, value }) => type === 'TXT' && /^v=spf1/.test(value));
  expect(found.map(({ purpose }) => purpose)).toEqual(['return-path', 'spf']);
  return found;
}

const relay = { mode: 'relay', relay: { host, spf } } as const;
const unknown = { mode: 'relay', relay: { host } } as const;

describe('a domain behind a smarthost', () => {
  it('is proposed the mechanism of the smarthost', async () => {
    for (const { value, status } of await spfRecords(relay)) {
      expect([value, status]).toEqual([`v=spf1 ${spf} ~all`, 'missing']);
    }
  });

  it.each([`v=spf1 ${spf} -all`, `v=spf1 mx +INCLUDE:spf.relay.example ~all`])(
    'has a valid record in %s',
    async (published) => {
      for (const { value, status, error } of await spfRecords(relay, published)) {
        expect([value, status, error]).toEqual([published, 'valid', null]);
      }
    },
  );

  it('has an invalid record in a record of our host alone', async () => {
    for (const record of await spfRecords(relay, `v=spf1 a:${hostname} ~all`)) {
      expect(record).toMatchObject({
        status: 'invalid',
        value: `v=spf1 a:${hostname} ${spf} ~all`,
        diagnosis: { code: 'no-mechanism' },
        advice: expect.stringContaining(`adds ${spf}`),
      });
      expect(record.error).toContain(`does not name ${spf}`);
    }
  });

  it('has an invalid record if the mechanism stands behind all', async () => {
    for (const { status, diagnosis } of await spfRecords(relay, `v=spf1 ~all ${spf}`)) {
      expect([status, diagnosis?.code]).toEqual(['invalid', 'after-all']);
    }
  });

  it.each([undefined, `v=spf1 a:${hostname} ~all`, `v=spf1 ${spf} ~all`])(
    'gets no verdict on %s without the key, but the next step',
    async (published) => {
      for (const record of await spfRecords(unknown, published)) {
        expect(record).toMatchObject({
          status: 'pending',
          value: published ?? 'v=spf1 ?all',
          found: published === undefined ? [] : [published],
          diagnosis: {
            code: 'relay-spf',
            remedy: expect.stringContaining('Set delivery.relay.spf'),
          },
          advice: expect.stringContaining('Set delivery.relay.spf'),
        });
        expect(record.error).toContain(`${host}, and delivery.relay.spf does not name`);
      }
    },
  );
});

const bulk = { via: 'relay', host: 'bulk.example', match: null } as const;
const ofDomain = { ...bulk, from: name };
const ofAddress = { ...bulk, from: `ada@${name}` };
const ofOrganization = { ...bulk, from: 'org_1' };
const inner = { via: 'relay', host: '10.0.0.25', match: '*.corp.example', from: null } as const;

describe('the expected SPF mechanisms', () => {
  const direct = { mode: 'direct', relay: { host: null, spf: null } } as const;
  const own = `a:${hostname}`;
  const cases: [string, Omit<SpfConfig, 'hostname'>, string[], string | null][] = [
    ['direct mode', { ...direct, routes: [] }, [own], null],
    ['capture mode', { ...direct, mode: 'capture', routes: [] }, [own], null],
    [
      'two mechanisms',
      { ...relay, relay: { host, spf: 'ip4:192.0.2.1 mx:a.example' }, routes: [] },
      ['ip4:192.0.2.1', 'mx:a.example'],
      null,
    ],
    ['a route of the domain', { ...direct, routes: [{ ...ofDomain, spf }] }, [spf], null],
    [
      'a route of the organization',
      { ...direct, routes: [{ ...ofOrganization, spf }] },
      [spf],
      null,
    ],
    ['a route of one address', { ...direct, routes: [{ ...ofAddress, spf }] }, [spf, own], null],
    [
      'a route of a foreign domain',
      { ...direct, routes: [{ ...bulk, from: 'b.example' }] },
      [own],
      null,
    ],
    [
      'a route with the smarthost of relay',
      { ...relay, mode: 'direct', routes: [{ ...ofDomain, host: null }] },
      [spf],
      null,
    ],
    ['a smarthost for some recipients', { ...direct, routes: [inner] }, [own], null],
    [
      'a smarthost for some recipients, with a mechanism',
      { ...direct, routes: [{ ...inner, spf: 'ip4:192.0.2.7' }] },
      ['ip4:192.0.2.7', own],
      null,
    ],
    [
      'an unknown smarthost of the domain',
      { ...relay, routes: [ofDomain] },
      [],
      'delivery.routes.0.spf',
    ],
    [
      'an unknown smarthost of one address',
      { ...relay, routes: [inner, ofAddress] },
      [spf],
      'delivery.routes.1.spf',
    ],
    [
      'a direct route beside a smarthost',
      { ...relay, routes: [{ via: 'direct', match: 'b.example', from: null }] },
      [own, spf],
      null,
    ],
    [
      'a captured domain',
      { ...relay, routes: [{ via: 'capture', match: '*', from: name }] },
      [own],
      null,
    ],
  ];

  it.each(cases)('follow %s', (_title, config, mechanisms, key) => {
    const sender = { domain: name, organization_id: 'org_1' };
    const found = expectedSpf({ hostname, ...config }, sender);
    expect([found.mechanisms, found.unknown?.key ?? null]).toEqual([mechanisms, key]);
  });
});
