// Four real daemons on one PostgreSQL before a provider that counts: together they have no more
// connections than its rule, use nearly all of them, and keep its rate. Slow: a rate per minute
// shows only over most of a minute.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, inject, it } from 'vitest';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type PostgresSchema, postgresSchema } from '../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

const connections = 6;
const perMinute = 1_200;
const perBatch = 100;
const sampleMs = 20;

let schema: PostgresSchema;
let home: DaemonHome;
let dns: DnsServer;
let sink: SmtpSink;
afterEach(async () => {
  await home.close();
  await sink.close();
  await dns.close();
  await schema.drop();
});

const provider = (name: string, limits: object) => ({
  ...{ name, mx: [`mx.${name}.example`], messagesPerConnection: 100, requireTls: false },
  ...limits,
});

/** Starts four daemons, which have their parts after five seconds. */
async function fourDaemons(): Promise<DaemonProcess[]> {
  schema = await postgresSchema(inject('postgresUrl'));
  sink = await startSmtpSink({ keep: false, tls: false });
  dns = await startDnsServer({
    'busy.example': { MX: [{ exchange: 'mx.busy.example', preference: 10 }] },
    'mx.busy.example': { A: ['127.0.0.1'] },
    'paced.example': { MX: [{ exchange: 'mx.paced.example', preference: 10 }] },
    'mx.paced.example': { A: ['127.0.0.1'] },
  });
  home = daemonHome({
    SVC_DATABASE_URL: schema.url,
    SVC_DELIVERY_MODE: 'direct',
    SVC_DELIVERY_HOSTNAME: 'out.example.com',
    SVC_DELIVERY_DIRECT_PORT: String(sink.port),
    SVC_DELIVERY_DIRECT_ALLOW_PRIVATE_ADDRESSES: 'true',
    SVC_DELIVERY_PROVIDERS_FILE: 'providers.yaml',
    SVC_DNS_SERVERS: JSON.stringify([dns.address]),
  });
  const rules = [
    provider('busy', { connections, perMinute: null }),
    provider('paced', { connections: 20, perMinute }),
  ];
  // JSON is YAML.
  writeFileSync(join(home.cli.directory, 'providers.yaml'), JSON.stringify(rules));
  const first = await home.start();
  await home.cli.json(['domains', 'verify', 'sandbox.test', '--force']);
  return [first, ...(await Promise.all([1, 2, 3].map(() => home.start())))];
}

async function sendBatches(daemons: readonly DaemonProcess[], domain: string, batches: number) {
  for (let batch = 0; batch < batches; batch++) {
    const body = Array.from({ length: perBatch }, (_, n) => ({
      channel: 'email',
      to: [{ email: `to-${batch}-${n}@${domain}` }],
      email: { subject: `mail ${batch} ${n}`, text: '.' },
    }));
    const daemon = daemons[batch % daemons.length];
    const answer = await daemon?.request('POST', '/v1/messages/batch', { body });
    expect(answer?.status).toBe(200);
  }
}

it('have together the connections of the rule, also after one was killed', {
  timeout: 90_000,
}, async () => {
  const daemons = await fourDaemons();
  // Each message holds its connection for a while.
  sink.on({ verb: 'dot' }, { dripMsPerByte: 4, text: '250 2.0.0 Ok: queued\r\n' });
  await sendBatches(daemons, 'busy.example', 12);
  await wait(6_000);
  /** Returns the mean number of connections over a time. */
  const meanOver = async (ms: number) => {
    const samples: number[] = [];
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await wait(sampleMs);
      samples.push(sink.connections.now);
    }
    return samples.reduce((sum, one) => sum + one, 0) / samples.length;
  };
  expect(sink.received).toBeLessThan(600);
  expect(await meanOver(2_000)).toBeGreaterThanOrEqual(0.8 * connections);
  await daemons.pop()?.kill();
  // The part of the killed one is free 10 s after its last heartbeat, and in use 5 s later.
  await wait(17_000);
  await sendBatches(daemons, 'busy.example', 4);
  await wait(1_000);
  expect(await meanOver(1_000)).toBeGreaterThanOrEqual(0.8 * connections);
  expect(sink.connections.peak).toBeLessThanOrEqual(connections);
});

it('keep the rate of a provider together', { timeout: 60_000 }, async () => {
  const daemons = await fourDaemons();
  await wait(7_000);
  await sendBatches(daemons, 'paced.example', 4);
  await until(() => sink.received > 0, 'the first mail');
  const seconds = 6;
  const from = sink.received;
  await wait(seconds * 1_000);
  const carried = sink.received - from;
  const allowed = (perMinute / 60) * seconds;
  // Each lane may have saved the mail of one second.
  expect(carried).toBeLessThanOrEqual(allowed + perMinute / 60);
  expect(carried).toBeGreaterThanOrEqual(0.8 * allowed);
});
