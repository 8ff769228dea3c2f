// examples/signup against a real daemon: a form that mails a link once, and a reply to the answer.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { repository } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  trustingTests,
  until,
} from '../support/daemon-process.ts';
import { freePort } from '../support/postgres.ts';

let home: DaemonHome;
let daemon: DaemonProcess;
let program: ChildProcess;
let url: string;
beforeAll(async () => {
  home = daemonHome({ ...trustingTests, SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true' });
  daemon = await home.start();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const made = await daemon.request<{ secret: string }>('POST', '/v1/webhooks', {
    body: { url: `${url}/hook`, events: ['mailbox.message.received'] },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  program = spawn(process.execPath, [join(repository, 'examples/signup/signup.mjs')], {
    env: {
      ...{ SVC_URL: daemon.httpUrl, SVC_API_KEY: home.apiKey },
      ...{ WEBHOOK_SECRET: made.body.secret, PORT: String(port) },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => program.stdout?.once('data', resolve));
});
afterAll(async () => {
  program.kill();
  await home.close();
});

async function messages(query: string): Promise<Message[]> {
  const { body } = await daemon.request<{ items: Message[] }>('GET', `/v1/messages?${query}`);
  return body.items;
}

it('mails one link for an address, however often the form is sent', async () => {
  for (let times = 0; times < 2; times++) {
    const body = JSON.stringify({ email: 'delivered@simulator.test' });
    expect((await fetch(`${url}/signup`, { method: 'POST', body })).status).toBe(200);
  }
  const sent = await messages('direction=outbound');
  expect(sent.map(({ subject }) => subject)).toEqual(['Confirm your address']);
});

it('replies to mail, and takes no post without a signature', async () => {
  await home.cli.json([
    'messages',
    'send',
    '--to',
    'inbox@sandbox.test',
    '--subject',
    'Hi',
    '--text',
    'Who?',
  ]);
  const replies = await until(async () => {
    const found = (await messages('direction=outbound')).filter(
      ({ subject }) => subject === 'Re: Hi',
    );
    return found.length > 0 && found;
  }, 'a reply');
  expect(replies).toHaveLength(1);
  expect((await fetch(`${url}/hook`, { method: 'POST', body: '{}' })).status).toBe(400);
});
