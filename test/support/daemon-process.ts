// The real `./bin/svc daemon` in a separate process and directory (cli.ts). Tests send requests
// over real sockets, stop or kill it, and check exits, outputs and answers.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CliWorkspace, cliWorkspace, putStore, svc } from './cli.ts';

/** End of a process: either the code or the signal is null. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface DaemonAnswer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface DaemonRequest {
  /** API key; by default the owner key of the home. Null sends no key. */
  apiKey?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
}

/** A running daemon that listens. */
export interface DaemonProcess {
  readonly pid: number;
  /** File of the flag `--ready-file`. */
  readonly readyFile: string;
  readonly httpUrl: string;
  readonly smtpPort: number;
  readonly submissionPort: number | null;
  readonly exited: Promise<ProcessExit>;
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** The lines of the log, parsed. */
  log(): Record<string, unknown>[];
  request<Body>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options?: DaemonRequest,
  ): Promise<DaemonAnswer<Body>>;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, then waits for the end. */
  stop(): Promise<ProcessExit>;
  /** Sends SIGKILL, then waits for the end. */
  kill(): Promise<ProcessExit>;
}

export interface StartOptions {
  /** Overrides the environment of the home. */
  env?: Record<string, string>;
  /** The `bin/svc` of a different version. */
  program?: string;
  /** Command that starts the daemon, such as `prlimit --fsize=…`. */
  under?: readonly string[];
  /** Flags of the daemon. */
  flags?: readonly string[];
}

/** A directory, and a configuration by environment, for daemons and commands. */
export interface DaemonHome {
  readonly cli: CliWorkspace;
  /**
   * Key of the owner; '' before the first start, which writes it to `first-key` of an empty home.
   */
  readonly apiKey: string;
  /** The `curl` line printed with the first key; '' unless the home was empty. */
  readonly curl: string;
  /** Makes the store once, as the first start would. */
  makeStore(): Promise<void>;
  /**
   * Starts a daemon; resolves when it is ready. @throws Error with the output if it ends before.
   */
  start(options?: StartOptions): Promise<DaemonProcess>;
  /** Kills a process that still runs with SIGKILL, and removes the directory. */
  close(): Promise<void>;
}

const startDeadlineMs = 60_000;
const pollMs = 5;

/** Polls until the value is not false, null or undefined. Resolves with the value. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  deadlineMs = 30_000,
): Promise<Exclude<T, false | null | undefined>> {
  const endAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined) {
      return found as Exclude<T, false | null | undefined>;
    }
    if (performance.now() > endAt) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await wait(pollMs);
  }
}

/** Makes a daemon trust the tests as a gateway, so that it does not check their senders. */
export const trustingTests = { SVC_SMTP_INBOUND_TRUSTED_NETWORKS: '["127.0.0.1"]' };

/** Settings of a daemon that relays everything to this server. */
export function relayTo({ host, port }: { host: string; port: number }): Record<string, string> {
  return {
    SVC_DELIVERY_MODE: 'relay',
    SVC_DELIVERY_RELAY_HOST: host,
    SVC_DELIVERY_RELAY_PORT: String(port),
  };
}

/**
 * Makes a home without a daemon. Its store is made before the first start, unless that start makes
 * it (`isEmpty`) or the store is a database elsewhere.
 */
export function daemonHome(
  env: Record<string, string> = {},
  { isEmpty = env.SVC_DATABASE_URL !== undefined } = {},
): DaemonHome {
  const cli = cliWorkspace(env);
  const running = new Map<ChildProcess, Promise<ProcessExit>>();
  const first = { apiKey: '', curl: '' };
  const makeStore = async () => {
    if (first.apiKey === '') first.apiKey = await putStore(cli.env.SVC_DATA_DIR ?? '');
  };
  let starts = 0;

  const launch = (readyFile: string, options: StartOptions) => {
    const { env: extra, under = [], flags = [], program = svc } = options;
    const words = [...under, program, 'daemon', '--ready-file', readyFile, ...flags];
    const [command = program, ...args] = words;
    const child = spawn(command, args, {
      cwd: cli.directory,
      env: { ...cli.env, ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = new Promise<ProcessExit>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal }));
    });
    running.set(child, exited);
    child.on('close', () => running.delete(child));
    return { child, exited, output: collectOutput(child) };
  };

  return {
    cli,
    get apiKey() {
      return first.apiKey;
    },
    get curl() {
      return first.curl;
    },
    makeStore,
    async start(options = {}) {
      starts += 1;
      if (!isEmpty) await makeStore();
      const readyFile = join(cli.directory, `ready-${starts}.json`);
      const { child, exited, output } = launch(readyFile, options);
      const ready = await until(
        () => {
          if (!running.has(child)) throw new Error(`the daemon ended: ${output.stderr}`);
          return readReady(readyFile);
        },
        'a daemon that is ready',
        startDeadlineMs,
      );
      if (!first.apiKey) {
        const look = () => firstStartIn(join(cli.env.SVC_DATA_DIR ?? '', 'first-key'));
        Object.assign(first, await until(look, 'the key of the first start', startDeadlineMs));
      }
      const endBy = (signal: NodeJS.Signals) => {
        child.kill(signal);
        return exited;
      };
      return {
        ...ready,
        readyFile,
        exited,
        output,
        log: () => parseLog(output.stderr),
        request: (method, path, { apiKey = first.apiKey, ...request } = {}) =>
          ask(`${ready.httpUrl}${path}`, method, { apiKey, ...request }),
        signal: (signal) => void child.kill(signal),
        stop: () => endBy('SIGTERM'),
        kill: () => endBy('SIGKILL'),
      };
    },
    async close() {
      for (const child of running.keys()) child.kill('SIGKILL');
      await Promise.all(running.values());
      cli.close();
    },
  };
}

function collectOutput(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return output;
}

type Ready = Pick<DaemonProcess, 'pid' | 'httpUrl' | 'smtpPort' | 'submissionPort'>;

function readReady(file: string): Ready | null {
  if (!existsSync(file)) return null;
  const { pid, httpUrl, smtpPort, submissionPort } = JSON.parse(readFileSync(file, 'utf8'));
  return { pid, httpUrl, smtpPort, submissionPort };
}

function firstStartIn(file: string): { apiKey: string; curl: string } | null {
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  const apiKey = /^ +(svc_live_\w+)$/m.exec(text)?.[1];
  const curl = /^ +(curl .+)\n/m.exec(text)?.[1];
  return apiKey && curl ? { apiKey, curl } : null;
}

function parseLog(stderr: string): Record<string, unknown>[] {
  const whole = stderr.slice(0, stderr.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function ask<Body>(
  url: string,
  method: string,
  { apiKey, headers, body }: DaemonRequest,
): Promise<DaemonAnswer<Body>> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey && { 'x-api-key': apiKey }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  };
}
