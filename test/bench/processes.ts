// Child processes of the benchmark: the sink, the real daemon, commands of the product.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cpuMs, memoryMb, threadCpuMs } from './process-cost.ts';
import { showProgress } from './progress.ts';

const root = join(import.meta.dirname, '..', '..');
const svc = join(root, 'bin', 'svc');
const deliveryDeadlineMs = 900_000;
const readyPollMs = 100;
/** Limit for a start on a large store. */
const readyDeadlineMs = 120_000;
/** Limit after which a daemon that does not stop is killed. */
const stopDeadlineMs = 60_000;

export interface SinkCount {
  received: number;
  signed: number;
}

export interface BenchSink {
  port: number;
  pid: number;
  /** Resolves when `count` messages have arrived since the start. */
  waitFor(count: number, label: string): Promise<SinkCount>;
  /** Returns the counts of the sink until now. */
  count(): Promise<SinkCount>;
  close(): void;
}

/** Starts a sink that delays each answer by `delayMs`. */
export async function startBenchSink(delayMs = 0): Promise<BenchSink> {
  const child = fork(join(import.meta.dirname, 'sink-process.ts'), [String(delayMs)]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (request: { count: number; deadlineMs: number } | null) => {
    child.send(request ?? { count: 0, deadlineMs: 0 });
    const [answer] = (await once(child, 'message')) as [SinkCount & { error?: string }];
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  return {
    port,
    pid: child.pid ?? 0,
    async waitFor(count, label) {
      const stop = showProgress(label);
      try {
        return await ask({ count, deadlineMs: deliveryDeadlineMs });
      } finally {
        stop();
      }
    },
    count: () => ask(null),
    close: () => child.disconnect(),
  };
}

export interface BenchDaemon {
  httpPort: number;
  smtpPort: number;
  /** 0 where submission is off. */
  submissionPort: number;
  pid: number;
  /** Core-milliseconds used so far, all threads. */
  cpuMs(): number;
  /** Returns the core time by name of thread. */
  threads(): Map<string, number>;
  /** Resident memory in MB. */
  memoryMb(which: 'now' | 'peak'): number;
  /** Longest stall of the event loop in ms since the last call. */
  stallMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the real `bin/svc daemon` with these settings and waits until it is ready. */
export async function startBenchDaemon(env: Record<string, string>): Promise<BenchDaemon> {
  const readyFile = join(env.SVC_DATA_DIR ?? '', 'ready.json');
  // Logs as a daemon in use does: the cost of logging is part of the figures.
  const log = openSync(join(env.SVC_DATA_DIR ?? '', 'daemon.log'), 'a');
  const child: ChildProcess = spawn(svc, ['daemon', '--ready-file', readyFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').finally(() => process.off('exit', kill));
  const deadline = performance.now() + readyDeadlineMs;
  while (!existsSync(readyFile)) {
    const isLate = performance.now() > deadline;
    if (isLate || child.exitCode !== null) throw new Error('the daemon did not get ready');
    await wait(readyPollMs);
  }
  const { httpUrl, smtpPort, submissionPort, pid } = JSON.parse(
    readFileSync(readyFile, 'utf8'),
  ) as {
    httpUrl: string;
    smtpPort: number;
    submissionPort: number | null;
    pid: number;
  };
  return {
    httpPort: Number(new URL(httpUrl).port),
    smtpPort,
    submissionPort: submissionPort ?? 0,
    pid,
    cpuMs: () => cpuMs(pid),
    threads: () => threadCpuMs(pid),
    memoryMb: (which) => memoryMb(pid, which),
    async stallMs() {
      const metrics = await (await fetch(`${httpUrl}/metrics`)).text();
      const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1];
      return Math.round(Number(seconds ?? Number.NaN) * 1000);
    },
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(kill, stopDeadlineMs);
      await exited;
      clearTimeout(late);
    },
  };
}

/** Runs a command of the product against the same store and returns its JSON. */
export async function svcJson<T>(env: Record<string, string>, ...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(svc, [...args, '--json'], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout) as T;
}
