// Child processes of the benchmark: the sink, the real daemon, and what they cost.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const svc = join(root, 'bin', 'svc');
/** Of /proc/<pid>/stat: Linux counts CPU time in hundredths of a second. */
const ticksPerSecond = 100;

export interface BenchSink {
  port: number;
  /** Resolves when `count` messages have come since the start. */
  waitFor(count: number): Promise<void>;
  close(): void;
}

export async function startBenchSink(): Promise<BenchSink> {
  const child = fork(join(import.meta.dirname, 'sink-process.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async waitFor(count) {
      child.send({ count });
      const [{ error }] = (await once(child, 'message')) as [{ error?: string }];
      if (error) throw new Error(error);
    },
    close: () => child.disconnect(),
  };
}

export interface BenchDaemon {
  httpPort: number;
  pid: number;
  /** Core-milliseconds used so far, all threads. */
  cpuMs(): number;
  /** Resident memory in MB, now. */
  memoryMb(): number;
  stop(): Promise<void>;
}

/** Starts the real `bin/svc daemon` with these settings and waits until it is ready. */
export async function startBenchDaemon(env: Record<string, string>): Promise<BenchDaemon> {
  const readyFile = join(env.SVC_DATA_DIR ?? '', 'ready.json');
  const child: ChildProcess = spawn(svc, ['daemon', '--ready-file', readyFile], {
    env: { ...process.env, SVC_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  for (let tries = 0; !existsSync(readyFile); tries++) {
    if (tries > 300 || child.exitCode !== null) throw new Error('the daemon did not get ready');
    await wait(100);
  }
  const { httpUrl, pid } = JSON.parse(readFileSync(readyFile, 'utf8')) as {
    httpUrl: string;
    pid: number;
  };
  return {
    httpPort: Number(new URL(httpUrl).port),
    pid,
    cpuMs: () => cpuMs(pid),
    memoryMb: () => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Runs a command of the product against the same store and returns its JSON. */
export async function svcJson<T>(env: Record<string, string>, ...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(svc, [...args, '--json'], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout) as T;
}
