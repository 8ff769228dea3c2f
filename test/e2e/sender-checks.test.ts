// Checks of senders in a real daemon, in real time: the attack by silent DNS, the wait of a new
// user without DNS, and the log lines.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { smtpDialogue } from '../support/smtp-dialogue.ts';

let home: DaemonHome;
let daemon: DaemonProcess;
let dns: DnsServer;

beforeAll(async () => {
  dns = await startDnsServer({
    '_dmarc.bank.example': { TXT: ['v=DMARC1; p=reject'] },
    'bank.example': { TXT: ['v=spf1 include:silent.example -all'] },
  });
  dns.fault('silent.example', 'timeout');
  for (const fault of ['timeout', 'servfail'] as const) {
    for (const name of [`${fault}.example`, `_dmarc.${fault}.example`]) dns.fault(name, fault);
  }
  home = daemonHome({ SVC_DNS_SERVERS: JSON.stringify([dns.address]) });
  daemon = await home.start();
});
// The last test ends the DNS server.
afterAll(() => home.close());

/** Sends a hand-written mail to the first mailbox; returns the final reply and its time. */
async function byHand(
  { smtpPort }: DaemonProcess,
  sender: string,
): Promise<{ reply: string; tookMs: number }> {
  const dialogue = await smtpDialogue(smtpPort);
  await dialogue.reply();
  await dialogue.say('EHLO laptop');
  await dialogue.say(`MAIL FROM:<${sender}>`);
  await dialogue.say('RCPT TO:<inbox@sandbox.test>');
  await dialogue.say('DATA');
  const sentAt = performance.now();
  const reply = await dialogue.say(`From: ${sender}\r\nSubject: secret-Subject\r\n\r\nhi\r\n.`);
  dialogue.end();
  return { reply, tookMs: Math.round(performance.now() - sentAt) };
}

it('a sender with hanging SPF is deferred twice (goal: 1.5 s), each with one log line', async () => {
  const answers = [];
  for (const _ of [1, 2, 3]) answers.push(await byHand(daemon, 'ceo@bank.example'));
  console.log(`the attack: ${answers.map(({ tookMs }) => `${tookMs} ms`).join(', ')}`);
  expect(answers.map(({ reply }) => reply.slice(0, 9))).toEqual([
    '451 4.7.1',
    '451 4.7.1',
    '250 2.0.0',
  ]);
  for (const { tookMs } of answers) expect(tookMs).toBeLessThan(10_000);
  const lines = daemon.log().filter(({ code }) => code === 451);
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatchObject({
      level: 'info',
      domain: 'bank.example',
      from: 'ceo@bank.example',
      remoteAddress: '127.0.0.1',
    });
    expect(JSON.stringify(line)).not.toMatch(/secret-Subject/);
  }
});

describe('mail without working DNS', () => {
  async function expectBothTaken(on: DaemonProcess, domain: string): Promise<void> {
    const { reply, tookMs } = await byHand(on, `me@${domain}`);
    expect(reply).toMatch(/^250 /);
    const startedAt = performance.now();
    const { body } = await on.request<Message>('POST', '/v1/messages', {
      body: {
        channel: 'email',
        to: [{ email: 'inbox@sandbox.test' }],
        email: { subject: 'Hello', text: 'hi' },
      },
    });
    await until(async () => {
      const now = await on.request<Message>('GET', `/v1/messages/${body.id}`);
      return now.body.status === 'delivered';
    }, 'our own mail is delivered');
    const ownMs = Math.round(performance.now() - startedAt);
    console.log(`${domain}: by hand ${tookMs} ms, our own ${ownMs} ms`);
    expect(tookMs).toBeLessThan(10_000);
    const { body: list } = await on.request<{ items: Message[] }>(
      'GET',
      '/v1/messages?direction=inbound&limit=1',
    );
    const email = `/v1/messages/${list.items[0]?.id}/email`;
    const { body: own } = await on.request<EmailProjection>('GET', email);
    expect(own).toMatchObject({ subject: 'Hello', spfVerdict: null, dmarcVerdict: null });
  }

  it.each([
    ['DNS is silent', 'timeout'],
    ['DNS fails', 'servfail'],
  ])('is accepted by hand and delivered at once from us while %s', async (_, fault) => {
    await expectBothTaken(daemon, `${fault}.example`);
  });

  it('is accepted by hand and delivered at once from us without a DNS server', async () => {
    await dns.close();
    await expectBothTaken(daemon, 'me.example');
  });
});
