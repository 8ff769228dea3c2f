// The lines of docs/webhooks.md that verify posts, run as printed in a process of their own: they
// accept only posts signed with the secret.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/postgres.ts';
import { readMarkdown } from './markdown.ts';

const key = Buffer.alloc(32, 7);
const [script] = readMarkdown('docs/webhooks.md').fences.filter(
  ({ language }) => language === 'js',
);
const directory = mkdtempSync(join(tmpdir(), 'svc-readme-'));
let url: string;
let receiver: ReturnType<typeof spawn>;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  const file = join(directory, 'receive.mjs');
  writeFileSync(file, script?.text ?? '');
  const env = { WEBHOOK_SECRET: `whsec_${key.toString('base64')}`, PORT: String(port) };
  receiver = spawn(process.execPath, [file], { env, stdio: 'ignore' });
  while (!(await fetch(url).catch(() => null)));
});
afterAll(() => {
  receiver.kill();
  rmSync(directory, { recursive: true });
});

const body = '{"type":"message.sent","data":{"subject":"Żółw"}}';
const now = () => Math.floor(Date.now() / 1_000);
const sign = (by: Buffer, id: string, at: number) =>
  `v1,${createHmac('sha256', by).update(`${id}.${at}.${body}`).digest('base64')}`;

interface Post {
  by?: Buffer;
  before?: string;
  sent?: string;
  id?: string;
  /** Seconds since the signature. */
  age?: number;
}

it.each<[string, Post, number]>([
  ['signed with the secret', {}, 204],
  ['signed with a new secret and this one', { before: 'v1,AAAA ' }, 204],
  ['of another secret', { by: Buffer.alloc(32, 8) }, 401],
  ['with a changed body', { sent: `${body} ` }, 401],
  ['with another id', { id: 'evt_2' }, 401],
  ['six minutes old', { age: 360 }, 401],
])(
  'the receiver verifies a post %s',
  async (_what, { by = key, before = '', sent = body, id = 'evt_1', age = 0 }, expected) => {
    const at = now() - age;
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': before + sign(by, 'evt_1', at),
    };
    expect((await fetch(url, { method: 'POST', body: sent, headers })).status).toBe(expected);
  },
);
