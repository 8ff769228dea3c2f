// The log of a daemon at its most detailed level, after good and bad requests of every kind,
// contains no key, secret or text of a message.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  trustingTests,
  until,
} from '../support/daemon-process.ts';
import { smtpDialogue } from '../support/smtp-dialogue.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { limitFileSize } from './disk-room.ts';

const relayPassword = 'relay-Pass-8d1c5b';
const bodyText = 'body-Text-f3a97e';
const bodyHtml = 'body-Html-77b0c4';
const attached = 'attached-File-20e6d1';
const unknownKey = `svc_live_${'Unknown0'.repeat(4)}abcdef`;

let sink: SmtpSink;
let home: DaemonHome;
let daemon: DaemonProcess;
const secrets = new Map<string, string>();

const good = {
  channel: 'email',
  to: [{ email: 'ada@example.com' }],
  email: {
    subject: 'Hello',
    text: bodyText,
    html: `<p>${bodyHtml}</p>`,
    attachments: [{ filename: 'a.txt', content: Buffer.from(attached).toString('base64') }],
  },
};

async function goodRequests(): Promise<void> {
  // PLAIN, then LOGIN.
  sink.on({ verb: 'AUTH', times: 2 }, '535 5.7.8 wrong password');
  const headers = { 'idempotency-key': 'once' };
  const { body } = await daemon.request<Message>('POST', '/v1/messages', { headers, body: good });
  const deferred = await until(async () => {
    const { body: now } = await daemon.request<Message>('GET', `/v1/messages/${body.id}`);
    return now.deliveries[0]?.errorCode === 'auth-failed' && now;
  }, 'the relay refuses the password');
  expect(deferred.status).toBe('processing');
  await daemon.request('POST', '/v1/messages', { body: good });
  await sink.waitFor(1);
  const path = `/v1/messages/${body.id}/email?includeStorageUrls=true`;
  const email = await daemon.request<EmailProjection>('GET', path);
  const raw = email.body.storageUrls?.raw ?? '';
  await (await fetch(raw)).arrayBuffer();
  await (await fetch(`${raw}x`)).arrayBuffer();
  secrets.set('a signed URL', raw.slice(raw.lastIndexOf('/') + 1));
  const { body: key } = await daemon.request<{ key: string }>('POST', '/v1/api-keys', {
    body: { name: 'second', role: 'viewer' },
  });
  secrets.set('a key that was made', key.key.slice('svc_live_'.length));
  expect(
    (await daemon.request('POST', '/v1/messages', { apiKey: key.key, body: good })).status,
  ).toBe(403);
}

async function badRequests(): Promise<void> {
  const post = async (body: unknown, more: { apiKey?: string | null } = {}) =>
    (await daemon.request('POST', '/v1/messages', { body, ...more })).status;
  const headers = { 'idempotency-key': 'once' };
  const other = { ...good, to: [{ email: 'other@example.com' }] };
  expect(await post(`{"email": {"text": "${bodyText}`)).toBe(400);
  expect(await post(`${JSON.stringify(good)}${bodyText}`)).toBe(400);
  expect(await post({ ...good, email: { ...good.email, subject: `x\r\n${bodyText}` } })).toBe(422);
  expect(await post({ ...good, [bodyText]: 1, text: bodyText })).toBe(422);
  expect(await post({ ...good, email: { ...good.email, text: { bodyText } } })).toBe(422);
  expect(await post(good, { apiKey: unknownKey })).toBe(401);
  expect(await post(good, { apiKey: null })).toBe(401);
  expect((await daemon.request('POST', '/v1/messages', { headers, body: other })).status).toBe(409);
  expect((await daemon.request('GET', `/v1/nope?apiKey=${home.apiKey}`)).status).toBe(404);
  expect((await daemon.request('GET', `/v1/messages?key=${home.apiKey}`)).status).toBe(422);
}

/** Provokes failures of a store that cannot write, so that their causes are logged. */
async function failures(): Promise<void> {
  if (!limitFileSize(daemon.pid, 4_096)) return;
  expect((await daemon.request('POST', '/v1/messages', { body: good })).status).toBe(503);
  expect(await inbound()).toMatch(/^451/);
  limitFileSize(daemon.pid, null);
}

async function inbound(): Promise<string> {
  const client = await smtpDialogue(daemon.smtpPort);
  await client.reply();
  await client.say('EHLO client.example');
  await client.say('MAIL FROM:<ada@example.com>');
  await client.say('RCPT TO:<nobody@sandbox.test>');
  await client.say('RCPT TO:<inbox@sandbox.test>');
  await client.say('DATA');
  const reply = await client.say(`Subject: x\r\n\r\n${bodyText}\r\n.`);
  client.end();
  return reply;
}

beforeAll(async () => {
  sink = await startSmtpSink({ auth: { user: 'svc', pass: relayPassword } });
  home = daemonHome({
    SVC_LOG_LEVEL: 'trace',
    ...trustingTests,
    ...relayTo(sink),
    SVC_DELIVERY_RELAY_USERNAME: 'svc',
    SVC_DELIVERY_RELAY_PASSWORD: relayPassword,
  });
  daemon = await home.start();
  secrets
    .set('the first key', home.apiKey.slice('svc_live_'.length))
    .set('a key that nobody has', unknownKey.slice('svc_live_'.length))
    .set('the password of the relay', relayPassword)
    .set('the password of the relay, encoded', base64(`\0svc\0${relayPassword}`))
    .set('the password of the relay, for LOGIN', base64(relayPassword))
    .set('the text', bodyText)
    .set('the HTML', bodyHtml)
    .set('the attachment', attached)
    .set('the attachment, encoded', base64(attached));
  const secretKey = readFileSync(join(home.cli.directory, 'data/secret.key'));
  secrets.set('secret.key in hex', secretKey.toString('hex'));
  secrets.set('secret.key in base64', secretKey.toString('base64'));
  await goodRequests();
  await badRequests();
  expect(await inbound()).toMatch(/^250/);
  await failures();
  await daemon.stop();
});
afterAll(async () => {
  await home.close();
  await sink.close();
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

it('the log contains no secret', () => {
  const { stderr } = daemon.output;
  expect(daemon.log().map(({ msg }) => msg)).toEqual(expect.arrayContaining(['ready', 'stopped']));
  const leaked = [...secrets].filter(([, secret]) => stderr.includes(secret)).map(([name]) => name);
  expect(leaked).toEqual([]);
  expect(secrets.size).toBeGreaterThan(10);
});

it('standard output contains no secret, since others may keep it', () => {
  const { stdout } = daemon.output;
  const leaked = [...secrets].filter(([, secret]) => stdout.includes(secret)).map(([name]) => name);
  expect(leaked).toEqual([]);
});
