// Two processes on one store. Invariants: two daemons never work on one SQLite file, and the second
// is refused with a reason and leaves the first alone; commands beside the daemon lose nothing, and
// nothing is sent twice. Several daemons on one PostgreSQL are supported:
// test/e2e/postgres.test.ts. Slow: commands run as processes beside a daemon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  relayTo,
  trustingTests,
  until,
} from '../support/daemon-process.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

let sink: SmtpSink;
let home: DaemonHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  sink = await startSmtpSink();
  home = daemonHome({ ...relayTo(sink), ...trustingTests });
  daemon = await home.start();
});
afterAll(async () => {
  await home.close();
  await sink.close();
});

const mail = (to: string) => ({
  channel: 'email',
  to: [{ email: to }],
  email: { subject: 'Hello', text: 'It works.\n' },
});

async function post(to: string): Promise<string> {
  const { status, body } = await daemon.request<Message>('POST', '/v1/messages', {
    body: mail(to),
  });
  expect(status).toBe(201);
  return body.id;
}

const copies = (to: string) => sink.messages.filter(({ recipients }) => recipients.includes(to));

describe('a second daemon on the same SQLite store', () => {
  it('is refused with 7, the pid and the remedy, while the first continues', async () => {
    const { code, stdout, stderr } = await home.cli.run(['daemon']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toMatch(/^svc: Another svc daemon \(pid \d+\) already runs on .*stop it first/);
    expect(stderr).toContain(`(pid ${daemon.pid})`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    await post('after-refusal@example.com');
    await until(() => copies('after-refusal@example.com').length > 0, 'mail after the refusal');
  });

  it('is refused while mail is in flight, which is neither handed back nor repeated', async () => {
    sink.on(
      { verb: 'dot', match: 'slow@example.com', times: 1 },
      { dripMsPerByte: 100, text: '250 2.0.0 taken\r\n' },
    );
    const id = await post('slow@example.com');
    await until(() => sink.commands.some(({ line }) => /slow@example/.test(line)), 'the attempt');
    expect((await home.cli.run(['daemon'])).code).toBe(7);
    const sent = await until(async () => {
      const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
      return body.status === 'sent' && body;
    }, 'the end of the attempt');
    expect(sent.deliveries).toMatchObject([{ attemptCount: 1 }]);
    await until(() => copies('slow@example.com').length > 0, 'the copy');
    expect(copies('slow@example.com')).toHaveLength(1);
  });

  it('takes over as soon as the first is killed: the lock ends with its process', async () => {
    await daemon.kill();
    daemon = await home.start();
    await post('after-kill@example.com');
    await until(() => copies('after-kill@example.com').length > 0, 'mail of the successor');
  });
});

/** Sends of each kind: each command is a process of its own. */
const sends = 3;

describe('commands beside the daemon', () => {
  it('send, block, hold, drop and list at once without a loss or a repeat', async () => {
    const { cli } = home;
    const to = (kind: string, index: number) => `${kind}${index}@example.com`;
    const text = ['--subject', 'Hello', '--text', 'Hello'];
    const runs = Array.from({ length: sends }, (_, index) => [
      cli.run(['messages', 'send', '--to', to('command', index), ...text]),
      post(to('http', index)).then(() => ({ code: 0, stderr: '' })),
    ]).flat();
    const others = [
      cli.run(['blocks', 'add', 'blocked@example.com']),
      cli.run(['queue', 'hold', '--domain', 'held.example']),
      cli.run(['queue', 'list']),
      cli.run(['queue', 'flush']),
      cli.run(['backup', 'beside.db']),
    ];
    for (const { code, stderr } of await Promise.all([...runs, ...others])) {
      expect([code, stderr]).toEqual([0, expect.any(String)]);
    }
    const addresses = Array.from({ length: sends }, (_, index) => [
      to('command', index),
      to('http', index),
    ]).flat();
    await until(() => addresses.every((address) => copies(address).length > 0), 'all of the mail');
    const blocked = await post('blocked@example.com');
    const held = await post('ada@held.example');
    expect((await cli.run(['queue', 'drop', held, '--yes'])).code).toBe(0);
    for (const [id, errorCode] of [
      [blocked, 'suppressed'],
      [held, 'cancelled'],
    ]) {
      const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
      expect(body.deliveries).toMatchObject([{ status: 'failed', errorCode }]);
    }
    for (const address of addresses) expect(copies(address)).toHaveLength(1);
    expect([...copies('blocked@example.com'), ...copies('ada@held.example')]).toEqual([]);
  }, 60_000);
});
