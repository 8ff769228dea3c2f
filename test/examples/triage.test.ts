// examples/triage against a real daemon, in both runtimes: published, installed, fed by received
// mail. It labels the thread and proposes a reply under its own name, once for each event; a person
// approves it; uninstalled, it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Installed } from '../../src/extensions/installation-schema.ts';
import type { MailboxAction } from '../../src/inbox/approvals/schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import type { WebhookDelivery } from '../../src/webhooks/schema.ts';
import { repository } from '../support/cli.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';

const example = join(repository, 'examples/triage/triage.mjs');
const grants = ['read', 'write', 'send'].map((verb) => `mailboxes:${verb}`);

let home: DaemonHome;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = daemonHome({
    SVC_DNS_SERVERS: '["127.0.0.1:1"]',
    SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true',
  });
  daemon = await home.start();
});
afterAll(() => home.close());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A running example, with the lines that it has printed. */
interface Running {
  child: ChildProcess;
  lines: string[];
}

async function start(env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [example], {
    env: { SVC_URL: daemon.httpUrl, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  child.stdout?.on('data', (data: Buffer) => {
    lines.push(...data.toString().split('\n').filter(Boolean));
  });
  await until(() => lines.includes('listening'), 'the example listens');
  return { child, lines };
}

const json = <Answer>(...words: string[]) => home.cli.json<Answer>(words);

async function install(runtime: string, flags: readonly string[]): Promise<Installed> {
  const made = await json<{ id: string }>(
    ...['extensions', 'create', '--name', `triage-${runtime}`, '--display-name', 'Triage'],
    ...['--runtime', runtime],
  );
  await json(
    ...['extensions', 'version', made.id, '1.0.0', '--send-mode', 'approval'],
    ...grants.flatMap((grant) => ['--permission', grant]),
    ...['--event', 'mailbox.message.received'],
  );
  return json<Installed>('extensions', 'install', made.id, '--accept-all', ...flags);
}

const ended = ({ child }: Running) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });

describe.each(['webhook', 'hosted'])('the example in the runtime %s', (runtime) => {
  let installed: Installed;
  let running: Running;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    const isPosted = runtime === 'webhook';
    const flags = isPosted ? ['--webhook-url', `http://127.0.0.1:${port}/`] : [];
    installed = await install(runtime, flags);
    running = await start({
      SVC_KEY: installed.key,
      ...(isPosted && { SVC_SECRET: installed.webhook?.secret ?? '', PORT: String(port) }),
    });
  });
  afterAll(async () => {
    running.child.kill();
    await ended(running);
  });

  it('labels a received mail, and proposes a reply that a person approves', async () => {
    const input = `From: Ada <${runtime}@example.com>\nSubject: By ${runtime}\n\nWhere is my order?\n`;
    await home.cli.json(['mailboxes', 'receive'], { input });
    await until(() => running.lines.length > 1, 'the example proposes');
    const [, line = ''] = running.lines;
    expect(line).toMatch(/^orders: proposed act_\w+$/);
    const actionId = /act_\w+/.exec(line)?.[0] ?? '';
    const approved = await json<MailboxAction>('mailboxes', 'approve', actionId);
    expect(approved).toMatchObject({
      ...{ state: 'executed', summary: { to: [`${runtime}@example.com`] } },
      actor: { kind: 'installation', id: installed.id, displayName: 'Triage' },
    });
    const message = () => json<Message>('messages', 'show', approved.messageId ?? '');
    await until(async () => (await message()).status === 'delivered', 'the reply is delivered');
    const { items } = await json<{ items: MailboxAction[] }>('mailboxes', 'actions');
    const own = items.filter(({ actor }) => actor.id === installed.id);
    expect(own.map(({ type }) => type)).toEqual(['reply', 'label']);
  });

  if (runtime === 'webhook') {
    it('handles an event once that is posted twice, and refuses a forged post', async () => {
      const webhook = installed.webhook?.endpointId ?? '';
      const { items } = await json<{ items: WebhookDelivery[] }>('webhooks', 'deliveries', webhook);
      const [delivery] = items;
      const proposals = async () =>
        (await json<{ items: MailboxAction[] }>('mailboxes', 'actions')).items.filter(
          ({ type, actor }) => type === 'reply' && actor.id === installed.id,
        );
      const before = await proposals();
      await json('webhooks', 'redeliver', webhook, delivery?.id ?? '');
      expect(running.lines.at(-1)).toBe(running.lines.at(-2));
      expect(await proposals()).toEqual(before);
      const forged = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: {
          ...{ 'webhook-id': delivery?.eventId ?? '', 'webhook-signature': 'v1,AAAA' },
          'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        },
        body: '{}',
      });
      expect(forged.status).toBe(401);
    });
  }

  it('ends once it is uninstalled', async () => {
    await json('extensions', 'uninstall', installed.id, '--yes');
    const path = `${daemon.httpUrl}/v1/extension-installations/me`;
    const ask = () => fetch(path, { headers: { 'X-API-Key': installed.key } });
    await until(async () => (await ask()).status === 401, 'the daemon refuses the key', 1_000);
    // The stream ends within a second, and its program with it: the next one answers 401.
    if (runtime === 'hosted') await ended(running);
  });
});
