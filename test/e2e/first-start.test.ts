// The first minute: an empty home and data directory, the printed curl line pasted into a shell,
// and the message that arrives in the inbox.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type DkimDomain, dkimResolver } from '../support/dkim-resolver.ts';

const run = promisify(execFile);

interface Page<Item> {
  items: Item[];
  pagination: { total: number };
}

let home: DaemonHome;
let daemon: DaemonProcess;
let delivered: Message;
let inbound: Message;
let readyToDeliveredMs: number;

beforeAll(async () => {
  home = daemonHome({}, { isEmpty: true });
  daemon = await home.start();
  const readyAt = performance.now();
  const { stdout } = await run('sh', ['-c', home.curl]);
  const { id } = JSON.parse(stdout) as Message;
  delivered = await until(async () => {
    const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
    return body.status === 'delivered' && body;
  }, 'the message of the curl line is delivered');
  readyToDeliveredMs = performance.now() - readyAt;
  const list = await daemon.request<Page<Message>>('GET', '/v1/messages?direction=inbound');
  const [first] = list.body.items;
  if (!first) throw new Error('the inbox is empty');
  inbound = first;
});
afterAll(() => home.close());

describe('the message of the printed curl line', () => {
  it('is delivered within 5 s of the ready line (goal: 1 s)', () => {
    console.log(`from ready to delivered: ${Math.round(readyToDeliveredMs)} ms`);
    expect(delivered).toMatchObject({
      status: 'delivered',
      from: { email: 'hello@sandbox.test' },
      deliveries: [{ attemptCount: 1, attempts: [{ host: '127.0.0.1', code: 250, verb: 'dot' }] }],
    });
    expect(readyToDeliveredMs).toBeLessThan(5_000);
  });

  it('is in a thread of inbox@sandbox.test', async () => {
    const { items } = (
      await daemon.request<Page<{ id: string; primaryAddress: string }>>('GET', '/v1/mailboxes')
    ).body;
    const inbox = items.find(({ primaryAddress }) => primaryAddress === 'inbox@sandbox.test');
    const path = `/v1/mailboxes/${inbox?.id}/threads`;
    const thread = await until(async () => {
      const { body } = await daemon.request<{ items: { id: string }[] }>('GET', path);
      return body.items[0];
    }, 'the mail of the curl line is in a thread');
    expect(thread).toMatchObject({
      subject: inbound.subject,
      folder: 'inbox',
      read: false,
      messageCount: 1,
      from: { address: 'hello@sandbox.test' },
    });
    const messages = await daemon.request<{ items: object[] }>(
      'GET',
      `${path}/${thread.id}/messages`,
    );
    expect(messages.body.items).toMatchObject([{ id: inbound.id, threadPosition: 0 }]);
  });

  it('has its way as events', async () => {
    const { body } = await daemon.request<{ eventType: string; status: string }[]>(
      'GET',
      `/v1/messages/${delivered.id}/events`,
    );
    expect(body.map(({ eventType, status }) => `${eventType}:${status}`)).toEqual([
      'accepted:pending',
      'processing:processing',
      'sent:sent',
      'delivered:delivered',
    ]);
  });

  it('is in the inbox once, with the text that was sent', async () => {
    const list = await daemon.request<Page<Message>>('GET', '/v1/messages?direction=inbound');
    expect(list.body.pagination.total).toBe(1);
    const sent = await daemon.request<EmailProjection>('GET', `/v1/messages/${delivered.id}/email`);
    const got = await daemon.request<EmailProjection>('GET', `/v1/messages/${inbound.id}/email`);
    expect(got.body).toMatchObject({
      direction: 'inbound',
      subject: 'Hello',
      fromEmail: 'hello@sandbox.test',
      toEmails: ['inbox@sandbox.test'],
      messageIdHeader: sent.body.messageIdHeader,
      parsingErrors: null,
    });
    expect(got.body.text?.trimEnd()).toBe('It works.');
    expect(got.body.newContent?.trimEnd()).toBe('It works.');
  });

  it('is signed with the published keys, RSA and Ed25519', async () => {
    const { body: domains } = await daemon.request<Page<DkimDomain>>('GET', '/v1/email/domains');
    const raw = await rawOf(inbound.id);
    const resolver = dkimResolver(domains.items);
    const { results } = await dkimVerify(raw, { resolver, strict: true });
    const verdicts = results.map(({ algo, signingDomain, status }) =>
      [algo, signingDomain, status.result].join(' '),
    );
    expect(new Set(verdicts)).toEqual(
      new Set(['rsa-sha256 sandbox.test pass', 'ed25519-sha256 sandbox.test pass']),
    );
    expect(verdicts).toHaveLength(2);
  });
});

/** Downloads the stored bytes through the signed URL, without a key. */
async function rawOf(id: string): Promise<Buffer> {
  const { body } = await daemon.request<EmailProjection>(
    'GET',
    `/v1/messages/${id}/email?includeStorageUrls=true`,
  );
  const response = await fetch(body.storageUrls?.raw ?? '');
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('a first start', () => {
  it('writes the key once to a file of its owner, and never shows it again', async () => {
    const firstKey = readFileSync(join(home.cli.directory, 'data/first-key'), 'utf8');
    expect(firstKey.split(home.apiKey)).toHaveLength(3);
    expect(daemon.output.stdout).toBe('');
    const { body } = await daemon.request<Page<{ key: string | null }>>('GET', '/v1/api-keys');
    expect(body.items.map(({ key }) => key)).toEqual([null]);
  });

  it('is followed by a second start that prints nothing and finds all data', async () => {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    daemon = await home.start();
    const { body } = await daemon.request<Message>('GET', `/v1/messages/${delivered.id}`);
    expect(body.status).toBe('delivered');
    await daemon.stop();
    expect(daemon.output.stdout).toBe('');
    const words = expect.stringMatching(
      /^No mail leaves this machine: .* described at http:.*\/docs$/,
    );
    // A busy machine may hold the loop of a daemon that is ready.
    const lines = daemon.log().filter(({ msg }) => msg !== 'the event loop was held too long');
    expect(lines.map(({ msg }) => msg)).toEqual(['ready', words, 'stopping', 'stopped']);
  });
});
