// examples/assistant against a real daemon: it reads a thread and proposes an answer, which is sent
// once a person approves it; it proposes nothing twice, and reports rejections.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MailboxAction } from '../../src/inbox/approvals/schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { repository } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';

const assistant = join(repository, 'examples/assistant/assistant.mjs');

let home: DaemonHome;
let daemon: DaemonProcess;
let key: string;
beforeAll(async () => {
  home = daemonHome({ SVC_DNS_SERVERS: '["127.0.0.1:1"]' });
  daemon = await home.start();
  const { items } = await home.cli.json<{ items: { id: string }[] }>(['mailboxes', 'list']);
  const permissions = ['read', 'write', 'send'].flatMap((verb) => [
    '--permission',
    `mailboxes:${verb}`,
  ]);
  const limits = ['--mailbox', items[0]?.id ?? '', '--send-mode', 'approval'];
  const words = ['keys', 'create', '--name', 'assistant', ...permissions, ...limits];
  key = (await home.cli.json<{ key: string }>(words)).key;
});
afterAll(() => home.close());

async function run(): Promise<string[]> {
  const env = { SVC_URL: daemon.httpUrl, SVC_KEY: key };
  const { stdout } = await promisify(execFile)(process.execPath, [assistant], { env });
  return stdout.split('\n').slice(0, -1);
}

async function take(question: string): Promise<void> {
  const input = `From: Ada <ada@example.com>\nSubject: ${question}\n\n${question} Thanks.\n`;
  await home.cli.json(['mailboxes', 'receive'], { input });
}

const idIn = (line = '') => /act_\w+/.exec(line)?.[0] ?? '';

it('the assistant proposes an answer once, sent when a person approves it', async () => {
  await take('Where is my order?');
  const [line, ...more] = await run();
  expect([line, more]).toEqual([
    expect.stringMatching(/^proposed act_\w+: an answer in "Where is my order\?"$/),
    [],
  ]);
  expect(await run()).toEqual([]);
  const approved = await home.cli.json<MailboxAction>(['mailboxes', 'approve', idIn(line)]);
  expect(approved).toMatchObject({ state: 'executed', summary: { to: ['ada@example.com'] } });
  const message = () => home.cli.json<Message>(['messages', 'show', approved.messageId ?? '']);
  await until(async () => (await message()).status === 'delivered', 'the answer is delivered');
  const email = await daemon.request<{ text: string; subject: string }>(
    'GET',
    `/v1/messages/${approved.messageId}/email`,
  );
  expect(email.body).toMatchObject({
    subject: 'Re: Where is my order?',
    text: 'Hello Ada,\n\nyou ask: Where is my order?\nWe will look into it.\n',
  });
});

it('the assistant reports a rejected answer', async () => {
  await take('Who are you?');
  const [line] = await run();
  await home.cli.json(['mailboxes', 'reject', idIn(line), '--note', 'Not by a program']);
  expect(await run()).toEqual([`rejected ${idIn(line)}: Not by a program`]);
});
