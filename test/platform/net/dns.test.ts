import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode } from 'dns-packet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDns, type Dns, DnsError } from '../../../src/platform/net/dns.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { passingTime, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

let server: DnsServer;
let clock: VirtualClock;
let dns: Dns;
const toClose: (() => void | Promise<void>)[] = [];

function dnsOver(...servers: string[]): Dns {
  const made = createDns({ servers, clock, random: seededRandom(1) });
  toClose.push(() => made.close());
  return made;
}

async function anotherServer(...args: Parameters<typeof startDnsServer>): Promise<DnsServer> {
  const started = await startDnsServer(...args);
  toClose.push(() => started.close());
  return started;
}

async function errorOf(answer: Promise<unknown>): Promise<DnsError> {
  const error = await answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof DnsError)) throw error;
  return error;
}

/** Starts a server that answers exactly these records, or SERVFAIL. */
async function bareServer(answersTo: (name: string, type: string) => Answer[] | 'servfail') {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => {
    const { id = 0, questions = [] } = decode(bytes);
    const [{ name, type } = { name: '', type: '' }] = questions;
    asked.push(name);
    const answers = answersTo(name, type);
    const failed = answers === 'servfail';
    const reply = encode({
      type: 'response',
      id,
      flags: failed ? 2 : 0,
      questions,
      answers: failed ? [] : answers,
    });
    socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  toClose.push(() => {
    socket.close();
  });
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

beforeEach(async () => {
  server = await startDnsServer();
  clock = virtualClock();
  dns = dnsOver(server.address);
});

afterEach(async () => {
  for (const close of toClose.splice(0)) await close();
  await server.close();
});

describe('mail hosts', () => {
  it('come by preference, in A-labels, for any case of the name', async () => {
    server.set('example.test', 'MX', [
      { exchange: 'b.example.test', preference: 20 },
      { exchange: 'a.example.test', preference: 10 },
    ]);
    expect(await dns.mx('Example.TEST.')).toEqual({
      records: [
        { exchange: 'a.example.test', preference: 10 },
        { exchange: 'b.example.test', preference: 20 },
      ],
      nullMx: false,
      authenticated: false,
    });
  });

  it('are empty under a null MX', async () => {
    server.set('null.test', 'MX', [{ exchange: '.', preference: 0 }]);
    expect(await dns.mx('null.test')).toMatchObject({ records: [], nullMx: true });
  });

  it('skip records that do not name a host', async () => {
    server.set('mixed.test', 'MX', [
      { exchange: '.', preference: 0 },
      { exchange: 'bad name.test', preference: 1 },
      { exchange: 'good.test', preference: 2 },
    ]);
    const { records, nullMx } = await dns.mx('mixed.test');
    expect([records, nullMx]).toEqual([[{ exchange: 'good.test', preference: 2 }], false]);
    server.set('bad.test', 'MX', [{ exchange: 'evil\r\n.test', preference: 1 }]);
    expect(await errorOf(dns.mx('bad.test'))).toMatchObject({
      kind: 'malformed',
      temporary: false,
    });
  });
});

describe('addresses', () => {
  it('include both families', async () => {
    server.set('mx.test', 'A', ['192.0.2.1', '192.0.2.2']);
    server.set('mx.test', 'AAAA', ['2001:db8::1']);
    expect(await dns.addresses('mx.test')).toEqual({
      ipv4: ['192.0.2.1', '192.0.2.2'],
      ipv6: ['2001:db8::1'],
      authenticated: false,
    });
  });

  it('are found behind CNAMEs', async () => {
    server.set('www.test', 'CNAME', ['Host.Test']);
    server.set('host.test', 'CNAME', ['end.test']);
    server.set('end.test', 'A', ['192.0.2.3']);
    expect(await dns.addresses('www.test')).toMatchObject({ ipv4: ['192.0.2.3'], ipv6: [] });
  });

  it('are queried again when an answer holds the CNAME alone', async () => {
    const partial = await bareServer((name) =>
      name === 'www.test'
        ? [{ name, type: 'CNAME', data: 'host.test' }]
        : [{ name, type: 'A', data: '192.0.2.4' }],
    );
    expect(await dnsOver(partial.address).resolve('www.test', 'A')).toEqual(['192.0.2.4']);
    expect(partial.asked).toEqual(['www.test', 'host.test']);
  });

  it('of one family suffice when the query for the other fails', async () => {
    const half = await bareServer((name, type) =>
      type === 'A' ? [{ name, type: 'A', data: '192.0.2.5' }] : 'servfail',
    );
    expect(await dnsOver(half.address).addresses('half.test')).toMatchObject({
      ipv4: ['192.0.2.5'],
      ipv6: [],
    });
  });

  it('fail temporarily when one family is empty and the other query fails', async () => {
    const half = await bareServer((_, type) => (type === 'A' ? [] : 'servfail'));
    const error = await errorOf(dnsOver(half.address).addresses('half.test'));
    expect(error).toMatchObject({ kind: 'server-failure', temporary: true });
  });

  it.each(['loop', 'self'])('fail permanently when CNAMEs form a circle (%s)', async (how) => {
    if (how === 'loop') server.fault('a.test', 'loop');
    else server.set('a.test', 'CNAME', ['a.test']);
    expect(await errorOf(dns.addresses('a.test'))).toMatchObject({
      kind: 'loop',
      temporary: false,
    });
  });

  it('fail permanently when CNAMEs never end', async () => {
    const endless = await bareServer((name) => [{ name, type: 'CNAME', data: `x.${name}` }]);
    const error = await errorOf(dnsOver(endless.address).resolve('a.test', 'A'));
    expect(error).toMatchObject({ kind: 'loop', temporary: false });
    expect(endless.asked.length).toBeLessThan(20);
  });

  it('fail at a CNAME to a malformed name', async () => {
    server.set('a.test', 'CNAME', ['bad name\u0000.test']);
    const error = await errorOf(dns.addresses('a.test'));
    expect(error).toMatchObject({ kind: 'malformed', temporary: false });
    expect(error.message).not.toContain('\0');
  });

  it('ignore records of other names', async () => {
    const liar = await bareServer(() => [{ name: 'other.test', type: 'A', data: '192.0.2.6' }]);
    const error = await errorOf(dnsOver(liar.address).addresses('a.test'));
    expect(error.kind).toBe('no-data');
  });
});

describe('TXT and TLSA records', () => {
  it('join the TXT strings of a record', async () => {
    const key = `v=DKIM1; p=${'A'.repeat(400)}`;
    server.set('k._domainkey.test', 'TXT', [key, 'second']);
    expect(await dns.txt('k._domainkey.test')).toEqual([key, 'second']);
  });

  it('hold the certificate data of TLSA and the AD bit', async () => {
    const tlsa = { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) };
    server.set('_25._tcp.mx.test', 'TLSA', [tlsa], { authenticated: true });
    const answer = await dns.tlsa('_25._tcp.mx.test');
    expect(answer).toEqual({ records: [tlsa], authenticated: true });
    expect(server.queries[0]).toMatchObject({ type: 'TLSA', dnssec: true });
  });

  it('tell an absent TLSA record from a failed query', async () => {
    server.set('mx.test', 'A', ['192.0.2.1']);
    expect(await dns.tlsa('_25._tcp.none.test')).toEqual({ records: [], authenticated: false });
    server.fault('_25._tcp.mx.test', 'servfail');
    expect(await errorOf(dns.tlsa('_25._tcp.mx.test'))).toMatchObject({ temporary: true });
  });

  it('addresses count as authenticated only when both families are', async () => {
    server.set('mx.test', 'A', ['192.0.2.1'], { authenticated: true });
    server.set('mx.test', 'AAAA', ['2001:db8::1'], { authenticated: false });
    expect(await dns.addresses('mx.test')).toEqual({
      ipv4: ['192.0.2.1'],
      ipv6: ['2001:db8::1'],
      authenticated: false,
    });
  });

  it('an alias counts as authenticated only when each step is', async () => {
    server.set('www.test', 'CNAME', ['host.test'], { authenticated: true });
    server.set('host.test', 'A', ['192.0.2.1'], { authenticated: false });
    expect((await dns.addresses('www.test')).authenticated).toBe(false);
    server.set('sure.test', 'CNAME', ['signed.test'], { authenticated: true });
    server.set('signed.test', 'A', ['192.0.2.1'], { authenticated: true });
    expect((await dns.addresses('sure.test')).authenticated).toBe(true);
  });
});

describe('the resolver for libraries', () => {
  it('answers in the shapes of node:dns', async () => {
    server.set('all.test', 'A', ['192.0.2.1']);
    server.set('all.test', 'AAAA', ['2001:db8::1']);
    server.set('all.test', 'TXT', ['x'.repeat(300)]);
    server.set('all.test', 'MX', [{ exchange: 'mx.test', preference: 5 }]);
    server.set('all.test', 'NS', ['ns.test']);
    server.set('1.2.0.192.in-addr.arpa', 'PTR', ['host.test']);
    server.set('www.test', 'CNAME', ['all.test']);
    expect(await dns.resolve('all.test', 'A')).toEqual(['192.0.2.1']);
    expect(await dns.resolve('all.test', 'AAAA')).toEqual(['2001:db8::1']);
    expect(await dns.resolve('all.test', 'TXT')).toEqual([['x'.repeat(255), 'x'.repeat(45)]]);
    expect(await dns.resolve('all.test', 'MX')).toEqual([{ exchange: 'mx.test', priority: 5 }]);
    expect(await dns.resolve('all.test', 'NS')).toEqual(['ns.test']);
    expect(await dns.resolve('1.2.0.192.in-addr.arpa', 'PTR')).toEqual(['host.test']);
    expect(await dns.resolve('www.test', 'CNAME')).toEqual(['all.test']);
    expect(await dns.resolve('www.test', 'TXT')).toHaveLength(1);
  });

  it('accepts names outside the host syntax, such as those of SPF macros', async () => {
    server.set('user+tag=x.spf.test', 'A', ['127.0.0.2']);
    expect(await dns.resolve('user+tag=x.spf.test', 'A')).toEqual(['127.0.0.2']);
  });

  it('refuses an unknown type', async () => {
    await expect(dns.resolve('a.test', 'ANY')).rejects.toThrow(TypeError);
  });
});

describe('an answer without records', () => {
  it.each([
    ['nxdomain', 'not-found', 'ENOTFOUND', false],
    ['servfail', 'server-failure', 'ESERVFAIL', true],
    ['refused', 'refused', 'EREFUSED', true],
    ['malformed', 'malformed', 'EBADRESP', true],
  ] as const)('after %s is %s', async (fault, kind, code, temporary) => {
    server.fault('bad.test', fault);
    const error = await errorOf(dns.mx('bad.test'));
    expect(error).toMatchObject({ kind, code, temporary });
    expect(error.message).toContain('MX bad.test');
    if (temporary) expect(error.message).toContain(server.address);
  });

  it('tells a name without such records from one that does not exist', async () => {
    server.set('www.example.test', 'A', ['192.0.2.1']);
    const lasting = { temporary: false };
    for (const name of ['www.example.test', 'example.test']) {
      expect(await errorOf(dns.mx(name))).toMatchObject({ kind: 'no-data', ...lasting });
    }
    const missing = await errorOf(dns.mx('other.test'));
    expect(missing).toMatchObject({ kind: 'not-found', code: 'ENOTFOUND', ...lasting });
  });

  it.each([
    '',
    '.',
    'a..test',
    '.test',
    'a b.test',
    'a\0.test',
    'bücher.test',
    `${'x'.repeat(64)}.test`,
    `${'x.'.repeat(127)}test`,
  ])('is given for %j without a query', async (name) => {
    for (const answer of [
      dns.mx(name),
      dns.addresses(name),
      dns.txt(name),
      dns.resolve(name, 'A'),
    ]) {
      const error = await errorOf(answer);
      expect(error).toMatchObject({ kind: 'malformed', code: 'EBADNAME', temporary: false });
    }
    expect(server.queries).toEqual([]);
  });
});

describe('a server', () => {
  it('is asked twice when silent, for 5 s and 3 s', async () => {
    server.fault('slow.test', 'timeout');
    const start = clock.now();
    const error = await passingTime(clock, errorOf(dns.mx('slow.test')));
    expect(error).toMatchObject({ kind: 'timeout', code: 'ETIMEOUT', temporary: true });
    expect(server.queries).toHaveLength(2);
    expect(clock.now() - start).toBe(8_000);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it('is asked twice within 1.5 s for a waiting client', async () => {
    server.fault('slow.test', 'timeout');
    const error = await passingTime(clock, errorOf(dns.resolveSoon('slow.test', 'A')), 250);
    expect(error).toMatchObject({ kind: 'timeout', code: 'ETIMEOUT', temporary: true });
    expect(server.queries).toHaveLength(2);
    expect(clock.elapsed()).toBe(1_500);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it('is asked the next question after a lost one', async () => {
    server.set('a.test', 'A', ['192.0.2.1']);
    server.fault('a.test', 'timeout', 1);
    expect(await passingTime(clock, dns.resolve('a.test', 'A'))).toEqual(['192.0.2.1']);
    expect(server.queries).toHaveLength(2);
  });

  it.each(['servfail', 'refused', 'malformed', 'timeout'] as const)(
    'is followed by the next one when it fails (%s)',
    async (fault) => {
      const second = await anotherServer({ 'a.test': { A: ['192.0.2.1'] } });
      server.fault('a.test', fault);
      const both = dnsOver(server.address, second.address);
      expect(await passingTime(clock, both.resolve('a.test', 'A'))).toEqual(['192.0.2.1']);
      expect([server.queries.length, second.queries.length]).toEqual([1, 1]);
    },
  );

  it('is believed at NXDOMAIN', async () => {
    const second = await anotherServer({ 'a.test': { A: ['192.0.2.1'] } });
    const both = dnsOver(server.address, second.address);
    expect((await errorOf(both.resolve('a.test', 'A'))).kind).toBe('not-found');
    expect(second.queries).toEqual([]);
  });

  it('counts as a temporary failure at once when the port is closed', async () => {
    const gone = await startDnsServer();
    await gone.close();
    const error = await errorOf(dnsOver(gone.address).mx('a.test'));
    expect(error).toMatchObject({ kind: 'server-failure', temporary: true });
  });

  it('is asked over TCP after a truncated answer', async () => {
    server.set('big.test', 'TXT', ['x'.repeat(3_000)]);
    server.set('small.test', 'A', ['192.0.2.1']);
    server.fault('small.test', 'truncate');
    expect(await dns.txt('big.test')).toEqual(['x'.repeat(3_000)]);
    expect(await dns.resolve('small.test', 'A')).toEqual(['192.0.2.1']);
    expect(server.queries.map(({ transport }) => transport)).toEqual(['udp', 'tcp', 'udp', 'tcp']);
  });

  it('fails temporarily when its answer over TCP is truncated too', async () => {
    server.set('huge.test', 'TXT', ['x'.repeat(40_000), 'y'.repeat(40_000)]);
    expect(await errorOf(dns.txt('huge.test'))).toMatchObject({ temporary: true });
  });

  it('is asked without EDNS when it does not know it', async () => {
    server.set('old.test', 'A', ['192.0.2.1']);
    server.fault('old.test', 'formerr');
    expect(await dns.resolve('old.test', 'A')).toEqual(['192.0.2.1']);
    expect(server.queries.map(({ dnssec }) => dnssec)).toEqual([true, false]);
  });

  it('is not impersonated by answers with another id or question', async () => {
    server.set('a.test', 'A', ['192.0.2.1']);
    server.fault('a.test', 'forged');
    expect(await dns.resolve('a.test', 'A')).toEqual(['192.0.2.1']);
  });

  it('has its first 200 records read', async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    server.set('many.test', 'A', many);
    expect(await dns.resolve('many.test', 'A')).toEqual(many.slice(0, 200));
  });

  it('may have an IPv6 address or no port', async () => {
    const error = await errorOf(dnsOver('[::1]:1').mx('a.test'));
    expect(error.message).toContain('[::1]:1');
  });
});

describe('cached answers', () => {
  it('are kept for their TTL', async () => {
    server.set('a.test', 'A', ['192.0.2.1'], { ttlSeconds: 60 });
    await dns.resolve('a.test', 'A');
    server.set('a.test', 'A', ['192.0.2.2'], { ttlSeconds: 60 });
    await clock.advance(59_999);
    expect(await dns.resolve('A.TEST', 'A')).toEqual(['192.0.2.1']);
    await clock.advance(1);
    expect(await dns.resolve('a.test', 'A')).toEqual(['192.0.2.2']);
    expect(server.queries).toHaveLength(2);
  });

  it('are kept for the shortest TTL on the way, and for one hour at most', async () => {
    server.set('week.test', 'A', ['192.0.2.1'], { ttlSeconds: 604_800 });
    server.set('alias.test', 'CNAME', ['week.test'], { ttlSeconds: 10 });
    await dns.resolve('alias.test', 'A');
    await dns.resolve('week.test', 'A');
    await clock.advance(10_000);
    await dns.resolve('alias.test', 'A');
    await clock.advance(3_589_999);
    await dns.resolve('week.test', 'A');
    expect(server.queries.map(({ name }) => name)).toEqual([
      'alias.test',
      'week.test',
      'alias.test',
    ]);
    await clock.advance(1);
    await dns.resolve('week.test', 'A');
    expect(server.queries).toHaveLength(4);
  });

  it('are shared by impatient and patient callers', async () => {
    server.set('a.test', 'A', ['192.0.2.1']);
    expect(await dns.resolveSoon('a.test', 'A')).toEqual(['192.0.2.1']);
    expect(await dns.resolve('a.test', 'A')).toEqual(['192.0.2.1']);
    expect(server.queries).toHaveLength(1);
  });

  it('are not kept with a TTL of 0', async () => {
    server.set('a.test', 'A', ['192.0.2.1'], { ttlSeconds: 0 });
    await dns.resolve('a.test', 'A');
    await dns.resolve('a.test', 'A');
    expect(server.queries).toHaveLength(2);
  });

  it('include NXDOMAIN for a minute and failures never', async () => {
    await errorOf(dns.mx('none.test'));
    await errorOf(dns.mx('none.test'));
    expect(server.queries).toHaveLength(1);
    await clock.advance(60_000);
    server.set('none.test', 'MX', [{ exchange: 'mx.test' }]);
    expect((await dns.mx('none.test')).records).toHaveLength(1);
    server.fault('sick.test', 'servfail', 1);
    server.set('sick.test', 'A', ['192.0.2.1']);
    await errorOf(dns.resolve('sick.test', 'A'));
    expect(await dns.resolve('sick.test', 'A')).toEqual(['192.0.2.1']);
  });

  it('are shared by concurrent callers', async () => {
    server.set('a.test', 'A', ['192.0.2.1'], { ttlSeconds: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => dns.resolve('a.test', 'A')));
    expect(answers).toEqual(Array.from({ length: 20 }, () => ['192.0.2.1']));
    expect(server.queries).toHaveLength(1);
  });
});

it('closing ends pending look-ups and leaves no socket or timer', async () => {
  const sockets = () =>
    process.getActiveResourcesInfo().filter((each) => each === 'UDPWrap').length;
  await clock.advance(0);
  const before = sockets();
  const waiting = Array.from({ length: 20 }, (_, i) => errorOf(dns.mx(`${i}.slow.test`)));
  for (let i = 0; i < 20; i++) server.fault(`${i}.slow.test`, 'timeout');
  while (server.queries.length < 20) await new Promise((resolve) => setImmediate(resolve));
  expect(sockets()).toBe(before + 20);
  dns.close();
  for (const error of await Promise.all(waiting)) expect(error.temporary).toBe(true);
  await clock.advance(0);
  expect(sockets()).toBe(before);
  expect(clock.nextTimerAt()).toBeUndefined();
  expect((await errorOf(dns.mx('later.test'))).temporary).toBe(true);
});
