// `messages show --raw` and `--attachment N`: unchanged bytes of sent and of received mail; and
// `@last` as an id.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { type DaemonHome, daemonHome, until } from '../support/daemon-process.ts';

/** Every byte value: no text in any encoding. */
const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

let home: DaemonHome;
let sent: Message;
let received: Message;
beforeAll(async () => {
  home = daemonHome();
  const daemon = await home.start();
  const file = join(home.cli.directory, 'all.bin');
  writeFileSync(file, bytes);
  const args = ['--subject', 'Files', '--text', 'Two', '--attach', file, '--attach', file];
  sent = await home.cli.json<Message>([
    ...['messages', 'send', '--to', 'inbox@sandbox.test', '--wait', ...args],
  ]);
  received = await until(async () => {
    const path = '/v1/messages?direction=inbound';
    return (await daemon.request<{ items: Message[] }>('GET', path)).body.items[0];
  }, 'the message is received');
});
afterAll(() => home.close());

async function output(...args: string[]): Promise<Buffer> {
  const child = home.cli.start(['messages', 'show', ...args]);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
  await new Promise((resolve) => child.on('close', resolve));
  return Buffer.concat(chunks);
}

it('@last is the message that was sent last', async () => {
  expect(await home.cli.json<Message>(['messages', 'show', '@last'])).toMatchObject({
    id: sent.id,
  });
  expect((await home.cli.run(['messages', 'explain', '@last'])).stdout).toContain(sent.id);
  expect((await home.cli.run(['messages', 'events', '@other'])).code).toBe(2);
});

it('--raw writes the mail, sent or received', async () => {
  const raw = (await home.cli.run(['messages', 'show', '@last', '--raw'])).stdout;
  expect(raw).toMatch(/^DKIM-Signature: /);
  expect(raw).toContain('Subject: Files\r\n');
  const receivedMail = (await home.cli.run(['messages', 'show', received.id, '--raw'])).stdout;
  expect(receivedMail).toMatch(/^Received: /);
  expect(receivedMail).toContain('Subject: Files\r\n');
});

it('--raw names the chosen copy of several on standard error', async () => {
  const { id } = await home.cli.json<Message>([
    ...['messages', 'send', '--to', 'ada@example.com', '--to', 'bob@other.example'],
    ...['--subject', 'Two', '--text', 'Two', '--wait'],
  ]);
  const end = await home.cli.run(['messages', 'show', id, '--raw']);
  expect(end.stderr).toBe('The copy of ada@example.com, one of 2: choose with --recipient\n');
  const other = await home.cli.run([
    ...['messages', 'show', id, '--raw', '--recipient', 'BOB@other.example'],
  ]);
  expect([other.code, other.stderr]).toEqual([0, '']);
  const tokenOf = (text: string) => /^X-Service-Token: (.*)\r$/m.exec(text)?.[1];
  expect(tokenOf(other.stdout)).toBeDefined();
  expect(tokenOf(other.stdout)).not.toBe(tokenOf(end.stdout));
});

it('--raw of an unknown address ends with 3', async () => {
  const args = ['messages', 'show', '@last', '--raw', '--recipient', 'eve@example.com'];
  expect((await home.cli.run(args)).code).toBe(3);
});

it.each([['sent'], ['received']])(
  '--attachment writes the bytes of a file of a %s mail',
  async (direction) => {
    const id = direction === 'sent' ? sent.id : received.id;
    expect(await output(id, '--attachment', '2')).toEqual(bytes);
    const email = await home.cli.json<EmailProjection>(['messages', 'show', id, '--email']);
    expect(email.attachments.map(({ filename }) => filename)).toEqual(['all.bin', 'all.bin']);
  },
);

it('a missing attachment ends with 3', async () => {
  const end = await home.cli.run(['messages', 'show', '@last', '--attachment', '3']);
  expect(end.code).toBe(3);
});

it('--raw with --json ends with 2', async () => {
  expect((await home.cli.run(['messages', 'show', '@last', '--raw', '--json'])).code).toBe(2);
});
