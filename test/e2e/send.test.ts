// Sending through a running daemon, by HTTP and by command, to a real SMTP server: the received
// mail, the timeline, and the stop of the daemon.
// Slow: daemons that end with mail under way.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message, TimelineEvent } from '../../src/outbound/messages/schema.ts';
import { finished } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  until,
} from '../support/daemon-process.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import type { SinkReply } from '../support/smtp-sink-script.ts';

function payload(to: string, subject = 'Hello') {
  return { channel: 'email', to: [{ email: to }], email: { subject, text: 'It works.\n' } };
}

const toAda = ['--to', 'ada@example.com', '--subject', 'By command', '--text', 'It works.'];

describe('relay mode', () => {
  let sink: SmtpSink;
  let home: DaemonHome;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    sink = await startSmtpSink();
    home = daemonHome(relayTo(sink));
    daemon = await home.start();
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
  });

  /** Waits for the mail to this address. */
  const arrived = (address: string) =>
    until(
      () => sink.messages.find(({ recipients }) => recipients.includes(address)),
      `mail for ${address}`,
    );

  it('delivers a message sent over HTTP, with its events', async () => {
    const sent = await daemon.request<Message>('POST', '/v1/messages', {
      body: payload('grace@example.com'),
    });
    expect(sent.status).toBe(201);
    expect(sent.body.status).toBe('pending');
    const { raw } = await arrived('grace@example.com');
    expect(raw.toString()).toMatch(/^Subject: Hello\r$/m);

    const { id } = sent.body;
    await until(async () => {
      const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
      return body.status === 'sent';
    }, 'the message is sent');
    const events = await daemon.request<TimelineEvent[]>('GET', `/v1/messages/${id}/events`);
    expect(events.body.map(({ eventType }) => eventType)).toEqual([
      'accepted',
      'processing',
      'sent',
    ]);
    expect(events.body.at(-1)?.metadata).toMatchObject({
      recipient: 'grace@example.com',
      attempt: 1,
      code: 250,
      host: sink.host,
    });
    const byCommand = await home.cli.json<TimelineEvent[]>(['messages', 'events', id]);
    expect(byCommand).toEqual(events.body);
  });

  it('follows a message with `messages send --wait`, which ends with 0 once it is sent', async () => {
    const { code, stdout } = await home.cli.run(['messages', 'send', ...toAda, '--wait']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ *\d+\.\d s {2}ada@example\.com {2}sent: /m);
    expect((await arrived('ada@example.com')).raw.toString()).toMatch(/^Subject: By command\r$/m);
  });

  it('ends `messages send --wait` with 8 for a bounce, in the words of the server', async () => {
    sink.on({ verb: 'RCPT', match: 'nobody@example.com' }, '550 5.1.1 no such user here');
    const args = ['--to', 'nobody@example.com', '--subject', 'x', '--text', 'x', '--wait'];
    const { code, stdout, stderr } = await home.cli.run(['messages', 'send', ...args, '--json']);
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'bounced',
      deliveries: [{ errorCode: 'invalid-recipient' }],
    });
    expect(JSON.parse(stderr)).toMatchObject({
      _tag: 'ExpectationError',
      message: expect.stringContaining('no such user here'),
    });
  });

  it('refuses a second daemon on the same data with 7 and the pid of the first', async () => {
    const { code, stdout, stderr } = await home.cli.run(['daemon']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^svc: .*\\(pid ${daemon.pid}\\).*svc\\.db`, 'm'));
    expect(stderr).not.toContain('    at ');
    expect((await daemon.request('GET', '/readyz')).status).toBe(200);
  });

  it('answers 404 to a request that moves the clock of the system', async () => {
    const { status } = await daemon.request('POST', '/dev/clock', { body: { advance: '1d' } });
    expect(status).toBe(404);
  });
});

describe('commands without a daemon', () => {
  let sink: SmtpSink;
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let stored: Message;
  let connectionsBefore: number;
  let waited: ReturnType<typeof finished>;
  beforeAll(async () => {
    sink = await startSmtpSink();
    home = daemonHome(relayTo(sink));
    // A command does not create the store.
    await home.makeStore();
    stored = await home.cli.json<Message>(['messages', 'send', ...toAda]);
    const child = home.cli.start(['messages', 'send', ...toAda, '--wait']);
    waited = finished(child);
    child.stdin?.end();
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    connectionsBefore = sink.connections.total;
    daemon = await home.start();
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
  });

  it('store a message that the next daemon sends', async () => {
    expect(stored.status).toBe('pending');
    expect(connectionsBefore).toBe(0);
    await sink.waitFor(2);
    const { body } = await daemon.request<Message>('GET', `/v1/messages/${stored.id}`);
    expect(body.deliveries).toMatchObject([{ attemptCount: 1 }]);
  });

  it('wait with `--wait` for a later daemon', async () => {
    expect(await waited).toMatchObject({ code: 0, stdout: expect.stringContaining('sent') });
  });
});

describe('stopping a daemon', () => {
  let sink: SmtpSink;
  let home: DaemonHome;
  /** An idle daemon, left for the next test. */
  let idle: DaemonProcess | null = null;
  beforeAll(async () => {
    sink = await startSmtpSink();
    home = daemonHome({ ...relayTo(sink), SVC_SHUTDOWN_GRACE_SECONDS: '60' });
  });
  afterAll(async () => {
    await home.close();
    await sink.close();
  });

  /** Takes a daemon for a test to end, with these settings if given. */
  async function takeDaemon(env: Record<string, string> | null = null): Promise<DaemonProcess> {
    if (env) await idle?.stop();
    const daemon = (!env && idle) || (await home.start(env ? { env } : {}));
    idle = null;
    return daemon;
  }

  /**
   * Sends to a server with this reply to the end of a mail; resolves once the mail is under way.
   */
  async function sendAndWait(daemon: DaemonProcess, reply: SinkReply): Promise<string> {
    const before = sink.commands.length;
    sink.on({ verb: 'dot', times: 1 }, reply);
    const { body } = await daemon.request<Message>('POST', '/v1/messages', {
      body: payload('ada@example.com'),
    });
    const isUnderWay = () => sink.commands.slice(before).some(({ line }) => line === 'DATA');
    await until(isUnderWay, 'the message is under way');
    return body.id;
  }

  /** Opens a request that stays in work: its key is right, and its body never ends. */
  async function endlessRequest({ httpUrl, request }: DaemonProcess): Promise<Socket> {
    const { hostname, port } = new URL(httpUrl);
    const client = connect({ host: hostname, port: Number(port) });
    client.on('error', () => {});
    const head = `Host: x\r\nX-API-Key: ${home.apiKey}\r\nContent-Type: application/json`;
    client.write(`POST /v1/messages HTTP/1.1\r\n${head}\r\nContent-Length: 9\r\n\r\n{`);
    await request('GET', '/healthz');
    return client;
  }

  /** Expects the next daemon to send the mail that was under way. */
  async function expectNextDaemonSends(): Promise<void> {
    const before = sink.received;
    idle = await home.start();
    await sink.waitFor(before + 1);
  }

  it('exits with 0 at the end of the grace, and hands mail under way back', async () => {
    const daemon = await takeDaemon({ SVC_SHUTDOWN_GRACE_SECONDS: '3' });
    const id = await sendAndWait(daemon, { hang: true });
    // The request shares the same grace, instead of having its own before it.
    const request = await endlessRequest(daemon);
    const startedAt = performance.now();
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    const tookMs = performance.now() - startedAt;
    request.destroy();
    expect(tookMs).toBeGreaterThan(2_900);
    expect(tookMs).toBeLessThan(5_900);
    const [delivery] = await home.cli.json<Message['deliveries']>(['messages', 'deliveries', id]);
    // Due now, instead of at the end of a lease in a minute.
    expect(Date.parse(delivery?.scheduling?.dueAt ?? '')).toBeLessThanOrEqual(Date.now());
    await expectNextDaemonSends();
  });

  it('lets mail under way end within the grace', async () => {
    const daemon = await takeDaemon();
    const before = sink.received;
    const id = await sendAndWait(daemon, { dripMsPerByte: 20, text: '250 2.0.0 taken\r\n' });
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(sink.received).toBe(before + 1);
    expect(await home.cli.json(['messages', 'show', id])).toMatchObject({ status: 'sent' });
  });

  it('ends at once on a second signal, and loses nothing in flight', async () => {
    const daemon = await takeDaemon();
    await sendAndWait(daemon, { hang: true });
    const request = await endlessRequest(daemon);
    daemon.signal('SIGTERM');
    await until(() => daemon.log().some(({ msg }) => msg === 'stopping'), 'it is stopping');
    const startedAt = performance.now();
    let hasEnded = false;
    void daemon.exited.then(() => {
      hasEnded = true;
    });
    // One signal sent twice within a quarter of a second counts as one (npm and the terminal).
    await until(() => {
      daemon.signal('SIGINT');
      return hasEnded;
    }, 'the daemon ends');
    expect(await daemon.exited).toEqual({ code: 130, signal: null });
    request.destroy();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await expectNextDaemonSends();
  });

  it('exits with 0 at once when idle', async () => {
    const daemon = await takeDaemon();
    const startedAt = performance.now();
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
