// svc daemon as a process, and the commands that work beside it through the store alone.
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  /** Output so far. */
  output: { stdout: string; stderr: string };
}

/** Resolves once the log reports ready. @throws Error with the log if the process ends before. */
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
      const line = output.stderr.split('\n').find((logged) => logged.includes('"msg":"ready"'));
      if (line?.endsWith('}')) resolve({ child, ready: JSON.parse(line), ended, output });
    });
  });
}

describe('the daemon process', () => {
  // The first start, ended by SIGTERM, and the second, ended by Ctrl-C.
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

  it('writes the ready file, and removes it when it ends with 0 on SIGTERM', () => {
    const { httpUrl, smtpPort } = first.ready;
    expect(seen.readyz).toBe(200);
    expect(JSON.parse(seen.readyFile)).toMatchObject({ msg: 'ready', httpUrl, smtpPort });
    expect(seen.codes[0]).toBe(0);
    expect(seen.isReadyFileLeft).toBe(false);
    expect(first.output.stderr).toContain('"msg":"stopped"');
  });

  it('ends in order on a Ctrl-C that npm repeats', () => {
    expect(seen.codes[1]).toBe(0);
  });

  it('writes the first key once, to a file of its owner, and never logs it', () => {
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

describe('a failing start', () => {
  let cli: CliWorkspace;
  beforeAll(() => {
    cli = cliWorkspace();
  });
  afterAll(() => cli.close());

  it('ends with 2 and one readable line for an invalid configuration', async () => {
    const { code, stderr } = await cli.run(['daemon'], { env: { SVC_LOG_LEVEL: 'loud' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^svc: SVC_LOG_LEVEL: log\.level: found "loud", expected [^\n]+\n$/);
  });

  it('ends with 7 and names the address in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await cli.run(['daemon'], { env: { SVC_HTTP_PORT: String(port) } });
    taken.close();
    expect(code).toBe(7);
    expect(stderr).toContain(String(port));
    expect(stderr).toContain('set http.port');
    // The system shows the caller's own processes.
    if (existsSync('/proc/net/tcp')) expect(stderr).toContain(`, pid ${process.pid})`);
  });

  it('says its reason last, after the lines of the log', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const env = { SVC_HTTP_PORT: String(port) };
    const alone = await initializedWorkspace(env, { inProcesses: true });
    const { stderr } = await alone.run(['daemon', '--clock', 'virtual']);
    taken.close();
    alone.close();
    const [logged = '', reason = ''] = stderr.split(/^(?=svc: )/m);
    expect(logged).toContain('{"level"');
    expect(reason).toContain('set http.port');
    expect(reason).not.toContain('{"level"');
  });
});

const hello = ['--to', 'inbox@sandbox.test', '--subject', 'Hello', '--text', 'Hello'];

describe('beside a running daemon', () => {
  let beside: CliWorkspace;
  let daemon: Running;
  beforeAll(async () => {
    beside = await initializedWorkspace();
    daemon = await startDaemon(beside);
  });
  afterAll(() => beside.close());

  it('another daemon is refused with 7', async () => {
    const { code, stderr } = await beside.run(['daemon']);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^svc: Another svc daemon \(pid \d+\) already runs/);
  });

  it('a restore is refused with 5', async () => {
    await beside.json(['backup', 'backup.db']);
    const { code, stderr } = await beside.run(['restore', 'backup.db', '--yes']);
    expect(code).toBe(5);
    expect(stderr).toContain('daemon');
  });

  it('messages send --wait follows a message to its delivery and ends with 0', async () => {
    const { code, stdout } = await beside.run(['messages', 'send', ...hello, '--wait']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +\d+\.\d s {2}inbox@sandbox\.test {2}delivered\b/m);
    expect(stdout).toMatch(/^status +delivered$/m);
  });

  it('messages send --wait ends with 8 for a bounce, in the words of the remote server', async () => {
    const bounced = ['--to', 'bounced@simulator.test', ...hello.slice(2), '--wait'];
    const text = await beside.run(['messages', 'send', ...bounced]);
    expect(text.code).toBe(8);
    expect(text.stderr).toMatch(/^svc: msg_\w+ bounced: .*550/);
    const json = await beside.run(['messages', 'send', ...bounced, '--json']);
    expect(json.code).toBe(8);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'bounced' });
    expect(JSON.parse(json.stderr)).toMatchObject({ _tag: 'ExpectationError' });
  });

  it('messages send --wait ends with 8 at its time-out, without suspecting the daemon', async () => {
    await beside.json(['queue', 'hold', '--domain', 'sandbox.test']);
    const short = ['--wait', '--timeout', '0.2'];
    const { code, stderr } = await beside.run(['messages', 'send', ...hello, ...short]);
    await beside.json(['queue', 'release', '--domain', 'sandbox.test']);
    expect(code).toBe(8);
    expect(stderr).not.toContain('daemon');
    expect(stderr).toMatch(/^svc: msg_\w+ is still pending/);
  });

  it('messages send warns once the daemon was killed, not before', async () => {
    expect((await beside.run(['messages', 'send', ...hello])).stdout).not.toContain('no daemon');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const { stdout } = await beside.run(['messages', 'send', ...hello]);
    expect(stdout).toContain('The mail is queued, but no daemon runs');
  });
});

describe('without any daemon', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
  });
  afterAll(() => cli.close());

  it('messages send reports that the message is queued', async () => {
    const { stdout } = await cli.run(['messages', 'send', ...hello]);
    expect(stdout).toContain('The mail is queued, but no daemon runs');
    expect(await cli.json(['messages', 'send', ...hello])).toMatchObject({ status: 'pending' });
  });

  it('messages send --wait ends with 8 at its time-out', async () => {
    const short = ['--wait', '--timeout', '0.2'];
    const { code, stderr } = await cli.run(['messages', 'send', ...hello, ...short]);
    expect(code).toBe(8);
    const [atOnce, atTheEnd] = stderr.split('\n');
    expect(atOnce).toMatch(/^warning: The mail is queued, but no daemon runs on this store/);
    expect(atTheEnd).toMatch(/^svc: msg_\w+ is still pending: no daemon runs$/);
  });
});
