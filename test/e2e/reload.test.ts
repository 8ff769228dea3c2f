// SIGHUP: a running daemon takes the reloadable keys of its configuration file and the files that
// it names.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { systemdUnit } from '../../commands/base/nouns/unit.ts';
import type { ConfigInput } from '../../src/core/config/config.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { otherCert, otherKey } from '../submission/other-cert.ts';
import { repository } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  until,
} from '../support/daemon-process.ts';
import { smtpDialogue } from '../support/smtp-dialogue.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { testCert, testKey } from '../support/test-cert.ts';

let sink: SmtpSink;
let home: DaemonHome;
let daemon: DaemonProcess;
const place = (name: string) => join(home.cli.directory, name);

function configure(config: ConfigInput): void {
  const tls = { certFile: place('cert.pem'), keyFile: place('key.pem') };
  writeFileSync(place('config.yaml'), stringify({ smtp: { inbound: { tls } }, ...config }));
}

/** Sends SIGHUP. Returns the log line of the reload. */
async function reload(): Promise<Record<string, unknown>> {
  const before = daemon.log().length;
  daemon.signal('SIGHUP');
  return until(
    () =>
      daemon
        .log()
        .slice(before)
        .find(({ msg }) => /reloaded/.test(String(msg))),
    'a reload in the log',
  );
}

function send(to: string) {
  const email = { subject: 'Hello', text: 'It works.' };
  const body = { channel: 'email', to: [{ email: to }], email };
  return daemon.request<Message>('POST', '/v1/messages', { body });
}

async function reachesDelivered({ id }: Message): Promise<void> {
  await until(async () => {
    const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
    return body.status === 'delivered';
  }, 'a delivered message');
}

beforeAll(async () => {
  sink = await startSmtpSink();
  home = daemonHome(relayTo(sink));
  writeFileSync(place('cert.pem'), testCert);
  writeFileSync(place('key.pem'), testKey);
  configure({ delivery: { allow: ['nobody@example.com'] } });
  daemon = await home.start();
});
afterAll(async () => {
  await home.close();
  await sink.close();
});

it('SIGHUP lets the daemon run on, and names the keys that need a restart', async () => {
  configure({ http: { maxInFlight: 77 }, log: { mail: false }, delivery: { allow: [] } });
  expect(await reload()).toMatchObject({
    level: 'warn',
    changed: ['delivery.allow', 'log.mail'],
    needRestart: ['http.maxInFlight'],
  });
  expect((await daemon.request('GET', '/readyz')).status).toBe(200);
});

it('SIGHUP changes the recipients of delivery.allow', async () => {
  configure({ delivery: { allow: ['grace@example.com'] } });
  await reload();
  const { body } = await send('ada@example.com');
  await reachesDelivered(body);
  configure({ delivery: { allow: ['ada@example.com'] } });
  await reload();
  expect(sink.messages).toEqual([]);
  await send('ada@example.com');
  await until(() => sink.messages.length === 1, 'mail at the relay');
});

it('SIGHUP changes the limits of plans', async () => {
  const plan = { dailyEmails: 1_000_000, trialCaps: false };
  configure({ plans: { 'self-hosted': { ...plan, ratePerSecond: 7 } } });
  await reload();
  const limited = await send('inbox@sandbox.test');
  expect(limited.headers.get('ratelimit-limit')).toBe('7');
  configure({ plans: { 'self-hosted': { ...plan, ratePerSecond: 9 } } });
  await reload();
  const raised = await send('inbox@sandbox.test');
  expect(raised.headers.get('ratelimit-limit')).toBe('9');
});

it('SIGHUP takes another certificate into use at once', async () => {
  writeFileSync(place('cert.pem'), otherCert);
  writeFileSync(place('key.pem'), otherKey);
  await reload();
  const dialogue = await smtpDialogue(daemon.smtpPort);
  await dialogue.reply();
  await dialogue.say('EHLO client.example');
  await dialogue.say('STARTTLS');
  await dialogue.secure({ ca: otherCert, rejectUnauthorized: true, servername: 'other.test' });
  expect(await dialogue.say('EHLO client.example')).toMatch(/^250/);
  dialogue.end();
});

it('SIGHUP changes the level of the log', async () => {
  const http = { maxInFlight: 77 };
  configure({ http, log: { level: 'warn' } });
  expect((await reload()).changed).toContain('log.level');
  const before = daemon.log().length;
  const { body } = await send('delivered@simulator.test');
  await reachesDelivered(body);
  expect(daemon.log().slice(before)).toEqual([]);
  configure({ http, log: { level: 'info' } });
  expect((await reload()).changed).toEqual(['log.level']);
});

it('SIGHUP with a mistake in the configuration changes nothing', async () => {
  configure({ delivery: { allow: [], maxConnections: -1 } });
  const line = await reload();
  expect(line.level).toBe('error');
  expect(line.msg).toMatch(
    /^the configuration was not reloaded: \/\S+\/config\.yaml:\d+:\d+: delivery\.max/,
  );
  configure({ delivery: { allow: ['ada@example.com'], providersFile: place('none.yaml') } });
  expect((await reload()).msg).toMatch(/not reloaded: .*providersFile: .*there is no such file/);
});

it('systemctl reload fails with a mistake in the configuration, and sends no SIGHUP', async () => {
  const unit = systemdUnit({ home: repository, config: place('config.yaml') });
  const steps = [...unit.matchAll(/^ExecReload=(.*)$/gm)].map(([, step = '']) => step);
  const env = { ...process.env, ...home.cli.env, MAINPID: String(daemon.pid) };
  // As systemd runs the steps: the first step that fails ends the reload.
  const systemctlReload = () =>
    steps.every((step) => spawnSync('/bin/sh', ['-c', step], { env }).status === 0);
  const before = daemon.log().length;
  configure({ delivery: { allow: ['bob@example.com'], maxConnections: -1 } });
  expect(systemctlReload()).toBe(false);
  configure({ delivery: { allow: ['bob@example.com'] } });
  expect(systemctlReload()).toBe(true);
  const reloads = () =>
    daemon
      .log()
      .slice(before)
      .filter(({ msg }) => /reloaded/.test(String(msg)));
  await until(() => reloads().length > 0, 'a reload in the log');
  expect(reloads()).toMatchObject([{ changed: expect.arrayContaining(['delivery.allow']) }]);
});

it('SIGHUP reads the rules of providers', async () => {
  const own = [
    { name: 'default', mx: [], connections: 3, messagesPerConnection: 1, perMinute: null },
  ].map((rule) => ({ ...rule, requireTls: false }));
  writeFileSync(place('own.yaml'), stringify(own));
  configure({ delivery: { providersFile: place('own.yaml') } });
  expect((await reload()).changed).toContain('delivery.providersFile');
});

it('SIGTERM after SIGHUP stops the daemon in order', async () => {
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});
