// svc daemon as a process, and the commands that work beside it through the store alone.
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';

interface Ready {
  httpUrl: string;
  smtpPort: number;
  pid: number;
}

let cli: CliWorkspace;
beforeEach(() => {
  cli = cliWorkspace();
});
afterEach(() => cli.close());

const firstKey = /svc_live_[0-9A-Za-z]{38}/;
const firstKeyFile = () => join(cli.env.SVC_DATA_DIR ?? '', 'first-key');

interface Running {
  child: ChildProcess;
  ready: Ready;
  ended: Promise<number | null>;
  /** What it has written so far. */
  output: { stdout: string; stderr: string };
}

/** Resolves when the log says ready. @throws Error with the log if it ends before. */
function startDaemon(args: readonly string[] = []): Promise<Running> {
  const child = cli.start(['daemon', ...args]);
  const output = { stdout: '', stderr: '' };
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdout?.on('data', (text) => {
    output.stdout += text;
  });
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`ended with ${code}: ${output.stderr}`)));
    child.stderr?.on('data', (text) => {
      output.stderr += text;
      const line = output.stderr.split('\n').find((each) => each.includes('"msg":"ready"'));
      if (line?.endsWith('}')) resolve({ child, ready: JSON.parse(line), ended, output });
    });
  });
}

describe('the process', () => {
  test('writes the ready file, stops in order at SIGTERM with 0 and removes it', async () => {
    const file = join(cli.directory, 'ready.json');
    const { child, ready, ended, output } = await startDaemon(['--ready-file', 'ready.json']);
    expect((await fetch(`${ready.httpUrl}/readyz`)).status).toBe(200);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      msg: 'ready',
      httpUrl: ready.httpUrl,
      smtpPort: ready.smtpPort,
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect(output.stderr).toContain('"msg":"stopped"');
  });

  test('takes the Ctrl-C of a terminal that npm repeats for one', async () => {
    const { child, ended } = await startDaemon();
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  test('ends at once at a second signal, whatever is in flight', async () => {
    const { child, ready, ended, output } = await startDaemon();
    const { hostname, port } = new URL(ready.httpUrl);
    const client = connect(Number(port), hostname);
    client.on('error', () => {});
    await new Promise<void>((resolve) => client.once('connect', resolve));
    // A request that is in work, as its key is right, and whose body never ends.
    while (!output.stderr.includes(firstKeyFile())) {
      await new Promise((resolve) => child.stderr?.once('data', resolve));
    }
    const [key] = firstKey.exec(readFileSync(firstKeyFile(), 'utf8')) ?? [];
    const head = `Host: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json`;
    client.write(`POST /v1/messages HTTP/1.1\r\n${head}\r\nContent-Length: 9\r\n\r\n{`);
    await fetch(`${ready.httpUrl}/healthz`);
    child.kill('SIGTERM');
    while (!output.stderr.includes('stopping')) {
      await new Promise((resolve) => child.stderr?.once('data', resolve));
    }
    const again = setInterval(() => child.kill('SIGTERM'), 50);
    expect(await ended).toBe(130);
    clearInterval(again);
    client.destroy();
  });

  test('leaves the first key in a file of its owner, once, and never logs it', async () => {
    const file = firstKeyFile();
    const first = await startDaemon();
    first.child.kill('SIGTERM');
    await first.ended;
    const text = readFileSync(file, 'utf8');
    const [key = ''] = firstKey.exec(text) ?? [];
    expect(text).toMatch(/^ +curl .*X-API-Key: svc_live_/m);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.output.stdout).toBe('');
    expect(first.output.stderr).not.toContain(key);
    expect(first.output.stderr).toContain(`"file":"${file}"`);
    const second = await startDaemon();
    second.child.kill('SIGTERM');
    await second.ended;
    expect(second.output.stdout).toBe('');
    expect(second.output.stderr).not.toContain(file);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('is refused where another one runs: 7', async () => {
    await startDaemon();
    const { code, stderr } = await cli.run(['daemon']);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^svc: Another svc daemon \(pid \d+\) already runs/);
  });

  test('stops at a mistake in the configuration with one readable line: 2', async () => {
    const { code, stderr } = await cli.run(['daemon'], { env: { SVC_LOG_LEVEL: 'loud' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^svc: SVC_LOG_LEVEL: log\.level: found "loud", expected [^\n]+\n$/);
  });

  test('says which address is taken: 7', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await cli.run(['daemon'], { env: { SVC_HTTP_PORT: String(port) } });
    taken.close();
    expect(code).toBe(7);
    expect(stderr).toContain(String(port));
    expect(stderr).toContain('set http.port');
    // The system tells of processes of one's own.
    if (existsSync('/proc/net/tcp')) expect(stderr).toContain(`, pid ${process.pid})`);
  });
});

describe('messages send --wait', () => {
  const hello = ['--subject', 'Hello', '--text', 'Hello'];

  test('follows a message to its delivery and ends with 0', async () => {
    await startDaemon();
    const args = ['messages', 'send', '--to', 'inbox@sandbox.test', ...hello, '--wait'];
    const { code, stdout } = await cli.run(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +\d+\.\d s {2}inbox@sandbox\.test {2}delivered\b/m);
    expect(stdout).toMatch(/^status +delivered$/m);
  });

  test('ends with 8 when it bounces, in the words of the remote server', async () => {
    await startDaemon();
    const args = ['messages', 'send', '--to', 'bounced@simulator.test', ...hello, '--wait'];
    const text = await cli.run(args);
    expect(text.code).toBe(8);
    expect(text.stderr).toMatch(/^svc: msg_\w+ bounced: .*550/);
    const json = await cli.run([...args, '--json']);
    expect(json.code).toBe(8);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'bounced' });
    expect(JSON.parse(json.stderr)).toMatchObject({ _tag: 'ExpectationError' });
  });

  test('ends with 8 when the time is over, and without a daemon nothing is lost', async () => {
    await cli.json(['init']);
    const args = ['messages', 'send', '--to', 'inbox@sandbox.test', ...hello];
    const { code, stderr } = await cli.run([...args, '--wait', '--timeout', '0.2']);
    expect(code).toBe(8);
    const [atOnce, atTheEnd] = stderr.split('\n');
    expect(atOnce).toMatch(/^warning: It is queued, but no daemon runs on this store/);
    expect(atTheEnd).toMatch(/^svc: msg_\w+ is still pending: no daemon runs$/);
  });
});

describe('without --wait', () => {
  const args = ['messages', 'send', '--to', 'inbox@sandbox.test', '--subject', 'S', '--text', 'T'];

  test('says that it is queued where no daemon runs, also after one has run', async () => {
    await cli.json(['init']);
    expect((await cli.run(args)).stdout).toContain('It is queued, but no daemon runs');
    const { child, ended } = await startDaemon();
    expect((await cli.run(args)).stdout).not.toContain('no daemon');
    child.kill('SIGKILL');
    await ended;
    expect((await cli.run(args)).stdout).toContain('It is queued, but no daemon runs');
    expect(await cli.json(args)).toMatchObject({ status: 'pending' });
  });

  test('never suspects a daemon that runs, though it does not get the message away', async () => {
    await startDaemon();
    await cli.json(['queue', 'hold', '--domain', 'sandbox.test']);
    const { code, stderr } = await cli.run([...args, '--wait', '--timeout', '0.2']);
    expect(code).toBe(8);
    expect(stderr).not.toContain('daemon');
    expect(stderr).toMatch(/^svc: msg_\w+ is still pending/);
  });
});

test('a restore is refused while the daemon runs: 5', async () => {
  await cli.json(['init']);
  await cli.run(['backup', 'backup.db']);
  await startDaemon();
  await cli.json(['backup', 'backup.db', '--overwrite']);
  const { code, stderr } = await cli.run(['restore', 'backup.db', '--yes']);
  expect(code).toBe(5);
  expect(stderr).toContain('daemon');
});
