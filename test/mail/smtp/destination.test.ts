import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findAddresses,
  findMailHosts,
  findNamedAddresses,
  worstVerdict,
} from '../../../src/mail/smtp/destination.ts';
import { createDns, type Dns } from '../../../src/platform/net/dns.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

let server: DnsServer;
let dns: Dns;
const clock = virtualClock();
const random = seededRandom(1);

beforeEach(async () => {
  server = await startDnsServer();
  dns = createDns({ servers: [server.address], clock, random });
});

afterEach(async () => {
  dns.close();
  await server.close();
});

async function hostNames(domain: string): Promise<string[]> {
  const found = await findMailHosts(dns, random, domain);
  return found.verdict ? [] : found.hosts.map(({ name }) => name);
}

const verdictOf = async (domain: string) => (await findMailHosts(dns, random, domain)).verdict;

describe('the mail hosts of a domain', () => {
  it('are ordered by preference', async () => {
    const exchanges = ['c', 'a', 'b'].map((name, index) => ({
      exchange: `${name}.mx.test`,
      preference: [30, 10, 20][index] ?? 0,
    }));
    server.set('example.test', 'MX', exchanges);
    expect(await hostNames('example.test')).toEqual(['a.mx.test', 'b.mx.test', 'c.mx.test']);
  });

  it('are in random order within a preference', async () => {
    const names = ['a', 'b', 'c', 'd'];
    server.set('example.test', 'MX', [
      ...names.map((name) => ({ exchange: `${name}.mx.test`, preference: 10 })),
      { exchange: 'last.mx.test', preference: 20 },
    ]);
    const firsts = new Set<string | undefined>();
    for (let round = 0; round < 60; round += 1) {
      const hosts = await hostNames('example.test');
      expect(hosts).toHaveLength(5);
      expect(hosts.at(-1)).toBe('last.mx.test');
      firsts.add(hosts[0]);
    }
    expect(firsts).toEqual(new Set(names.map((name) => `${name}.mx.test`)));
  });

  it('are at most 10 of 200, most preferred first', async () => {
    const exchanges = Array.from({ length: 200 }, (_, index) => ({
      exchange: `mx${index}.example.test`,
      preference: index,
    }));
    server.set('example.test', 'MX', exchanges.toReversed());
    expect(await hostNames('example.test')).toEqual(
      exchanges.slice(0, 10).map(({ exchange }) => exchange),
    );
  });

  it('are unique, at their best preference', async () => {
    server.set('example.test', 'MX', [
      { exchange: 'a.mx.test', preference: 30 },
      { exchange: 'b.mx.test', preference: 20 },
      { exchange: 'A.mx.test', preference: 10 },
    ]);
    expect(await hostNames('example.test')).toEqual(['a.mx.test', 'b.mx.test']);
  });

  it('are the domain itself without an MX record', async () => {
    server.set('example.test', 'A', ['192.0.2.1']);
    expect(await hostNames('example.test')).toEqual(['example.test']);
  });

  it('do not exist under a null MX: bounced', async () => {
    server.set('example.test', 'MX', [{ exchange: '.', preference: 0 }]);
    expect(await verdictOf('example.test')).toMatchObject({
      kind: 'bounced',
      errorCode: 'invalid-domain',
      reply: { code: null, enhancedCode: '5.1.10', verb: 'dns' },
    });
  });

  it('may exist later for an unknown domain: deferred', async () => {
    expect(await verdictOf('nowhere.test')).toMatchObject({
      kind: 'deferred',
      errorCode: 'invalid-domain',
      reply: { enhancedCode: '4.1.2', text: 'the domain nowhere.test does not exist' },
    });
  });

  it.each(['servfail', 'refused', 'malformed', 'loop'] as const)(
    'are unknown after %s: deferred, without the implicit MX',
    async (fault) => {
      server.set('example.test', 'A', ['192.0.2.1']);
      server.fault('example.test', fault);
      expect(await verdictOf('example.test')).toMatchObject({
        kind: 'deferred',
        errorCode: 'connection',
        reply: { enhancedCode: '4.4.3' },
      });
    },
  );

  it('are unknown while the DNS is silent: deferred', async () => {
    server.fault('example.test', 'timeout');
    const pending = verdictOf('example.test');
    let isDone = false;
    void pending.finally(() => {
      isDone = true;
    });
    for (let seconds = 0; !isDone && seconds < 120; seconds += 1) await clock.advance(1_000);
    expect(await pending).toMatchObject({ kind: 'deferred', reply: { enhancedCode: '4.4.3' } });
  });
});

describe('the addresses of a mail host', () => {
  const of = (host: string, allowPrivate = false) => findAddresses(dns, random, host, allowPrivate);

  it('are IPv4 first, and at most six', async () => {
    server.set('mx.test', 'A', ['8.8.8.8', '8.8.4.4']);
    server.set('mx.test', 'AAAA', ['2001:4860:4860::8888', '2001:4860:4860::8844']);
    const found = await of('mx.test');
    const addresses = found.verdict ? [] : found.addresses;
    expect(addresses.slice(0, 2).toSorted()).toEqual(['8.8.4.4', '8.8.8.8']);
    expect(addresses.slice(2).every((address) => address.includes(':'))).toBe(true);
    server.set(
      'many.test',
      'A',
      Array.from({ length: 30 }, (_, index) => `8.8.8.${index}`),
    );
    const many = await of('many.test');
    expect(many.verdict ?? many.addresses).toHaveLength(6);
  });

  it('leave out private ones', async () => {
    server.set('mx.test', 'A', ['10.0.0.1', '8.8.8.8', '127.0.0.1', '169.254.169.254']);
    server.set('mx.test', 'AAAA', ['::1', 'fd00::1', '::ffff:127.0.0.1']);
    expect(await of('mx.test')).toEqual({ addresses: ['8.8.8.8'], verdict: null });
  });

  it.each(['10.0.0.1', '127.0.0.1', '192.168.0.1', '169.254.1.1', '0.0.0.0'])(
    'that are all private (%s) fail permanently by our policy',
    async (address) => {
      server.set('mx.test', 'A', [address]);
      expect((await of('mx.test')).verdict).toMatchObject({
        kind: 'failed',
        errorCode: 'policy',
        reply: { enhancedCode: '5.7.1' },
      });
      expect(await of('mx.test', true)).toEqual({ addresses: [address], verdict: null });
    },
  );

  it('that do not exist defer', async () => {
    expect((await of('gone.test')).verdict).toMatchObject({
      kind: 'deferred',
      errorCode: 'invalid-domain',
      reply: { enhancedCode: '4.4.4' },
    });
  });

  it('are unknown after SERVFAIL: deferred', async () => {
    server.fault('mx.test', 'servfail');
    expect((await of('mx.test')).verdict).toMatchObject({ kind: 'deferred' });
  });

  it('do not exist for an MX record with an address instead of a name: bounced', async () => {
    expect((await of('8.8.8.8', true)).verdict).toMatchObject({ kind: 'bounced' });
  });
});

describe('the addresses of a configured host', () => {
  const of = (host: string) => findNamedAddresses(dns, random, host);

  it('are the address itself, loopback, or the result of its look-up', async () => {
    server.set('relay.test', 'A', ['10.0.0.1']);
    expect(await of('10.1.2.3')).toEqual({ addresses: ['10.1.2.3'], verdict: null });
    expect(await of('localhost')).toEqual({ addresses: ['127.0.0.1', '::1'], verdict: null });
    expect(await of('relay.test')).toEqual({ addresses: ['10.0.0.1'], verdict: null });
    expect(server.queries.every(({ name }) => name === 'relay.test')).toBe(true);
  });

  it('that do not resolve defer, because the recipient is not at fault', async () => {
    expect((await of('relay.test')).verdict).toMatchObject({ kind: 'deferred' });
  });
});

it('a verdict that may still change outweighs a final one', () => {
  const of = (kind: 'deferred' | 'failed' | 'bounced') => ({
    kind,
    errorCode: 'unknown' as const,
    reply: { code: null, enhancedCode: null, text: '', verb: 'dns' },
  });
  expect(worstVerdict([of('bounced'), of('failed'), of('deferred')])?.kind).toBe('deferred');
  expect(worstVerdict([of('bounced'), of('failed')])?.kind).toBe('failed');
  const absent = of('deferred');
  const isAbsent = { ...absent, reply: { ...absent.reply, enhancedCode: '4.4.4' } };
  expect(worstVerdict([isAbsent, absent])).toBe(absent);
  expect(worstVerdict([isAbsent, of('failed')])?.kind).toBe('failed');
  expect(worstVerdict([])).toBeNull();
});
