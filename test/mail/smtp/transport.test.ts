import { connect } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TransportJob } from '../../../src/mail/smtp/attempt.ts';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import type { LaneRule } from '../../../src/mail/smtp/providers.ts';
import type { SmtpMail } from '../../../src/mail/smtp/session/transaction.ts';
import {
  createTransport,
  type Transport,
  type TransportOptions,
} from '../../../src/mail/smtp/transport.ts';
import type { LaneRules } from '../../../src/mail/smtp/way.ts';
import { createDns, type Dns } from '../../../src/platform/net/dns.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../../support/smtp-sink.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { mxTls, trustTestAuthority } from './smtp-certificates.ts';
import { mailOf, until } from './smtp-session-dialogue.ts';
import { direct, relay } from './test-routes.ts';

let server: DnsServer;
let dns: Dns;
let clock: VirtualClock;
let transport: Transport;
const sinks: SmtpSink[] = [];
const random = seededRandom(1);

beforeAll(trustTestAuthority);

beforeEach(async () => {
  clock = virtualClock();
  server = await startDnsServer();
  dns = createDns({ servers: [server.address], clock, random });
  transport = transportOf({});
});

afterEach(async () => {
  await transport.close();
  dns.close();
  await server.close();
  for (const sink of sinks.splice(0)) await sink.close();
});

function transportOf(options: Partial<TransportOptions>): Transport {
  const delivery = { hostname: 'client.test', maxConnections: 20, maxConnectionsPerDomain: 5 };
  return createTransport({
    dns,
    clock,
    random,
    connect: undefined,
    config: { delivery },
    ...options,
  });
}

async function startSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink({ tls: false, ...options });
  sinks.push(sink);
  return sink;
}

/** Starts sinks on 127.0.0.1, 127.0.0.2, … at one port: as many MX hosts, `mx1.test` first. */
async function startMxHosts(count: number, samePreference = false): Promise<SmtpSink[]> {
  const started: SmtpSink[] = [];
  for (let number = 1; number <= count; number += 1) {
    const port = started[0]?.port ?? 0;
    started.push(
      await startSink({ host: `127.0.0.${number}`, port, hostname: `mx${number}.test` }),
    );
    server.set(`mx${number}.test`, 'A', [`127.0.0.${number}`]);
  }
  server.set(
    'example.test',
    'MX',
    started.map((_, index) => ({
      exchange: `mx${index + 1}.test`,
      preference: samePreference ? 10 : 10 * (index + 1),
    })),
  );
  return started;
}

const jobFor = (route: TransportJob['route'], recipients = ['b@example.test']): TransportJob => ({
  ...mailOf({ recipients }),
  route,
  organizationId: 'org_a',
});

const mailTo = (mail: SmtpMail, sink?: SmtpSink): TransportJob => {
  return { ...mail, route: direct(sink?.port ?? 0), organizationId: 'org_a' };
};

async function deliverOne(route: TransportJob['route']): Promise<Outcome> {
  const [outcome] = await transport.deliver(jobFor(route));
  if (!outcome) throw new Error('no outcome');
  return outcome;
}

describe('direct delivery', () => {
  it('goes to the most preferred host and records host and TLS', async () => {
    const [first, second] = await startMxHosts(2);
    const outcome = await deliverOne(direct(first?.port ?? 0));
    expect(outcome).toMatchObject({
      kind: 'sent',
      reply: { code: 250, verb: 'dot' },
      trace: {
        host: 'mx1.test',
        address: '127.0.0.1',
        tls: null,
        startedAt: clock.now(),
        durationMs: 0,
      },
    });
    expect(outcome.trace.transcript).toContain('S: 250 2.0.0 queued at mx1.test');
    expect([first?.received, second?.received]).toEqual([1, 0]);
  });

  it('encrypts where the host offers it', async () => {
    const sink = await startSink({ tls: {} });
    server.set('example.test', 'A', ['127.0.0.1']);
    const outcome = await deliverOne(direct(sink.port));
    expect(outcome.trace.tls).toMatch(/^TLSv1\.3/);
  });

  it('goes to the domain itself without an MX', async () => {
    const sink = await startSink();
    server.set('example.test', 'A', ['127.0.0.1']);
    expect(await deliverOne(direct(sink.port))).toMatchObject({
      kind: 'sent',
      trace: { host: 'example.test' },
    });
  });

  it('is spread over hosts of one preference', async () => {
    const hosts = await startMxHosts(2, true);
    const port = hosts[0]?.port ?? 0;
    await Promise.all(Array.from({ length: 20 }, () => deliverOne(direct(port))));
    for (const { connections } of hosts) expect(connections.total).toBeGreaterThan(0);
  });

  it('prefers an open session to another host of the same preference', async () => {
    const hosts = await startMxHosts(2, true);
    const port = hosts[0]?.port ?? 0;
    for (let count = 0; count < 10; count += 1) await deliverOne(direct(port));
    const [one, two] = hosts.map(({ connections }) => connections.total);
    expect((one ?? 0) + (two ?? 0)).toBe(1);
  });

  it('gives each recipient its own outcome', async () => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb: 'RCPT', match: 'gone@' }, '550 5.1.1 no such user');
    sink?.on({ verb: 'RCPT', match: 'full@' }, '452 4.2.2 mailbox full');
    const recipients = ['gone', 'b', 'full', 'c'].map((name) => `${name}@example.test`);
    const outcomes = await transport.deliver(jobFor(direct(sink?.port ?? 0), recipients));
    expect(outcomes).toMatchObject([
      { kind: 'bounced', errorCode: 'invalid-recipient', reply: { code: 550, verb: 'RCPT' } },
      { kind: 'sent' },
      { kind: 'deferred', errorCode: 'mailbox-full', reply: { code: 452 } },
      { kind: 'sent' },
    ]);
    expect(sink?.messages[0]?.recipients).toEqual(['b@example.test', 'c@example.test']);
  });

  it('retries recipients refused as too many at once', async () => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb: 'RCPT', match: 'second@' }, '552 5.5.3 too many recipients');
    const recipients = ['first@example.test', 'second@example.test'];
    const outcomes = await transport.deliver(jobFor(direct(sink?.port ?? 0), recipients));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'deferred']);
  });
});

describe('lanes', () => {
  const laneRules = (changes: Partial<LaneRule> = {}) => {
    const learnt: string[] = [];
    const rule = { lane: 'big', connections: 1, messagesPerConnection: 3, requireTls: false };
    const lanes: LaneRules = {
      ruleFor: (hosts) => (hosts[0]?.name.endsWith('.test') ? { ...rule, ...changes } : null),
      learn: (domain, lane) => learnt.push(`${domain}: ${lane}`),
    };
    return { lanes, learnt };
  };

  it('put the domains of a provider under one limit and learn their lane', async () => {
    const hosts = await startMxHosts(2);
    const port = hosts[0]?.port ?? 0;
    server.set('other.test', 'MX', [{ exchange: 'mx2.test', preference: 5 }]);
    const { lanes, learnt } = laneRules();
    transport = transportOf({ lanes });
    const domains = ['example.test', 'other.test'];
    const jobs = Array.from({ length: 12 }, (_, index) => {
      return deliverOne(direct(port, { domain: domains[index % 2] ?? '' }));
    });
    expect((await Promise.all(jobs)).every(({ kind }) => kind === 'sent')).toBe(true);
    expect(transport.connections).toBeLessThanOrEqual(1);
    expect(new Set(learnt)).toEqual(new Set(['example.test: big', 'other.test: big']));
    for (const { messages } of hosts) {
      const bySession = Map.groupBy(messages, ({ sessionId }) => sessionId);
      for (const carried of bySession.values()) expect(carried.length).toBeLessThanOrEqual(3);
    }
  });

  it('that require TLS send nothing in plaintext and accept any certificate', async () => {
    const [sink] = await startMxHosts(1);
    transport = transportOf({ lanes: laneRules({ requireTls: true }).lanes });
    const outcome = await deliverOne(direct(sink?.port ?? 0));
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    const secure = await startSink({ tls: {} });
    server.set('secure.test', 'A', ['127.0.0.1']);
    const sent = await deliverOne(direct(secure.port, { domain: 'secure.test' }));
    expect(sent).toMatchObject({ kind: 'sent', trace: { tls: expect.stringMatching(/^TLS/) } });
    expect(sink?.received).toBe(0);
  });

  it('without a rule are one per set of hosts', async () => {
    const [sink] = await startMxHosts(1);
    const learnt: string[] = [];
    const lanes: LaneRules = {
      ruleFor: () => null,
      learn: (domain, lane, hosts) => learnt.push([domain, lane, hosts.length].join()),
    };
    transport = transportOf({ lanes });
    await deliverOne(direct(sink?.port ?? 0));
    expect(learnt).toEqual([`example.test,mx mx1.test ${sink?.port},1`]);
  });
});

describe('a route that requires TLS', () => {
  it.each([
    ['offers none', { tls: false }],
    ['shows a certificate that proves nothing', { tls: {} }],
  ] as const)('sends nothing to a host that %s', async (_name, options) => {
    const sink = await startSink(options);
    server.set('example.test', 'A', ['127.0.0.1']);
    const outcome = await deliverOne(direct(sink.port, { requireTls: true }));
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    expect(sink.commands.some(({ line }) => line.startsWith('MAIL'))).toBe(false);
  });

  it('delivers to a proven certificate, with REQUIRETLS where it is offered', async () => {
    for (const keyword of [[], ['REQUIRETLS']]) {
      const sink = await startSink({ tls: mxTls, extensions: ['PIPELINING', ...keyword] });
      server.set('mx1.test', 'A', ['127.0.0.1']);
      server.set('example.test', 'MX', [{ exchange: 'mx1.test', preference: 1 }]);
      const outcome = await deliverOne(direct(sink.port, { requireTls: true }));
      expect(outcome).toMatchObject({ kind: 'sent' });
      expect(sink.messages[0]?.mailParams).toEqual(keyword);
    }
  });

  it('uses REQUIRETLS for a relay only where TLS is required', async () => {
    const sink = await startSink({ tls: {}, extensions: ['REQUIRETLS'] });
    await deliverOne(relay(sink.port, { requireTls: true }));
    await deliverOne(relay(sink.port));
    expect(sink.messages.map(({ mailParams }) => mailParams)).toEqual([['REQUIRETLS'], []]);
  });
});

describe('addresses', () => {
  it('of IPv6 alone are dialled', async () => {
    const sink = await startSink({ host: '::1' });
    server.set('mx1.test', 'AAAA', ['::1']);
    server.set('example.test', 'MX', [{ exchange: 'mx1.test', preference: 1 }]);
    const outcome = await deliverOne(direct(sink.port));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { host: 'mx1.test', address: '::1' } });
  });

  it('of IPv4 come first, and IPv6 follows their failure', async () => {
    const sink = await startSink({ host: '::1' });
    server.set('example.test', 'A', ['127.0.0.9']);
    server.set('example.test', 'AAAA', ['::1']);
    const outcome = await deliverOne(direct(sink.port));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { address: '::1' } });
    expect(outcome.trace.transcript).toMatch(/127\.0\.0\.9[\s\S]*::1/);
  });
});

describe('the next host', () => {
  it.each([
    ['refuses connections', undefined],
    ['greets with 421', { verb: 'connect', reply: '421 4.3.2 busy' }],
    ['greets with 450', { verb: 'connect', reply: '450 4.3.2 busy' }],
    ['greets with 554', { verb: 'connect', reply: '554 5.3.2 no' }],
    ['refuses EHLO for now', { verb: 'EHLO', reply: '451 4.3.0 no' }],
    ['answers MAIL with 421', { verb: 'MAIL', reply: '421 4.7.0 no' }],
    ['answers RCPT with 421', { verb: 'RCPT', reply: '421 4.7.0 no' }],
    ['answers DATA with 421', { verb: 'DATA', reply: '421 4.7.0 no' }],
    ['answers the dot with 421', { verb: 'dot', reply: '421 4.7.0 no' }],
    ['hangs up at MAIL', { verb: 'MAIL', reply: { drop: true } }],
    ['hangs up at DATA', { verb: 'DATA', reply: { reset: true } }],
    ['sends a malformed reply', { verb: 'MAIL', reply: '999 what' }],
  ] as const)('is tried when the first %s', async (_name, script) => {
    const [first, second] = await startMxHosts(2);
    const port = first?.port ?? 0;
    if (script) first?.on({ verb: script.verb }, script.reply);
    else await first?.close();
    const outcome = await deliverOne(direct(port));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { host: 'mx2.test' } });
    expect(outcome.trace.transcript).toContain('mx1.test');
    expect([first?.received, second?.received]).toEqual([0, 1]);
  });

  it.each([
    ['MAIL', '550 5.7.1 no', 'bounced'],
    ['RCPT', '550 5.1.1 no', 'bounced'],
    ['dot', '554 5.7.1 no', 'bounced'],
    ['MAIL', '451 4.3.0 later', 'deferred'],
    ['RCPT', '450 4.2.0 later', 'deferred'],
    ['DATA', '451 4.3.0 later', 'deferred'],
    ['dot', '452 4.3.1 later', 'deferred'],
  ] as const)('is not tried when %s is answered %s', async (verb, line, kind) => {
    const [first, second] = await startMxHosts(2);
    first?.on({ verb }, line);
    const outcome = await deliverOne(direct(first?.port ?? 0));
    expect(outcome).toMatchObject({ kind, reply: { verb }, trace: { host: 'mx1.test' } });
    expect(second?.connections.total).toBe(0);
  });

  it.each([
    ['the connection drops', { drop: true }, 'connection'],
    ['two replies arrive', { raw: '250 ok\r\n550 no\r\n' }, 'protocol'],
    ['a malformed reply arrives', '999 x', 'protocol'],
  ] as const)(
    'is not tried when after the dot %s, because the message may have been accepted',
    async (...given) => {
      const [, reply, errorCode] = given;
      const [first, second] = await startMxHosts(2);
      first?.on({ verb: 'dot' }, reply);
      const outcome = await deliverOne(direct(first?.port ?? 0));
      expect(outcome).toMatchObject({ kind: 'deferred', errorCode, reply: { verb: 'dot' } });
      expect(second?.connections.total).toBe(0);
    },
  );

  it('is tried for unanswered recipients alone', async () => {
    const [first, second] = await startMxHosts(2);
    first?.on({ verb: 'RCPT', match: 'gone@' }, '550 5.1.1 no');
    first?.on({ verb: 'DATA' }, '421 4.7.0 no');
    const recipients = ['gone@example.test', 'b@example.test'];
    const outcomes = await transport.deliver(jobFor(direct(first?.port ?? 0), recipients));
    expect(outcomes).toMatchObject([
      { kind: 'bounced', trace: { host: 'mx1.test' } },
      { kind: 'sent', trace: { host: 'mx2.test' } },
    ]);
    expect(second?.messages[0]?.recipients).toEqual(['b@example.test']);
  });

  it('is another address of the same name first', async () => {
    const [first, second] = await startMxHosts(2);
    server.set('mx1.test', 'A', ['127.0.0.9', '127.0.0.8', '127.0.0.1']);
    await second?.close();
    const outcome = await deliverOne(direct(first?.port ?? 0));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { address: '127.0.0.1' } });
  });

  it('is missing after the last one: deferred with the text of the host that replied', async () => {
    const [first, second] = await startMxHosts(2);
    first?.on({ verb: 'connect' }, '554 5.7.1 192.0.2.1 is on our blocklist');
    const port = first?.port ?? 0;
    await second?.close();
    expect(await deliverOne(direct(port))).toMatchObject({
      kind: 'deferred',
      errorCode: 'blocked',
      reply: { code: 554, verb: 'connect' },
    });
  });

  it('is tried where a name does not resolve', async () => {
    const [first] = await startMxHosts(1);
    server.set('example.test', 'MX', [
      { exchange: 'gone.test', preference: 1 },
      { exchange: 'broken.test', preference: 2 },
      { exchange: 'mx1.test', preference: 3 },
    ]);
    server.fault('broken.test', 'servfail');
    expect(await deliverOne(direct(first?.port ?? 0))).toMatchObject({ kind: 'sent' });
  });

  it('is one of at most 20 addresses', async () => {
    const dialled: string[] = [];
    transport = transportOf({
      connect: (target) => {
        dialled.push(target.host);
        return connect({ host: '127.0.0.1', port: 1 });
      },
    });
    const exchanges = Array.from({ length: 30 }, (_, index) => `mx${index}.test`);
    for (const [index, name] of exchanges.entries()) {
      const addresses = Array.from({ length: 30 }, (_, last) => `127.1.${index}.${last + 1}`);
      server.set(name, 'A', addresses);
    }
    const records = exchanges.map((exchange) => ({ exchange, preference: 10 }));
    server.set('example.test', 'MX', records);
    const outcome = await deliverOne(direct(25));
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'connection' });
    expect(new Set(dialled).size).toBe(20);
    expect(Buffer.byteLength(outcome.trace.transcript)).toBeLessThanOrEqual(4096);
  });

  it('is not tried after two minutes', async () => {
    const hosts = await startMxHosts(8);
    for (const host of hosts) host.on({ verb: 'connect' }, { hang: true });
    const delivering = deliverOne(direct(hosts[0]?.port ?? 0));
    let outcome: Outcome | undefined;
    void delivering.then((value) => {
      outcome = value;
    });
    while (!outcome) {
      const timerAt = clock.nextTimerAt();
      if (timerAt !== undefined) await clock.advance(timerAt - clock.now());
      else await until(() => outcome !== undefined || clock.nextTimerAt() !== undefined);
    }
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'connection' });
    const dialled = hosts.filter(({ connections }) => connections.total > 0);
    expect(dialled.length).toBeLessThan(8);
    expect(outcome.trace.durationMs).toBeGreaterThanOrEqual(120_000);
    expect(outcome.trace.durationMs).toBeLessThanOrEqual(180_000);
  });
});

describe('the outcome by DNS', () => {
  it.each([
    ['no such domain', () => {}, 'deferred', 'invalid-domain', '4.1.2'],
    [
      'a null MX',
      () => server.set('example.test', 'MX', [{ exchange: '.', preference: 0 }]),
      'bounced',
      'invalid-domain',
      '5.1.10',
    ],
    [
      'only MX names that do not resolve',
      () => server.set('example.test', 'MX', [{ exchange: 'gone.test', preference: 0 }]),
      'deferred',
      'invalid-domain',
      '4.4.4',
    ],
    ['SERVFAIL', () => server.fault('example.test', 'servfail'), 'deferred', 'connection', '4.4.3'],
  ] as const)('is decided for %s', async (_name, prepare, kind, errorCode, enhancedCode) => {
    prepare();
    expect(await deliverOne(direct(25))).toMatchObject({
      kind,
      errorCode,
      reply: { code: null, enhancedCode, verb: 'dns' },
      trace: { address: null },
    });
  });
});

describe('private addresses', () => {
  const dialled: string[] = [];

  beforeEach(async () => {
    dialled.length = 0;
    const sink = await startSink();
    transport = transportOf({
      connect: (target) => {
        dialled.push(target.host);
        return connect({ host: '127.0.0.1', port: sink.port });
      },
    });
  });

  it('are never dialled for a foreign domain, and fail permanently', async () => {
    server.set('example.test', 'MX', [
      { exchange: 'mx1.test', preference: 1 },
      { exchange: 'mx2.test', preference: 2 },
      { exchange: 'mx3.test', preference: 3 },
    ]);
    server.set('mx1.test', 'A', ['127.0.0.1', '10.0.0.1']);
    server.set('mx2.test', 'AAAA', ['::1', '::ffff:192.168.0.1', 'fe80::1']);
    expect(await deliverOne(direct(25, { allowPrivateAddresses: false }))).toMatchObject({
      kind: 'failed',
      errorCode: 'policy',
      reply: { code: null, enhancedCode: '5.7.1' },
    });
    expect(dialled).toEqual([]);
  });

  it('are skipped where public ones exist', async () => {
    server.set('example.test', 'MX', [
      { exchange: 'mx1.test', preference: 1 },
      { exchange: 'mx2.test', preference: 2 },
    ]);
    server.set('mx1.test', 'A', ['127.0.0.1']);
    server.set('mx2.test', 'A', ['10.0.0.1', '8.8.8.8']);
    expect(await deliverOne(direct(25, { allowPrivateAddresses: false }))).toMatchObject({
      kind: 'sent',
      trace: { host: 'mx2.test', address: '8.8.8.8' },
    });
    expect(dialled).toEqual(['8.8.8.8']);
  });

  it('are dialled where the configuration allows or names them', async () => {
    server.set('example.test', 'A', ['10.0.0.1']);
    expect(await deliverOne(direct(25))).toMatchObject({ kind: 'sent' });
    expect(await deliverOne(relay(25, { host: '192.168.0.1' }))).toMatchObject({ kind: 'sent' });
    expect(dialled).toEqual(['10.0.0.1', '192.168.0.1']);
  });
});

describe('a relay', () => {
  it('takes recipients of all domains', async () => {
    const sink = await startSink();
    const recipients = ['a@one.test', 'b@two.test'];
    const outcomes = await transport.deliver(jobFor(relay(sink.port), recipients));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'sent']);
    expect(sink.messages[0]?.recipients).toEqual(recipients);
  });

  it('is resolved by name', async () => {
    const sink = await startSink();
    server.set('relay.test', 'A', ['127.0.0.1']);
    const outcome = await deliverOne(relay(sink.port, { host: 'relay.test' }));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { host: 'relay.test' } });
    const local = await deliverOne(relay(sink.port, { host: 'localhost' }));
    expect(local).toMatchObject({ kind: 'sent', trace: { address: '127.0.0.1' } });
  });

  it('that does not resolve or is down defers', async () => {
    expect(await deliverOne(relay(25, { host: 'nowhere.test' }))).toMatchObject({
      kind: 'deferred',
      errorCode: 'connection',
    });
    const sink = await startSink();
    await sink.close();
    expect(await deliverOne(relay(sink.port))).toMatchObject({
      kind: 'deferred',
      errorCode: 'connection',
    });
  });

  it('gets credentials over implicit TLS, STARTTLS, or in plaintext on our network', async () => {
    const login = { username: 'user', password: 'pass' };
    const auth = { user: 'user', pass: 'pass' };
    const implicit = await startSink({ tls: {}, implicitTls: true, auth });
    const starttls = await startSink({ tls: {}, auth });
    const clear = await startSink({ auth });
    await deliverOne(relay(implicit.port, { ...login, secure: true }));
    await deliverOne(relay(starttls.port, { ...login, requireTls: true }));
    await deliverOne(relay(clear.port, login));
    const seen = [implicit, starttls, clear].map(({ messages }) => messages[0]);
    expect(seen.map((message) => [message?.user, message?.tls])).toEqual([
      ['user', true],
      ['user', true],
      ['user', false],
    ]);
  });

  it('without TLS where it is required defers by policy', async () => {
    const sink = await startSink();
    expect(await deliverOne(relay(sink.port, { requireTls: true }))).toMatchObject({
      kind: 'deferred',
      errorCode: 'policy',
    });
    expect(sink.received).toBe(0);
  });

  it('on the Internet gets credentials over proven TLS only', async () => {
    const login = { username: 'user', password: 'pass' };
    const auth = { user: 'user', pass: 'pass' };
    for (const tls of [{}, false] as const) {
      const sink = await startSink({ tls, auth });
      transport = transportOf({ connect: () => connect({ host: '127.0.0.1', port: sink.port }) });
      expect(await deliverOne(relay(25, { ...login, host: '8.8.8.8' }))).toMatchObject({
        kind: 'deferred',
        errorCode: 'policy',
      });
      expect(sink.commands.some(({ line }) => line.startsWith('AUTH'))).toBe(false);
    }
  });

  it.each([
    ['refuses our password', { auth: { user: 'user', pass: 'other' } }, true],
    ['wants a login that we have not', { auth: { user: 'user', pass: 'pass' } }, false],
  ])('that %s defers, because the recipient is not at fault', async (_name, options, hasLogin) => {
    const sink = await startSink(options);
    const login = hasLogin ? { username: 'user', password: 'pass' } : {};
    const outcome = await deliverOne(relay(sink.port, login));
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'auth-failed' });
  });
});

describe('open sessions', () => {
  it('carry 250 messages over three connections of 100 each', async () => {
    const [sink] = await startMxHosts(1);
    for (let count = 0; count < 250; count += 1) await deliverOne(direct(sink?.port ?? 0));
    expect(sink?.connections.total).toBe(3);
    expect(sink?.received).toBe(250);
  });

  it('are shared by domains with the same hosts', async () => {
    const [sink] = await startMxHosts(1);
    server.set('other.test', 'MX', [{ exchange: 'mx1.test', preference: 5 }]);
    await deliverOne(direct(sink?.port ?? 0));
    await deliverOne(direct(sink?.port ?? 0, { domain: 'other.test' }));
    expect(sink?.connections.total).toBe(1);
  });

  it('are at most five to a destination', async () => {
    const [sink] = await startMxHosts(1);
    const jobs = Array.from({ length: 40 }, () => deliverOne(direct(sink?.port ?? 0)));
    const outcomes = await Promise.all(jobs);
    expect(outcomes.every(({ kind }) => kind === 'sent')).toBe(true);
    expect(sink?.connections.peak).toBe(5);
  });

  it('carry the next message behind the end of the previous one under load', async () => {
    const [sink] = await startMxHosts(1);
    const rule = { lane: 'one', connections: 1, messagesPerConnection: 1000, requireTls: false };
    transport = transportOf({ lanes: { ruleFor: () => rule, learn: () => {} } });
    sink?.on({ verb: 'RCPT', match: 'refused' }, '550 5.1.1 no such user');
    sink?.on({ verb: 'dot', match: 'spam' }, '554 5.7.1 spam');
    const jobs = Array.from({ length: 60 }, async (_, index) => {
      const word = ['fine', 'refused', 'fine', 'spam', 'fine'][index % 5] ?? '';
      const mail = mailOf({
        recipients: [`${word}@example.test`],
        data: [Buffer.from(`${word}\r\n`)],
      });
      const [outcome] = await transport.deliver(mailTo(mail, sink));
      return `${word} ${outcome?.kind}`;
    });
    const ends = await Promise.all(jobs);
    expect(new Set(ends)).toEqual(new Set(['fine sent', 'refused bounced', 'spam bounced']));
    expect([sink?.received, sink?.connections.total]).toEqual([36, 1]);
  });

  it('that break at a dot take no other message with them', async () => {
    const [sink] = await startMxHosts(1);
    const rule = { lane: 'one', connections: 1, messagesPerConnection: 1000, requireTls: false };
    transport = transportOf({ lanes: { ruleFor: () => rule, learn: () => {} } });
    sink?.on({ verb: 'dot', match: 'poison' }, { reset: true });
    const jobs = Array.from({ length: 30 }, async (_, index) => {
      const word = index % 10 === 5 ? 'poison' : 'fine';
      const mail = mailOf({ data: [Buffer.from(`Subject: ${word}\r\n\r\n`)] });
      const [outcome] = await transport.deliver(mailTo(mail, sink));
      return `${word} ${outcome?.kind} at ${outcome?.reply.verb}`;
    });
    const ends = await Promise.all(jobs);
    expect(new Set(ends)).toEqual(new Set(['fine sent at dot', 'poison deferred at dot']));
    expect(sink?.received).toBe(27);
  });

  it.each([
    ['closed unnoticed', { drop: true }],
    ['reset', { reset: true }],
    ['answers with 421', '421 4.4.2 idle for too long'],
  ] as const)('that the server %s are replaced within the same attempt', async (_name, reply) => {
    const [sink, other] = await startMxHosts(2);
    await deliverOne(direct(sink?.port ?? 0));
    sink?.on({ verb: 'MAIL', times: 1 }, reply);
    const outcome = await deliverOne(direct(sink?.port ?? 0));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { host: 'mx1.test' } });
    expect(outcome.trace.transcript).not.toContain('S: 421');
    expect(sink?.connections.total).toBe(2);
    expect(other?.connections.total).toBe(0);
  });

  it('that are dead do not hide a server that is down', async () => {
    const [sink] = await startMxHosts(1);
    const port = sink?.port ?? 0;
    await deliverOne(direct(port));
    sink?.on({ verb: 'MAIL' }, { drop: true });
    expect(await deliverOne(direct(port))).toMatchObject({
      kind: 'deferred',
      errorCode: 'connection',
    });
    expect(sink?.connections.total).toBe(2);
  });
});

describe('the only host of a destination', () => {
  it.each([
    ['RCPT', { drop: true }],
    ['DATA', { reset: true }],
    ['EHLO', { drop: true }],
    ['connect', { reset: true }],
  ] as const)('is tried once more when it drops one connection at %s', async (verb, reply) => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb, times: 1 }, reply);
    const outcome = await deliverOne(direct(sink?.port ?? 0));
    expect(outcome).toMatchObject({ kind: 'sent', trace: { durationMs: 0 } });
    expect([sink?.connections.total, sink?.received]).toEqual([2, 1]);
  });

  it('is tried twice when it drops every connection', async () => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb: 'RCPT' }, { drop: true });
    const outcome = await deliverOne(direct(sink?.port ?? 0));
    expect(outcome).toMatchObject({ kind: 'deferred', errorCode: 'connection' });
    expect(sink?.connections.total).toBe(2);
  });

  it.each([
    ['drops the connection after the dot', { verb: 'dot' }, { drop: true }],
    ['says 421', { verb: 'RCPT' }, '421 4.7.0 slow down'],
    ['sends a malformed reply', { verb: 'RCPT' }, '999 what'],
  ] as const)('is not tried again when it %s', async (_name, rule, reply) => {
    const [sink] = await startMxHosts(1);
    sink?.on({ ...rule, times: 1 }, reply);
    expect(await deliverOne(direct(sink?.port ?? 0))).toMatchObject({ kind: 'deferred' });
    expect(sink?.connections.total).toBe(1);
  });

  it('is tried again for unanswered recipients alone', async () => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb: 'RCPT', match: 'gone@' }, '550 5.1.1 no');
    sink?.on({ verb: 'DATA', times: 1 }, { drop: true });
    const recipients = ['gone@example.test', 'b@example.test'];
    const outcomes = await transport.deliver(jobFor(direct(sink?.port ?? 0), recipients));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['bounced', 'sent']);
    expect(sink?.messages[0]?.recipients).toEqual(['b@example.test']);
    expect(sink?.commands.filter(({ line }) => line.includes('gone@'))).toHaveLength(1);
  });
});

describe('an address that does not answer', () => {
  const names = Array.from({ length: 12 }, (_, index) => `tarpit${index}.test`);
  const routes = (port: number) => names.map((domain) => direct(port, { domain }));

  /** Starts one address behind twelve domains with host names of their own. */
  async function startTarpit(): Promise<SmtpSink> {
    const sink = await startSink();
    for (const name of names) {
      server.set(name, 'MX', [{ exchange: `mx.${name}`, preference: 1 }]);
      server.set(`mx.${name}`, 'A', ['127.0.0.1']);
    }
    return sink;
  }

  /** Lets time pass until all have ended; returns their kinds. */
  async function ends(outcomes: Promise<Outcome>[]): Promise<string[]> {
    let isOver = false;
    const all = Promise.all(outcomes).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const timerAt = clock.nextTimerAt();
      if (timerAt !== undefined) await clock.advance(timerAt - clock.now());
      else await until(() => isOver || clock.nextTimerAt() !== undefined);
    }
    return (await all).map(({ kind }) => kind);
  }

  it('gets two connections at once, under any of its names, until it answers', async () => {
    const sink = await startTarpit();
    const heal = sink.on({ verb: 'connect' }, { hang: true });
    const first = routes(sink.port).map(deliverOne);
    await until(() => sink.connections.now === names.length);
    expect(new Set(await ends(first))).toEqual(new Set(['deferred']));
    await until(() => sink.connections.now === 0);
    const total = sink.connections.total;
    const second = routes(sink.port).map(deliverOne);
    await until(() => sink.connections.now === 2);
    await clock.advance(29_000);
    expect(sink.connections.total).toBe(total + 2);
    await ends(second);
    await until(() => sink.connections.now === 0);
    heal();
    expect(await deliverOne(direct(sink.port, { domain: 'tarpit0.test' }))).toMatchObject({
      kind: 'sent',
    });
    const healed = await ends(routes(sink.port).map(deliverOne));
    expect(new Set(healed)).toEqual(new Set(['sent']));
    expect(sink.connections.now).toBeGreaterThan(2);
  });
});

describe('closing the transport', () => {
  it('lets deliveries under way end, then quits', async () => {
    const [sink] = await startMxHosts(1);
    sink?.on({ verb: 'dot' }, { raw: '' });
    const delivering = deliverOne(direct(sink?.port ?? 0));
    await until(() => sink?.commands.some(({ line }) => line === 'DATA') ?? false);
    const closing = transport.close(5_000);
    await clock.advance(4_999);
    expect(transport.connections).toBe(1);
    await clock.advance(1);
    await closing;
    expect(await delivering).toMatchObject({ kind: 'deferred', errorCode: 'connection' });
    expect(transport.connections).toBe(0);
  });

  it('defers later deliveries', async () => {
    const [sink] = await startMxHosts(1);
    await deliverOne(direct(sink?.port ?? 0));
    await transport.close();
    expect(sink?.commands.at(-1)?.line).toBe('QUIT');
    expect(await deliverOne(direct(sink?.port ?? 0))).toMatchObject({ kind: 'deferred' });
  });
});

it('an attempt that fails in our own code releases its connection', async () => {
  const [sink] = await startMxHosts(1);
  const route = direct(sink?.port ?? 0);
  const delivery = { hostname: 'client.test', maxConnections: 1, maxConnectionsPerDomain: 1 };
  await transport.close();
  transport = transportOf({ config: { delivery } });
  const broken = { ...jobFor(route), data: [null as unknown as Buffer] };
  await expect(transport.deliver(broken)).rejects.toThrow(TypeError);
  expect(await deliverOne(route)).toMatchObject({ kind: 'sent' });
});
