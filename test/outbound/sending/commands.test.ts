// `svc messages send` with its references and `--scheduled-for`, `batch` and `cancel`, as typed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BatchResult, Message } from '../../../src/outbound/messages/schema.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
});
afterAll(() => cli.close());

const later = new Date(Date.now() + 3_600_000).toISOString();
const entry = (email: string) => ({
  channel: 'email',
  to: [{ email }],
  email: { subject: 'Hi', text: 'Hi' },
});
const schedule = (time: string, ...more: string[]) => [
  ...['messages', 'send', '--to', 'ada@a.example', '--subject', 'Hi', '--text', 'Hi'],
  ...['--scheduled-for', time, ...more],
];

it('send --scheduled-for schedules once for one key, and cancel is repeatable', async () => {
  const key = ['--idempotency-key', 'k'];
  const message = await cli.json<Message>(schedule(later, ...key));
  expect(message).toMatchObject({ status: 'scheduled', scheduledFor: later });
  expect(await cli.json<Message>(schedule(later, ...key))).toEqual(message);
  const cancelled = await cli.json<Message>(['messages', 'cancel', message.id]);
  expect(cancelled).toMatchObject({ id: message.id, status: 'failed' });
  const again = await cli.run(['messages', 'cancel', message.id]);
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect(again.stdout).toContain('failed');
});

it('a past time ends with 2 and names scheduledFor', async () => {
  const { code, stderr } = await cli.run(schedule('2020-01-01T00:00:00Z', '--json'));
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    _tag: 'ValidationError',
    fields: { scheduledFor: [expect.stringMatching(/is past/)] },
  });
});

it('--wait is refused for scheduled mail', async () => {
  expect((await cli.run(schedule(later, '--wait'))).code).toBe(2);
});

it('batch from standard input prints the results of the API, once for one key', async () => {
  const options = { input: JSON.stringify([entry('a@a.example'), entry('b@b.example')]) };
  const args = ['messages', 'batch', '--data', '-', '--idempotency-key', 'batch'];
  const results = await cli.json<BatchResult[]>(args, options);
  expect(results).toMatchObject([
    { index: 0, message: { status: 'pending' } },
    { index: 1, message: { status: 'pending' } },
  ]);
  expect(await cli.json<BatchResult[]>(args, options)).toEqual(results);
});

it('batch from a file ends with 8 after a refused entry and sends the others', async () => {
  const file = join(cli.directory, 'messages.json');
  writeFileSync(file, JSON.stringify([entry('a@a.example'), { ...entry('b@b.example'), x: 1 }]));
  const { code, stdout, stderr } = await cli.run(['messages', 'batch', '--data', `@${file}`]);
  expect(code).toBe(8);
  expect(stdout).toMatch(/pending/);
  expect(stdout).toMatch(/ValidationError.*x: unknown field/);
  expect(stderr).toContain('1 of 2 messages were refused');
});

it('cancel ends with 3 for an unknown message', async () => {
  expect((await cli.run(['messages', 'cancel', 'msg_0000000000000000'])).code).toBe(3);
});

it('batch ends with 2 for other JSON than an array', async () => {
  const args = ['messages', 'batch', '--data', '{}'];
  expect((await cli.run(args)).code).toBe(2);
});

it('send stores conversation, kind of mail and contact with the message', async () => {
  const made = async (...words: string[]) => (await cli.json<{ id: string }>(words)).id;
  const conversationId = await made('conversations', 'create', '--title', 'A late invoice');
  const unsubscribeGroupId = await made('unsubscribe-groups', 'create', '--name', 'News');
  const contactId = await made('contacts', 'create', 'Ada@a.example', '--name', 'Ada');
  const data = JSON.stringify({ to: [{ contactId }] });
  const content = ['--subject', 'Hi', '--text', 'Hi'];
  const send = ['messages', 'send', ...content, '--data', data];
  const flags = ['--conversation', conversationId, '--unsubscribe-group', unsubscribeGroupId];
  const { id } = await cli.json<Message>([...send, ...flags]);
  expect(await cli.json<Message>(['messages', 'show', id])).toMatchObject({
    conversationId,
    unsubscribeGroupId,
    to: [{ email: 'Ada@a.example', name: 'Ada', contactId }],
  });
  const gone = (id: string) => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const [flag, id] of [
    ['--conversation', gone(conversationId)],
    ['--unsubscribe-group', gone(unsubscribeGroupId)],
  ] as const) {
    const { code, stderr } = await cli.run([...send, flag, id]);
    expect([code, stderr]).toEqual([3, expect.stringContaining(id)]);
  }
});
