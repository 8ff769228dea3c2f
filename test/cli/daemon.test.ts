// svc daemon as a process, and the commands that work beside it through the store alone.
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliWorkspace, cliWorkspace, initializedWorkspace } from '../support/cli.ts';

interface Ready {
  httpUrl: string;
  smtpPort: number;
  pid: number;
}

const firstKey = /svc_live_[0-9A-Za-z]{38}/;

interface Running {
  child: ChildProcess;
  ready: Ready;
  ended: Promise<number | null>;
  /** What it has written so far. */
  output: { stdout: string; stderr: string };
}

/** Resolves when the log says ready. @throws Error with the log if it ends before. */
function startDaemon(cli: CliWorkspace, args: readonly string[] = []): Promise<Running> {
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
  // The first start, asked to end, and the second, where the user types Ctrl-C.
  let home: CliWorkspace;
  let dataDir: string;
  let first: Running;
  let second: Running;
  const seen = {
    readyz: 0,
    readyFile: '',
    keyFile: '',
    codes: [] as (number | null)[],
    isReadyFileLeft: true,
  };
  beforeAll(async () => {
    home = cliWorkspace();
    dataDir = home.env.SVC_DATA_DIR ?? '';
    const readyFile = join(home.directory, 'ready.json');
    first = await startDaemon(home, ['--ready-file', 'ready.json']);
    seen.readyz = (await fetch(`${first.ready.httpUrl}/readyz`)).status;
    seen.readyFile = readFileSync(readyFile, 'utf8');
    first.child.kill('SIGTERM');
    seen.codes.push(await first.ended);
    seen.isReadyFileLeft = existsSync(readyFile);
    seen.keyFile = readFileSync(join(dataDir, 'first-key'), 'utf8');
    second = await startDaemon(home);
    second.child.kill('SIGINT');
    second.child.kill('SIGINT');
    seen.codes.push(await second.ended);
  });
  afterAll(() => home.close());

  test('writes the ready file, stops in order at SIGTERM with 0 and removes it', () => {
    const { httpUrl, smtpPort } = first.ready;
    expect(seen.readyz).toBe(200);
    expect(JSON.parse(seen.readyFile)).toMatchObject({ msg: 'ready', httpUrl, smtpPort });
    expect(seen.codes[0]).toBe(0);
    expect(seen.isReadyFileLeft).toBe(false);
    expect(first.output.stderr).toContain('"msg":"stopped"');
  });

  test('takes the Ctrl-C of a terminal that npm repeats for one', () => {
    expect(seen.codes[1]).toBe(0);
  });

  test('leaves the first key in a file of its owner, once, and never logs it', () => {
    const file = join(dataDir, 'first-key');
    const [key = ''] = firstKey.exec(seen.keyFile) ?? [];
    expect(seen.keyFile).toMatch(/^ +curl .*X-API-Key: svc_live_/m);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.output.stdout).toBe('');
    expect(first.output.stderr).not.toContain(key);
    expect(first.output.stderr).toContain(`"file":"${file}"`);
    expect(second.output.stdout).toBe('');
    expect(second.output.stderr).not.toContain(file);
    expect(readFileSync(file, 'utf8')).toBe(seen.keyFile);
  });
});

describe('a start that fails', () => {
  let cli: CliWorkspace;
  beforeAll(() => {
    cli = cliWorkspace();
  });
  afterAll(() => cli.close());

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

const hello = ['--to', 'inbox@sandbox.test', '--subject', 'Hello', '--text', 'Hello'];

describe('where a daemon runs', () => {
  let beside: CliWorkspace;
  let daemon: Running;
  beforeAll(async () => {
    beside = await initializedWorkspace();
    daemon = await startDaemon(beside);
  });
  afterAll(() => beside.close());

  test('another one is refused: 7', async () => {
    const { code, stderr } = await beside.run(['daemon']);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^svc: Another svc daemon \(pid \d+\) already runs/);
  });

  test('a restore is refused: 5', async () => {
    await beside.json(['backup', 'backup.db']);
    const { code, stderr } = await beside.run(['restore', 'backup.db', '--yes']);
    expect(code).toBe(5);
    expect(stderr).toContain('daemon');
  });

  test('messages send --wait follows a message to its delivery and ends with 0', async () => {
    const { code, stdout } = await beside.run(['messages', 'send', ...hello, '--wait']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +\d+\.\d s {2}inbox@sandbox\.test {2}delivered\b/m);
    expect(stdout).toMatch(/^status +delivered$/m);
  });

  test('… and with 8 when it bounces, in the words of the remote server', async () => {
    const bounced = ['--to', 'bounced@simulator.test', ...hello.slice(2), '--wait'];
    const text = await beside.run(['messages', 'send', ...bounced]);
    expect(text.code).toBe(8);
    expect(text.stderr).toMatch(/^svc: msg_\w+ bounced: .*550/);
    const json = await beside.run(['messages', 'send', ...bounced, '--json']);
    expect(json.code).toBe(8);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'bounced' });
    expect(JSON.parse(json.stderr)).toMatchObject({ _tag: 'ExpectationError' });
  });

  test('… and never suspects the daemon, though it does not get the message away', async () => {
    await beside.json(['queue', 'hold', '--domain', 'sandbox.test']);
    const short = ['--wait', '--timeout', '0.2'];
    const { code, stderr } = await beside.run(['messages', 'send', ...hello, ...short]);
    await beside.json(['queue', 'release', '--domain', 'sandbox.test']);
    expect(code).toBe(8);
    expect(stderr).not.toContain('daemon');
    expect(stderr).toMatch(/^svc: msg_\w+ is still pending/);
  });

  test('a message is queued without a warning, and with one once the daemon was killed', async () => {
    expect((await beside.run(['messages', 'send', ...hello])).stdout).not.toContain('no daemon');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const { stdout } = await beside.run(['messages', 'send', ...hello]);
    daemon = await startDaemon(beside);
    expect(stdout).toContain('The mail is queued, but no daemon runs');
  });
});

describe('where no daemon ever ran', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
  });
  afterAll(() => cli.close());

  test('messages send says that it is queued', async () => {
    const { stdout } = await cli.run(['messages', 'send', ...hello]);
    expect(stdout).toContain('The mail is queued, but no daemon runs');
    expect(await cli.json(['messages', 'send', ...hello])).toMatchObject({ status: 'pending' });
  });

  test('… and with --wait ends with 8 when the time is over, and nothing is lost', async () => {
    const short = ['--wait', '--timeout', '0.2'];
    const { code, stderr } = await cli.run(['messages', 'send', ...hello, ...short]);
    expect(code).toBe(8);
    const [atOnce, atTheEnd] = stderr.split('\n');
    expect(atOnce).toMatch(/^warning: The mail is queued, but no daemon runs on this store/);
    expect(atTheEnd).toMatch(/^svc: msg_\w+ is still pending: no daemon runs$/);
  });
});
