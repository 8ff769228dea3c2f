// A store that fails under a running daemon: full, locked, damaged. A message that cannot be
// written is never answered with 201 (or 250), nothing is lost or sent twice, and the daemon
// recovers with the store.
// Slow: each trouble meets a daemon that starts and stops.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
import { canLimitFiles, canMount, limitFileSize, mountDisk } from './disk-room.ts';

interface Page {
  items: Message[];
  pagination: { total: number };
}

let sink: SmtpSink;
let home: DaemonHome;
/** Daemon of the tests of one trouble, one after another, unless one of them has ended it. */
let running: DaemonProcess | null = null;

/** Opens the home for all tests of one trouble, each of which leaves the daemon healthy. */
async function openHome(env: Record<string, string> = {}): Promise<void> {
  sink = await startSmtpSink();
  home = daemonHome({ ...trustingTests, ...relayTo(sink), ...env });
}
async function closeHome(): Promise<void> {
  running = null;
  await home.close();
  await sink.close();
}

async function healthyDaemon(): Promise<DaemonProcess> {
  running ??= await home.start();
  return running;
}

/** Counts the received messages with this subject. */
function arrivals(subject: string): number {
  return sink.messages.filter(({ raw }) => raw.includes(`Subject: ${subject}\r`)).length;
}

function send(daemon: DaemonProcess, subject: string) {
  return daemon.request<Message & Record<string, unknown>>('POST', '/v1/messages', {
    body: {
      channel: 'email',
      to: [{ email: 'ada@example.com' }],
      email: { subject, text: `${subject}\n` },
    },
  });
}

/** Sends a mail to the local mailbox, and returns the final reply. */
async function inboundReply(daemon: DaemonProcess): Promise<string> {
  const client = await smtpDialogue(daemon.smtpPort);
  await client.reply();
  await client.say('EHLO client.example');
  await client.say('MAIL FROM:<ada@example.com>');
  await client.say('RCPT TO:<inbox@sandbox.test>');
  await client.say('DATA');
  const answer = await client.say('Subject: x\r\n\r\nx\r\n.');
  client.end();
  return answer;
}

async function expectRefusal(daemon: DaemonProcess): Promise<void> {
  const { status, headers, body } = await send(daemon, 'refused');
  expect({ status, _tag: body._tag, retryAfter: headers.get('retry-after') }).toEqual({
    status: 503,
    _tag: 'CapacityError',
    retryAfter: '1',
  });
  expect(body).toMatchObject({ message: expect.stringMatching(/^The store cannot /) });
}

async function expectHealed(daemon: DaemonProcess): Promise<void> {
  const ready = async () => (await daemon.request('GET', '/readyz')).status === 200;
  await until(ready, '/readyz says that the store takes writes');
  const { status, body } = await send(daemon, 'after');
  expect(status).toBe(201);
  await until(() => arrivals('after') === 1, 'the later message arrives');
  await until(async () => {
    const { body: message } = await daemon.request<Message>('GET', `/v1/messages/${body.id}`);
    return message.status === 'sent';
  }, 'its outcome is written');
}

/** A way to take the daemon's room to write, and to give it back. */
interface Room {
  env: Record<string, string>;
  take(daemon: DaemonProcess): void;
  /** Gives the room back; the daemon is null once it has ended. */
  giveBack(daemon: DaemonProcess | null): void;
  close(): void;
}

function fullDisk(): Room {
  const disk = mountDisk(mkdtempSync(join(tmpdir(), 'svc-small-disk-')), 16);
  return {
    env: { SVC_DATA_DIR: join(disk.directory, 'data') },
    take: () => disk.fill(),
    giveBack: () => disk.empty(),
    close() {
      disk.unmount();
      rmSync(disk.directory, { recursive: true });
    },
  };
}

function fileSizeLimit(): Room {
  return {
    env: {},
    take: ({ pid }) => expect(limitFileSize(pid, 4_096)).toBe(true),
    giveBack(daemon) {
      if (daemon) expect(limitFileSize(daemon.pid, null)).toBe(true);
    },
    close: () => {},
  };
}

describe.each([
  ['a full disk', canMount, fullDisk],
  ['a limit on the size of files', canLimitFiles, fileSizeLimit],
] as const)('%s', (_, isPossible, makeRoom) => {
  let room: Room;
  beforeAll(async () => {
    if (!isPossible) return;
    room = makeRoom();
    await openHome(room.env);
  });
  afterEach(() => {
    if (isPossible) room.giveBack(running);
  });
  afterAll(async () => {
    if (!isPossible) return;
    await closeHome();
    room.close();
  });

  it.runIf(isPossible)('refuses with 503, logs the reason, and recovers', async () => {
    const daemon = await healthyDaemon();
    expect((await send(daemon, 'before')).status).toBe(201);
    await until(() => arrivals('before') === 1, 'the earlier message arrives');

    room.take(daemon);
    for (let attempt = 0; attempt < 20; attempt++) await expectRefusal(daemon);
    expect((await daemon.request('GET', '/healthz')).status).toBe(200);
    // The store is checked once a second, regardless of the number of requests.
    const unready = async () => (await daemon.request('GET', '/readyz')).status === 503;
    await until(unready, '/readyz says that the store takes no write');
    expect(await daemon.request('GET', '/readyz')).toMatchObject({ body: { store: false } });
    expect((await daemon.request('GET', '/v1/messages')).status).toBe(200);
    expect(await inboundReply(daemon)).toMatch(/^451 4\.3\.0 /);
    expect(daemon.log()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: expect.stringMatching(/^The store cannot write now \(SQLITE_(FULL|IOERR)/),
        requestId: expect.any(String),
      }),
    );

    room.giveBack(daemon);
    await expectHealed(daemon);
    const { body } = await daemon.request<Page>('GET', '/v1/messages');
    const subjects = body.items.map(({ subject }) => subject);
    expect(subjects.slice(0, 2)).toEqual(['after', 'before']);
    expect(subjects).not.toContain('refused');
    expect(arrivals('refused')).toBe(0);
  });

  it.runIf(isPossible)('keeps the outcome of a message under way, and sends it once', async () => {
    const daemon = await healthyDaemon();
    const before = sink.commands.length;
    const linesBefore = daemon.log().length;
    sink.on({ verb: 'dot', times: 1 }, { dripMsPerByte: 20, text: '250 2.0.0 taken\r\n' });
    const { body } = await send(daemon, 'under way');
    const isUnderWay = () => sink.commands.slice(before).some(({ line }) => line === 'DATA');
    await until(isUnderWay, 'it is under way');
    room.take(daemon);
    await until(
      () =>
        daemon
          .log()
          .slice(linesBefore)
          .some(({ msg }) => msg === 'outcomes wait for the store'),
      'the outcome cannot be written',
    );
    room.giveBack(daemon);
    const message = await until(async () => {
      const { body: now } = await daemon.request<Message>('GET', `/v1/messages/${body.id}`);
      return now.status === 'sent' && now;
    }, 'the outcome is written');
    expect(message.deliveries).toMatchObject([{ attemptCount: 1 }]);
    expect(arrivals('under way')).toBe(1);
  });

  it.runIf(isPossible)('lets the daemon stop in order', async () => {
    const daemon = await healthyDaemon();
    room.take(daemon);
    await expectRefusal(daemon);
    running = null;
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a locked database', () => {
  beforeAll(() => openHome());
  afterAll(closeHome);

  it('refuses with 503 after a while, serves other requests meanwhile, and recovers', async () => {
    const daemon = await healthyDaemon();
    const other = new Database(join(home.cli.directory, 'data/svc.db'));
    other.exec('begin exclusive');
    let longestMs = 0;
    let isOver = false;
    const pulse = until(async () => {
      const askedAt = performance.now();
      expect((await daemon.request('GET', '/healthz')).status).toBe(200);
      longestMs = Math.max(longestMs, performance.now() - askedAt);
      return isOver;
    }, 'the end of the lock');
    const inbound = inboundReply(daemon);
    const command = home.cli.run([
      ...['messages', 'send', '--to', 'ada@example.com', '--subject', 'refused', '--text', 'x'],
    ]);
    await Promise.all([expectRefusal(daemon), expectRefusal(daemon)]);
    expect(await inbound).toMatch(/^451 4\.3\.0 /);
    expect(await command).toEqual({
      code: 7,
      stdout: '',
      stderr: 'svc: The store cannot write now (SQLITE_BUSY: database is locked)\n',
    });
    isOver = true;
    await pulse;
    // Waiting for the lock on the event loop would have delayed these too, by 2 s.
    expect(longestMs).toBeLessThan(1_500);
    other.exec('rollback');
    other.close();
    await expectHealed(daemon);
  });

  it('delays no request when locked for less than the waiting time', async () => {
    const daemon = await healthyDaemon();
    const other = new Database(join(home.cli.directory, 'data/svc.db'));
    other.exec('begin exclusive');
    const answers = Promise.all([send(daemon, 'one'), send(daemon, 'two')]);
    await daemon.request('GET', '/healthz');
    other.exec('rollback');
    other.close();
    expect((await answers).map(({ status }) => status)).toEqual([201, 201]);
    await until(() => arrivals('one') + arrivals('two') === 2, 'both arrive');
  });
});

describe('a damaged database', () => {
  beforeAll(() => openHome());
  afterAll(closeHome);

  it('refuses reads and writes with 503, and logs the reason', async () => {
    await home.makeStore();
    const file = join(home.cli.directory, 'data/svc.db');
    const bytes = readFileSync(file);
    const pages = new Database(file, { readonly: true });
    const roots = pages
      .prepare<[], number>("select rootpage from sqlite_master where tbl_name in ('messages')")
      .pluck()
      .all();
    pages.close();
    for (const page of roots) bytes.fill(0xab, (page - 1) * 8_192, page * 8_192);
    writeFileSync(file, bytes);

    const daemon = await home.start();
    await expectRefusal(daemon);
    const list = await daemon.request<Record<string, unknown>>('GET', '/v1/messages');
    expect(list).toMatchObject({ status: 503, body: { _tag: 'CapacityError' } });
    expect(await inboundReply(daemon)).toMatch(/^451 /);
    expect(daemon.log()).toContainEqual(
      expect.objectContaining({ msg: expect.stringMatching(/^The store cannot .*SQLITE_CORRUPT/) }),
    );
    expect(sink.received).toBe(0);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});
