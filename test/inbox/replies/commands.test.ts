// The commands of answering, run like a person runs them: a mail is received, answered, forwarded,
// awaited and decided on, without a daemon.
// Slow: commands that wait for a mail.
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { type CliWorkspace, cliWorkspace, finished } from '../../support/cli.ts';
import { httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { config } from './world.ts';

const mail = [
  'From: Ada <ada@example.com>',
  'To: inbox@sandbox.test',
  'Subject: Confirm your address',
  'Message-ID: <first@example.com>',
  '',
  'Follow https://example.com/confirm?t=1&u=2 or type 482913.',
].join('\n');

interface Taken {
  messageId: string;
  threadId: string;
}

let test: TestApp;
let cli: CliWorkspace;
let mailbox: string;
let taken: Taken;
beforeAll(async () => {
  // The commands use the clock of the machine.
  test = await testApp({ config, start: Date.now() });
  const { dataDir, database } = test.app.config;
  cli = cliWorkspace({
    SVC_DATA_DIR: dataDir,
    SVC_DATABASE_URL: database.url,
    SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["127.0.0.1"]',
    SVC_DNS_SERVERS: '["127.0.0.1:1"]',
  });
  const { items } = await cli.json<{ items: { id: string }[] }>(['mailboxes', 'list']);
  mailbox = items[0]?.id ?? '';
  taken = await cli.json<Taken>(['mailboxes', 'receive', mailbox], { input: mail });
});
afterAll(async () => {
  cli.close();
  await test.close();
});

describe('svc mailboxes receive', () => {
  it('receives a mail into a thread, as by SMTP', async () => {
    expect(taken).toEqual({
      messageId: expect.stringMatching(/^msg_/),
      threadId: expect.stringMatching(/^thread_/),
      from: 'ada@example.com',
      subject: 'Confirm your address',
    });
    const again = await cli.run(['mailboxes', 'receive', mailbox, '--from', 'ada@example.com'], {
      input: mail
        .replace('first@', 'second@')
        .replace('Subject', 'References: <first@example.com>\nSubject'),
    });
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(taken.threadId);
  });

  it('exits with 8 for a mail that a paused mailbox refuses', async () => {
    const { id } = await cli.json<{ id: string }>(['mailboxes', 'create', '--slug', 'closed']);
    await cli.json(['mailboxes', 'pause', id]);
    const { code, stderr } = await cli.run(['mailboxes', 'receive', id], { input: mail });
    expect([code, stderr]).toEqual([8, expect.stringContaining('refused: 450')]);
  });
});

describe('svc messages expect', () => {
  const expecting = (...more: string[]) =>
    cli.run(['messages', 'expect', '--to', 'Inbox@sandbox.test', '--within', '1s', ...more]);

  it('prints the link or the code of a received mail', async () => {
    const past = ['--since', '2020-01-01T00:00:00Z', '--subject', '^confirm'];
    const link = await expecting(...past, '--extract', 'link');
    expect([link.code, link.stdout]).toEqual([0, 'https://example.com/confirm?t=1&u=2\n']);
    const code = await expecting(...past, '--extract', 'code');
    expect([code.code, code.stdout]).toEqual([0, '482913\n']);
    const shown = await expecting(...past, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ subject: 'Confirm your address' });
  });

  it('looks a minute back without --since', async () => {
    const words = ['--to', 'past@example.com', '--subject', 'Hi', '--text', 'Your code: 482 913'];
    await cli.json(['messages', 'send', ...words]);
    const past = ['messages', 'expect', '--to', 'past@example.com', '--within', '1s'];
    const { code, stdout } = await cli.run([...past, '--extract', 'code']);
    expect([code, stdout]).toEqual([0, '482913\n']);
  });

  it('reads the code from the HTML of a mail without text', async () => {
    const html = '<p>Copyright 2026</p><p>Your PIN</p><h1>4829</h1>';
    const mime = [
      'From: Ada <ada@example.com>',
      'To: inbox@sandbox.test',
      'Subject: Welcome',
      'Message-ID: <html@example.com>',
      'Content-Type: text/html; charset=utf-8',
      '',
      html,
    ].join('\n');
    await cli.json(['mailboxes', 'receive', mailbox], { input: mime });
    const { stdout } = await expecting('--subject', '^welcome', '--extract', 'code');
    expect(stdout).toBe('4829\n');
  });

  it('waits for a mail that is sent meanwhile', async () => {
    const waiting = cli.start(['messages', 'expect', '--to', 'new@example.com', '--within', '60s']);
    const words = ['--to', 'new@example.com', '--subject', 'Hi', '--text', 'Hi'];
    const ended = finished(waiting);
    // The command may not be waiting yet when the first mail is sent.
    while (waiting.exitCode === null) await cli.run(['messages', 'send', ...words]);
    const { code, stdout } = await ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Hi')]);
  });

  it('exits with 8 without a matching mail', async () => {
    const none = await expecting('--subject', 'nothing like it');
    expect([none.code, none.stderr]).toEqual([8, expect.stringContaining('no mail to')]);
  });

  it('exits with 2 for invalid flags', async () => {
    expect((await expecting('--subject', '(')).code).toBe(2);
    expect((await expecting('--within', 'soon')).code).toBe(2);
    expect((await expecting('--extract', 'picture')).code).toBe(2);
  });
});

describe('svc threads reply and forward', () => {
  it('send from the mailbox, and print the object of the API', async () => {
    const words = [taken.threadId, '--text', 'Thank you', '--cc', 'nonsense'];
    const reply = await cli.json<ReplyResult>(['threads', 'reply', ...words]);
    expect(reply).toMatchObject({
      status: 'sent',
      actionId: null,
      threadId: taken.threadId,
      skippedRecipients: [{ address: 'nonsense', reason: 'malformed' }],
    });
    const all = await cli.run(['threads', 'reply', ...words, '--all']);
    expect(all.stdout).toContain('Left out: nonsense (malformed)');
    const on = ['--to', 'boss@example.com'];
    const forward = await cli.json<ReplyResult>([
      ...['threads', 'forward', taken.threadId, '--message', taken.messageId, ...on],
    ]);
    expect(forward.status).toBe('sent');
    const empty = await cli.run(['threads', 'reply', taken.threadId]);
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('text')]);
  });
});

describe('svc mailboxes actions, show, approve, reject, activity', () => {
  it('show a whole proposal, and write its mail and its files', async () => {
    const api = httpApi(test);
    const constraints = { mailboxIds: [mailbox] };
    const input = { role: 'developer', constraints, sendMode: 'approval', name: 'agent' } as const;
    const { key } = await createKey(test.app, test.operator, input);
    const attachments = [{ filename: 'note.txt', content: 'Zm9yIHlvdQ==' }];
    const html = '<p>Other words</p><img src="https://spy.example/x">';
    const mail = { to: ['bo@example.com'], subject: 'News', text: 'Hello', html, attachments };
    const url = `/v1/mailboxes/${mailbox}/messages`;
    const { body } = await api.as(key ?? '').post<ReplyResult>(url, mail);
    const show = ['mailboxes', 'actions', 'show', body.actionId ?? ''];
    const { stdout } = await cli.run(show);
    const fileDigest = `sha256:${hash('sha256', 'for you')}`;
    for (const text of [
      ...['inbox@sandbox.test', 'bo@example.com', 'note.txt', fileDigest, 'Hello'],
      ...['Its HTML as text:', 'Other words', 'loads a picture from spy.example', html],
    ]) {
      expect(stdout).toContain(text);
    }
    const action = await cli.json<ShownAction>(show);
    const raw = await cli.run([...show, '--raw']);
    expect(`sha256:${hash('sha256', raw.stdout)}`).toBe(action.digest);
    expect((await cli.run([...show, '--attachment', '1'])).stdout).toBe('for you');
    expect((await cli.run([...show, '--attachment', '2'])).code).toBe(3);
    await cli.run(['mailboxes', 'reject', body.actionId ?? '']);
    await api.close();
  });

  it('decide on the proposals of a key', async () => {
    const api = httpApi(test);
    const constraints = { mailboxIds: [mailbox] };
    const input = { role: 'developer', constraints, sendMode: 'approval', name: 'agent' } as const;
    const { key } = await createKey(test.app, test.operator, input);
    const propose = () =>
      api
        .as(key ?? '')
        .post<ReplyResult>(`/v1/mailboxes/${mailbox}/messages/${taken.messageId}/reply`, {
          text: 'Hello',
        });
    const [first, second] = [(await propose()).body, (await propose()).body];
    const waiting = ['mailboxes', 'actions', 'inbox@sandbox.test', '--state', 'proposed'];
    expect((await cli.run(waiting)).stdout).toContain('agent');
    const words = ['mailboxes', 'approve', first.actionId ?? '', '--text', 'Hello Ada'];
    const approved = await cli.json<MailboxAction>(words);
    expect(approved).toMatchObject({
      state: 'executed',
      decidedBy: { kind: 'user', id: null },
      summary: { preview: 'Hello Ada' },
    });
    expect((await cli.run(words)).code).toBe(5);
    const rejected = await cli.json<MailboxAction>([
      ...['mailboxes', 'reject', second.actionId ?? '', '--note', 'not so'],
    ]);
    expect([rejected.state, rejected.note]).toEqual(['rejected', 'not so']);
    expect(await cli.json(waiting)).toEqual({ items: [], nextCursor: null });
    const activity = await cli.json<{ actions: object }>(['mailboxes', 'activity']);
    expect(activity.actions).toMatchObject({
      byType: [
        { type: 'reply', count: 2 },
        { type: 'sendMessage', count: 1 },
      ],
    });
    const bars = await cli.run(['mailboxes', 'activity']);
    expect(bars.stdout).toContain('2 reply');
    expect(bars.stdout.match(/^\d\d:00 {2}█+ \d$/gm)?.length).toBeOneOf([1, 2]);
    expect(bars.stdout).not.toMatch(/\b0\b|none/);
    await api.close();
  });
});
