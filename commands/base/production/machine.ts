// The machine on which `svc init --production` installs the service: its folders, and the steps
// that change it. A test uses a separate folder, and records the steps.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../../../src/core/config/config.ts';
import { codeOf } from '../../../src/platform/errors.ts';
import { keptAlive } from '../keep-alive.ts';

export interface Places {
  /** Path that exists while systemd runs on the machine. */
  systemd: string;
  config: string;
  /** The only folder that the unit lets the daemon write to. */
  dataDir: string;
  unit: string;
  /** Units that packages install, by path. */
  packageUnits: readonly string[];
}

export interface Owner {
  uid: number;
  gid: number;
}

/** A change of the machine. A file belongs to root and to the group of the named account. */
export type Step =
  | { kind: 'run'; words: readonly [string, ...string[]] }
  | { kind: 'folder'; path: string; mode: number; account: string }
  | { kind: 'file'; path: string; text: string; mode: number; account: string }
  | { kind: 'let read'; path: string; account: string };

export interface Machine {
  places: Places;
  isRoot(): boolean;
  /** Returns the full host name of the machine; empty if the system has none. */
  hostname(): string;
  findAccount(name: string): Owner | null;
  isPortTaken(host: string, port: number): Promise<boolean>;
  isServiceRunning(): boolean;
  /** @throws Error if the step fails */
  perform(step: Step): void;
  /** Waits until the daemon is ready. Returns null, or the reason why it is not. */
  untilReady(config: Config): Promise<string | null>;
}

/** Returns the text of a file, or null if it does not exist. */
export function textIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Tells whether an account may read a file or enter a folder. Null: an account not made yet. */
export function mayRead(path: string, account: Owner | null): boolean {
  const found = statSync(path);
  const right = found.isDirectory() ? 0o1 : 0o4;
  const shift = account?.uid === found.uid ? 6 : account?.gid === found.gid ? 3 : 0;
  return (found.mode & (right << shift)) !== 0;
}

/** Returns the file, or the folder above it, that the account may not read; null if it may. */
export function unreadablePart(path: string, account: Owner | null): string | null {
  const above = dirname(path);
  const outer = above === path ? null : unreadablePart(above, account);
  return outer ?? (mayRead(path, account) ? null : path);
}

/** Describes a step, if possible as a command of the shell. */
export function stepInWords(step: Step): string {
  if (step.kind === 'run') return step.words.join(' ');
  const { path, account } = step;
  if (step.kind === 'let read') return `let the account ${account} read ${path}`;
  const mode = step.mode.toString(8);
  if (step.kind === 'folder') return `install -d -o ${account} -g ${account} -m ${mode} ${path}`;
  return `write ${path} (${mode}, root:${account})`;
}

/**
 * Makes a folder for the account, or a file for the group of the account, or lets that group read a
 * path.
 */
export function performOnFiles(step: Exclude<Step, { kind: 'run' }>, owner: Owner): void {
  const { path } = step;
  if (step.kind === 'folder') {
    mkdirSync(path, { recursive: true });
    chownSync(path, owner.uid, owner.gid);
    chmodSync(path, step.mode);
    return;
  }
  if (step.kind === 'file') writeFileSync(path, step.text, { mode: 0o600, flag: 'wx' });
  const { uid, mode } = statSync(path);
  const readable = mode | (statSync(path).isDirectory() ? 0o050 : 0o040);
  chownSync(path, uid, owner.gid);
  chmodSync(path, step.kind === 'file' ? step.mode : readable);
}

const patienceMs = 60_000;
const pauseMs = 500;
/** Number of restarts by systemd after which the daemon is unlikely to become ready. */
const mostRestarts = 2;

/** Returns the output of a program; null if it fails, or is missing. */
function outputOf(program: string, ...words: string[]): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync(program, words, { encoding: 'utf8', stdio: [...stdio] }).trim();
  } catch {
    return null;
  }
}

function findAccount(name: string): Owner | null {
  const [uid, gid] = [outputOf('id', '-u', name), outputOf('id', '-g', name)];
  return uid === null || gid === null ? null : { uid: Number(uid), gid: Number(gid) };
}

async function untilReady(config: Config): Promise<string | null> {
  const { readiness } = await import('../../../src/service/status.ts');
  const { sleep, systemClock } = await import('../../../src/platform/runtime/clock.ts');
  const endsAt = systemClock.elapsed() + patienceMs;
  return keptAlive(async () => {
    for (;;) {
      const { isReady, problem } = await readiness(config);
      if (isReady) return null;
      const restarts = Number(outputOf('systemctl', 'show', '-p', 'NRestarts', '--value', 'svc'));
      const hasFailed = outputOf('systemctl', 'is-failed', 'svc') !== null;
      if (hasFailed || restarts > mostRestarts || systemClock.elapsed() > endsAt) {
        const log = outputOf('journalctl', '-u', 'svc', '-n', '5', '-o', 'cat', '--no-pager');
        return log || problem;
      }
      await sleep(systemClock, pauseMs);
    }
  });
}

/** The machine that this process runs on. */
export const thisMachine: Machine = {
  places: {
    systemd: '/run/systemd/system',
    config: '/etc/svc/config.yaml',
    dataDir: '/var/lib/svc',
    unit: '/etc/systemd/system/svc.service',
    packageUnits: ['/usr/lib/systemd/system/svc.service', '/lib/systemd/system/svc.service'],
  },
  isRoot: () => process.getuid?.() === 0,
  hostname: () => outputOf('hostname', '--fqdn') ?? '',
  findAccount,
  isPortTaken: (host, port) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', (error) => resolve(codeOf(error) === 'EADDRINUSE'));
      server.listen(port, host, () => server.close(() => resolve(false)));
    }),
  isServiceRunning: () => outputOf('systemctl', 'is-active', '--quiet', 'svc') !== null,
  perform(step) {
    if (step.kind === 'run') {
      const [program, ...words] = step.words;
      execFileSync(program, words, { stdio: ['ignore', 2, 2] });
      return;
    }
    const owner = findAccount(step.account);
    if (owner === null) throw new Error(`there is no account ${step.account}`);
    performOnFiles(step, owner);
  },
  untilReady,
};
