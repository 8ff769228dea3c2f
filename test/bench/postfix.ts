// A Postfix of the bench's own, apart from any on the machine: its own configuration, queue and
// processes in a temporary directory, started and stopped by the bench.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Contender } from './contender.ts';
import { mainCf, masterCf } from './postfix-config.ts';
import { treeCpuMs, treeMemoryMb, treeOf } from './process-cost.ts';
import { submitAll } from './smtp-load.ts';
import type { BenchMail } from './svc-contender.ts';

const postfixCommand = '/usr/sbin/postfix';
const postconfCommand = '/usr/sbin/postconf';
const pollMs = 100;
const startDeadlineMs = 20_000;
const stopDeadlineMs = 20_000;

/** Returns the reason why Postfix cannot be raced here, or null. */
export function whyNoPostfix(): string | null {
  if (process.platform !== 'linux') return 'its processes can be measured on Linux only';
  if (!existsSync(postfixCommand)) return `${postfixCommand} is not installed`;
  if (process.getuid?.() !== 0) return 'Postfix starts only as root';
  return null;
}

export interface BenchPostfix {
  contender(name: string, mail: BenchMail): Promise<Contender>;
  stop(): Promise<void>;
}

/** The compiled-in value of a parameter. */
function defaultOf(parameter: string): string {
  return execFileSync(postconfCommand, ['-d', '-h', parameter], { encoding: 'utf8' }).trim();
}

export function postfixVersion(): string {
  return defaultOf('mail_version');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function makeDirectory(
  sinkPort: number,
  connections: number,
  milter: string | null,
): Promise<{ dir: string; port: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-postfix-'));
  const port = await freePort();
  const settings = {
    dir,
    port,
    sinkPort,
    connections,
    milter,
    daemonDirectory: defaultOf('daemon_directory'),
    commandDirectory: defaultOf('command_directory'),
    mailOwner: defaultOf('mail_owner'),
    setgidGroup: defaultOf('setgid_group'),
  };
  chmodSync(dir, 0o755);
  for (const name of ['etc', 'queue', 'data']) mkdirSync(join(dir, name));
  const owner = execFileSync('id', ['-u', settings.mailOwner], { encoding: 'utf8' });
  chownSync(join(dir, 'data'), Number(owner), 0);
  writeFileSync(join(dir, 'etc', 'main.cf'), mainCf(settings));
  writeFileSync(join(dir, 'etc', 'master.cf'), masterCf(settings));
  return { dir, port };
}

/** Starts Postfix before the sink; it answers when this resolves. */
export async function startPostfix(
  sinkPort: number,
  connections: number,
  milter: string | null = null,
): Promise<BenchPostfix> {
  const { dir, port } = await makeDirectory(sinkPort, connections, milter);
  // No pipe: its processes would hold it. It logs to syslog only, and pays nothing where none runs.
  const child = spawn(postfixCommand, ['-c', join(dir, 'etc'), 'start-fg'], { stdio: 'ignore' });
  const root = child.pid ?? 0;
  const clean = () => {
    for (const pid of treeOf(root).keys()) process.kill(pid, 'SIGKILL');
    removeDirectory(dir);
  };
  process.once('exit', clean);
  const stop = async () => {
    const deadline = performance.now() + stopDeadlineMs;
    const masters = [...treeOf(root)].filter(([, command]) => command === 'master');
    for (const [pid] of masters) process.kill(pid);
    while (child.exitCode === null && child.signalCode === null) {
      if (performance.now() > deadline) throw new Error('Postfix did not stop');
      await wait(pollMs);
    }
    process.off('exit', clean);
    removeDirectory(dir);
  };
  const deadline = performance.now() + startDeadlineMs;
  while (!(await greets(port))) {
    if (performance.now() > deadline || child.exitCode !== null) {
      throw new Error(`Postfix did not start: try "script -qc 'postfix -c ${dir}/etc check'"`);
    }
    await wait(pollMs);
  }
  const contender = async (name: string, mail: BenchMail): Promise<Contender> => ({
    name,
    isSigned: milter !== null,
    warmUpRounds: 1,
    submit: (total) => submitAll({ port, total, ...submission(mail) }),
    cpuMs: () => treeCpuMs(root),
    memoryMb: () => treeMemoryMb(root),
    stallMs: async () => null,
  });
  return { contender, stop };
}

/** Removes a directory in which ending processes may still write. */
function removeDirectory(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Builds the header and text that our composer makes. */
export function submission({ connections, text }: BenchMail) {
  const from = 'bench@postfix.bench.example';
  const to = (index: number) => `user${index}@example.com`;
  const body = text.replaceAll('\n', '\r\n');
  const date = new Date().toUTCString().replace('GMT', '+0000');
  const message = (index: number) =>
    `From: ${from}\r\nTo: ${to(index)}\r\nSubject: Message ${index}\r\nDate: ${date}\r\n` +
    `Message-ID: <${index}.${Date.now()}@postfix.bench.example>\r\nMIME-Version: 1.0\r\n` +
    `Content-Type: text/plain; charset=utf-8\r\n\r\n${index}\r\n${body}`;
  return { connections, from, to, message };
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('data', (chunk) => end(chunk.toString().startsWith('220')));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}
