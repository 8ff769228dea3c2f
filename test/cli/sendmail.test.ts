// bin/sendmail, called by other programs: cron, PHP, git send-email, scripts. Exit codes are those
// of sysexits.h.
import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { finished, repository } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';

interface Page {
  items: Message[];
}

let home: DaemonHome;
/** Null after a test has ended it. */
let running: DaemonProcess | null = null;
let daemon: DaemonProcess;
let sendmail: string;
beforeAll(() => {
  home = daemonHome();
  // Named like the /usr/sbin/sendmail that it replaces.
  sendmail = join(home.cli.directory, 'sendmail');
  symlinkSync(join(repository, 'bin/sendmail'), sendmail);
});
beforeEach(async () => {
  running ??= await home.start();
  daemon = running;
});
afterAll(async () => {
  running = null;
  await home.close();
});

async function call(args: readonly string[], input: string, env: Record<string, string> = {}) {
  const { directory, env: own } = home.cli;
  const child = spawn(sendmail, args, { cwd: directory, env: { ...own, ...env } });
  const result = finished(child);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return result;
}

/**
 * Calls `svc sendmail`, which bin/sendmail becomes, in the process of all commands. Tests of
 * Debian's cron and of PHP call the script.
 */
function callHere(args: readonly string[], input: string, env: Record<string, string> = {}) {
  return home.cli.run(['sendmail', ...args], { input, env });
}

async function lastMessage(): Promise<Message> {
  const { items } = await home.cli.json<Page>(['messages', 'list', '--limit', '1']);
  const [message] = items;
  if (!message) throw new Error('there is no message');
  return message;
}

const cron = [
  'From: root (Cron Daemon)',
  'To: root',
  'Subject: Cron <root@host> /usr/local/bin/backup',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=UTF-8',
  'Auto-Submitted: auto-generated',
  'X-Cron-Env: <SHELL=/bin/sh>',
  '',
  'backup: done',
  '',
].join('\n');

describe('sendmail', () => {
  it('accepts the mail of cron, in the forms of Debian and of cronie', async () => {
    const debian = ['-i', '-FCronDaemon', '-B8BITMIME', '-oem', 'root'];
    const cronie = ['-FCronDaemon', '-i', '-odi', '-oem', '-oi', '-t', '-f', 'root'];
    for (const sent of [() => call(debian, cron), () => callHere(cronie, cron)]) {
      expect(await sent()).toEqual({ code: 0, stdout: '', stderr: '' });
      const message = await lastMessage();
      expect(message).toMatchObject({
        from: { email: 'hello@sandbox.test', name: 'Cron Daemon' },
        to: [{ email: 'root@sandbox.test' }],
        subject: 'Cron <root@host> /usr/local/bin/backup',
        origin: { via: 'sendmail', keyId: null, user: expect.any(String) },
      });
      const shown = await home.cli.run(['messages', 'show', message.id]);
      expect(shown.stdout).toMatch(/origin\.via +sendmail/);
    }
  });

  it('accepts the mail of PHP with its headers and envelope sender, and delivers it', async () => {
    const text =
      'To: inbox@sandbox.test\nSubject: Contact form\nX-PHP-Originating-Script: 33:form.php\n' +
      'From: Shop <hello@sandbox.test>\r\nReply-To: ada@example.com\r\n\nHello\n.\nstill here\n';
    const { code, stderr } = await call(['-t', '-i', '-fwww-data@host'], text);
    expect([code, stderr]).toEqual([0, '']);
    const { id } = await lastMessage();
    const delivered = async () => {
      const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
      return body.status === 'delivered';
    };
    await until(delivered, 'delivered');
    const { body } = await daemon.request<EmailProjection>('GET', `/v1/messages/${id}/email`);
    expect(body).toMatchObject({
      subject: 'Contact form',
      fromName: 'Shop',
      toEmails: ['inbox@sandbox.test'],
      replyToEmails: ['ada@example.com'],
      text: 'Hello\n.\nstill here\n',
    });
  });

  it('accepts the mail of git send-email, and prints its id with -v', async () => {
    const patch = [
      'From: Ada <hello@sandbox.test>',
      'To: inbox@sandbox.test',
      'Cc: Bob <bob@example.com>',
      'Subject: [PATCH 1/2] store: one lock less',
      'Date: Mon,  5 Jan 2026 12:00:00 +0000',
      'Message-ID: <20260105120000.1-1-ada@sandbox.test>',
      'X-Mailer: git-send-email 2.43.0',
      '',
      '---',
      ' a | 2 +-',
      '',
    ].join('\n');
    const args = ['-f', 'ada@sandbox.test', '-i', 'inbox@sandbox.test', 'bob@example.com', '-v'];
    const { code, stdout } = await callHere(args, patch);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^msg_[0-9a-z]{24}\n$/)]);
    expect(await lastMessage()).toMatchObject({
      to: [{ email: 'inbox@sandbox.test' }],
      cc: [{ email: 'bob@example.com', name: 'Bob' }],
    });
  });

  it('takes -h as a hop count', async () => {
    const { code, stdout } = await callHere(['-h', '5', '-v', 'ada@example.com'], 'hello\n');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^msg_/)]);
  });

  it('replaces a From of this machine by the default sender', async () => {
    const from = `From: root@${hostname()}\n\nx\n`;
    expect((await callHere(['ada@example.com'], from)).code).toBe(0);
    expect((await lastMessage()).from).toEqual({ email: 'hello@sandbox.test', name: 'root' });
  });

  it('asks for no bounces with an empty sender', async () => {
    expect((await callHere(['-f', '<>', 'ada@example.com'], 'Subject: x\n\nx\n')).code).toBe(0);
    expect((await lastMessage()).from?.email).toBe('hello@sandbox.test');
  });

  it('reads no mail for -q, since the daemon runs the queue', async () => {
    const { id } = await lastMessage();
    expect(await callHere(['-q'], '')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await lastMessage()).id).toBe(id);
  });

  it('prints the object of the API with --json', async () => {
    const { code, stdout } = await callHere(['--json', 'ada@example.com'], 'hello\n');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      from: { email: 'hello@sandbox.test' },
      bcc: [{ email: 'ada@example.com' }],
      origin: { via: 'sendmail' },
    });
  });
});

describe('the exit code of sendmail', () => {
  const unreachable = { SVC_DATABASE_URL: 'postgres://127.0.0.1:1/none' };
  const good = 'From: hello@sandbox.test\n\nx\n';
  const to = ['ada@example.com'];
  it.each([
    ['an unknown option', 64, ['-z'], good, {}],
    ['SMTP on standard input', 64, ['-bs'], good, {}],
    ['no recipient', 64, [], good, {}],
    ['no recipient in the mail', 64, ['-t'], good, {}],
    ['an invalid From', 65, to, 'From: a@@b\n\nx\n', {}],
    ['tags beyond the bound', 65, to, `X-Service-Tags: ${'a,'.repeat(11)}\n${good}`, {}],
    ['a mail of more than 50 MiB', 65, to, `${good}${'x'.repeat(53_000_000)}`, {}],
    ['an invalid recipient', 67, ['a@@b'], good, {}],
    ['an unknown organization', 67, ['--org', 'nope', ...to], good, {}],
    ['an unreachable store', 69, to, good, unreachable],
    ['a missing store', 69, to, good, { SVC_DATA_DIR: '/nonexistent/svc' }],
    ['a From of another domain', 77, to, 'From: me@stranger.example\n\nx\n', {}],
    ['an invalid configuration', 78, to, good, { SVC_HTTP_PORT: 'x' }],
  ] as const)('is, for %s, %i', async (_case, expected, args, input, env) => {
    const { code, stdout, stderr } = await callHere(args, input, env);
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toMatch(/^svc: .+/);
  });

  it('is 65 for a reused idempotency key with other content, and 0 with the same', async () => {
    const mail = (text: string) => `X-Service-Idempotency-Key: k1\n${good}${text}\n`;
    const first = await callHere(['-v', ...to], mail('one'));
    const again = await callHere(['-v', ...to], mail('one'));
    expect([again.code, again.stdout]).toEqual([0, first.stdout]);
    expect((await callHere(to, mail('two'))).code).toBe(65);
  });

  it('is 75 beyond the daily quota', async () => {
    const noRoom = { SVC_PLANS: '{"self-hosted":{"dailyEmails":0}}' };
    expect((await callHere(to, good, noRoom)).code).toBe(75);
  });

  it('is 77 for a paused organization', async () => {
    const { cli } = home;
    await cli.json(['orgs', 'pause', 'default']);
    expect((await callHere(to, good)).code).toBe(77);
    await cli.json(['orgs', 'resume', 'default']);
  });
});

it('sendmail without a daemon queues the mail, and reports it', async () => {
  running = null;
  await daemon.stop();
  const { code, stderr } = await callHere(['inbox@sandbox.test'], 'Subject: later\n\nx\n');
  const { id } = await lastMessage();
  expect([code, stderr]).toEqual([
    0,
    `svc: ${id} waits: no daemon runs here. Start one: svc daemon\n`,
  ]);
  daemon = await home.start();
  const delivered = async () => {
    const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
    return body.status === 'delivered';
  };
  await until(delivered, 'delivered after the start');
  await daemon.kill();
  const afterCrash = await callHere(['inbox@sandbox.test'], 'Subject: later\n\nx\n');
  expect(afterCrash.stderr).toContain('no daemon runs here');
});
