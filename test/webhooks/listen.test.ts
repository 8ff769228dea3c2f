// `svc webhooks listen` and `verify`: the events as a developer sees them, without a daemon.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLoopback, type Heard, listen, listenSecret } from '../../src/webhooks/listen.ts';
import {
  secretFrom,
  signatureHeaders,
  signatureProblem,
} from '../../src/webhooks/posting/signature.ts';
import { type CliWorkspace, cliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { stores } from '../support/command.ts';
import { send } from '../support/delivery.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type Receiver, receiver, until } from './engine.ts';

describe.each(stores)('listening for events on %s', (store) => {
  let test: TestApp;
  let to: Receiver;
  beforeEach(async () => {
    test = await testApp({ store });
    to = await receiver();
  });
  afterEach(async () => {
    await to.close();
    await test.close();
  });

  it('posts each event once, signed, from any process', async () => {
    const { app, caller } = test;
    const { organizationId } = caller;
    await send(app, caller, 'old@example.com');
    await test.clock.advance(60_000);
    const stopping = new AbortController();
    const heard: Heard[] = [];
    const since = test.clock.now() - 1_000;
    const options = { organizationId, forwardTo: to.url, patterns: ['message.*'], since };
    const listening = listen(app, { ...options, signal: stopping.signal }, (one) =>
      heard.push(one),
    );
    const other = await test.another();
    const sent: string[] = [];
    for (let i = 0; i < 3; i++) sent.push((await send(other, caller, 'a@example.com')).id);
    await until(async () => {
      await test.clock.advance(1_000);
      return heard.length === 3;
    });
    for (let i = 0; i < 10; i++) await test.clock.advance(1_000);
    stopping.abort();
    await listening;
    expect(heard.map(({ event }) => `${event.type} ${event.subject}`)).toEqual(
      sent.map((id) => `message.accepted ${id}`),
    );
    expect(heard.map(({ outcome }) => outcome?.statusCode)).toEqual([204, 204, 204]);
    const secret = listenSecret(app, organizationId);
    expect(secret).toBe(listenSecret(other, organizationId));
    for (const { headers, body } of to.received) {
      expect(signatureProblem(secret, headers, body)).toBe(null);
      expect(sent).toContain(JSON.parse(body).data.id);
    }
  });

  it.each(['http://example.com/', 'http://10.0.0.1/', 'ftp://localhost/', 'localhost:3000', ''])(
    'refuses a target outside this machine: %s',
    (url) => {
      expect(() => checkLoopback(url)).toThrow(/of this machine/);
    },
  );
});

describe('svc webhooks verify', () => {
  let workspace: CliWorkspace;
  beforeEach(() => {
    workspace = cliWorkspace();
  });
  afterEach(() => workspace.close());

  it('tells our requests from others', async () => {
    const secret = secretFrom('a');
    const body = '{"a":"ü"}';
    const headers = signatureHeaders([secret], 'evt_1', Date.now(), body);
    const file = (name: string, text: string) => {
      writeFileSync(join(workspace.directory, name), text);
      return name;
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${value}`);
    const args = [
      'webhooks',
      'verify',
      '--secret-file',
      file('secret', `${secret}\n`),
      '--headers',
      file('headers', `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n`),
    ];
    const good = await workspace.run(args, { input: body });
    expect(good).toMatchObject({ code: 0, stdout: 'verified: evt_1\n' });
    const bad = await workspace.run(args, { input: `${body}\n` });
    expect(bad.code).not.toBe(0);
    expect(bad.stderr).toMatch(/not verified/);
    expect(bad.stderr).not.toContain(secret);
  });
});

describe('svc webhooks listen', () => {
  it('posts events to this machine without a daemon, and ends cleanly', async () => {
    const workspace = await initializedWorkspace();
    const to = await receiver();
    try {
      const { stdout: secret } = await workspace.run(['webhooks', 'listen', '--print-secret']);
      const child = workspace.start([
        'webhooks',
        'listen',
        '--forward-to',
        to.url,
        '--since',
        '1h',
      ]);
      let shown = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
      });
      const message = ['--to', 'a@sandbox.test', '--subject', 'Hi', '--text', 'x'];
      const sent = await workspace.run(['messages', 'send', ...message]);
      expect(sent.code).toBe(0);
      // The event of the first start's mailbox comes earlier.
      const accepted = /message\.accepted {2}msg_\S+ {2}→ 204/;
      await until(() => accepted.test(shown));
      expect(to.received.length).toBeGreaterThan(1);
      for (const { headers, body } of to.received) {
        expect(signatureProblem(secret.trim(), headers, body)).toBe(null);
      }
      child.kill('SIGINT');
      expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
    } finally {
      workspace.close();
      await to.close();
    }
  });
});
