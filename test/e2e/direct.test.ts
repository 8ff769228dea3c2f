// Direct mode with a real DNS server and real mail hosts, each on a loopback address of its own:
// the host that is chosen, and hosts that are never dialled (RFC 5321 5.1, 7505).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

/** The mail hosts, all on one port, since `delivery.direct.port` is one. */
const hosts = { first: '127.0.0.2', second: '127.0.0.3' } as const;
/** Address without a mail host. */
const nobody = '127.0.0.4';

let dns: DnsServer;
let first: SmtpSink;
let second: SmtpSink;

beforeAll(async () => {
  [first, second] = await sinksOnOnePort();
  dns = await startDnsServer({
    'mx1.example.com': { A: [hosts.first] },
    'mx2.example.com': { A: [hosts.second] },
    'ordered.example': {
      MX: [
        { exchange: 'mx2.example.com', preference: 20 },
        { exchange: 'mx1.example.com', preference: 10 },
      ],
    },
    'mx0.example.com': { A: [nobody] },
    'failover.example': {
      MX: [
        { exchange: 'mx0.example.com', preference: 10 },
        { exchange: 'mx2.example.com', preference: 20 },
      ],
    },
    'bare.example': { A: [hosts.second] },
    'null.example': { MX: [{ exchange: '.', preference: 0 }], A: [hosts.first] },
    'literal.example': { MX: [{ exchange: hosts.first, preference: 10 }] },
    'inside.example': { MX: [{ exchange: 'mx1.example.com', preference: 10 }] },
    'inside-bare.example': { A: [hosts.first] },
    'inside6.example': { AAAA: ['::1'] },
    'mapped.example': { AAAA: ['::ffff:127.0.0.2'] },
    'unknown.example': { A: [hosts.first] },
  });
  dns.fault('unknown.example', 'servfail');
});
afterAll(async () => {
  await dns.close();
  await Promise.all([first.close(), second.close()]);
});

async function sinksOnOnePort(): Promise<[SmtpSink, SmtpSink]> {
  for (;;) {
    const one = await startSmtpSink({ host: hosts.first });
    const two = await startSmtpSink({ host: hosts.second, port: one.port }).catch(() => null);
    if (two) return [one, two];
    await one.close();
  }
}

/** Makes a home whose sandbox may send to others. */
async function directHome(env: Record<string, string> = {}): Promise<DaemonHome> {
  const made = daemonHome({
    SVC_DELIVERY_MODE: 'direct',
    SVC_DELIVERY_HOSTNAME: 'out.example.com',
    SVC_DELIVERY_DIRECT_PORT: String(first.port),
    SVC_DNS_SERVERS: JSON.stringify([dns.address]),
    ...env,
  });
  await made.makeStore();
  await made.cli.json(['domains', 'verify', 'sandbox.test', '--force']);
  return made;
}

/** Sends, and follows the message until its first attempt has ended. */
async function sendAndFollow(daemon: DaemonProcess, to: string) {
  const body = { channel: 'email', to: [{ email: to }], email: { subject: 'Hi', text: 'Hi\n' } };
  const { body: sent } = await daemon.request<Message>('POST', '/v1/messages', { body });
  const message = await until(async () => {
    const { body: now } = await daemon.request<Message>('GET', `/v1/messages/${sent.id}`);
    return now.deliveries.every(({ attempts }) => attempts.length > 0) && now;
  }, `an end for ${to}`);
  const [delivery] = message.deliveries;
  if (!delivery) throw new Error(`${to} has no delivery`);
  return { status: message.status, delivery };
}

const dialled = () => first.connections.total + second.connections.total;

describe('direct mode with private addresses allowed', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    home = await directHome({ SVC_DELIVERY_DIRECT_ALLOW_PRIVATE_ADDRESSES: 'true' });
    daemon = await home.start();
  });
  afterAll(() => home.close());

  it('delivers to the MX with the lowest preference', async () => {
    const { status, delivery } = await sendAndFollow(daemon, 'a@ordered.example');
    expect(status).toBe('delivered');
    expect(delivery.attempts).toMatchObject([
      { host: 'mx1.example.com', address: hosts.first, outcome: 'sent' },
    ]);
    const [message] = await first.waitFor(1);
    expect(message).toMatchObject({ recipients: ['a@ordered.example'], helo: 'out.example.com' });
    expect(second.received).toBe(0);
  });

  it('delivers to the next MX when the first does not answer', async () => {
    const { status, delivery } = await sendAndFollow(daemon, 'b@failover.example');
    expect(status).toBe('delivered');
    expect(delivery.attempts).toMatchObject([{ host: 'mx2.example.com', address: hosts.second }]);
    expect(second.messages.map(({ recipients }) => recipients)).toEqual([['b@failover.example']]);
  });

  it('delivers to a domain without MX at the domain itself', async () => {
    const { status, delivery } = await sendAndFollow(daemon, 'c@bare.example');
    expect(status).toBe('delivered');
    expect(delivery.attempts).toMatchObject([{ host: 'bare.example', address: hosts.second }]);
  });

  it.each([
    ['a null MX', 'null.example', 'null MX'],
    ['an address in place of a host name', 'literal.example', ''],
  ])('bounces for %s without dialling', async (_, domain, words) => {
    const before = dialled();
    const { status, delivery } = await sendAndFollow(daemon, `d@${domain}`);
    expect(status).toBe('bounced');
    expect(delivery).toMatchObject({
      errorCode: 'invalid-domain',
      errorMessage: expect.stringContaining(words),
      attemptCount: 1,
      scheduling: null,
    });
    expect(dialled()).toBe(before);
  });

  it('asks again within an hour for a name that does not exist, without dialling', async () => {
    const before = dialled();
    const { status, delivery } = await sendAndFollow(daemon, 'd@nowhere.example');
    expect(status).toBe('processing');
    expect(delivery).toMatchObject({
      errorCode: 'invalid-domain',
      errorMessage: expect.stringContaining('does not exist'),
      attemptCount: 1,
      scheduling: { waitReason: 'retry' },
    });
    expect(dialled()).toBe(before);
  });

  it('retries later when DNS fails', async () => {
    const { status, delivery } = await sendAndFollow(daemon, 'e@unknown.example');
    expect(status).toBe('processing');
    expect(delivery).toMatchObject({
      errorCode: 'connection',
      scheduling: { waitReason: 'retry' },
    });
    expect(Date.parse(delivery.nextRetryAt ?? '')).toBeGreaterThan(Date.now() + 50_000);
  });
});

describe('direct mode with private addresses forbidden', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    home = await directHome();
    daemon = await home.start();
  });
  afterAll(() => home.close());

  it.each([
    ['an MX', 'inside.example'],
    ['a domain without MX', 'inside-bare.example'],
    ['an IPv6 address', 'inside6.example'],
    ['IPv4 wrapped into IPv6', 'mapped.example'],
  ])('fails for good without dialling for %s on a loopback address', async (_, domain) => {
    const before = dialled();
    const { status, delivery } = await sendAndFollow(daemon, `f@${domain}`);
    expect(status).toBe('failed');
    expect(delivery).toMatchObject({
      errorCode: 'policy',
      errorMessage: expect.stringContaining('private address'),
      attemptCount: 1,
      scheduling: null,
    });
    expect(dialled()).toBe(before);
  });
});
