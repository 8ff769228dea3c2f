// Runs the real ./bin/svc in a separate directory, as a person or a script does: without variables
// of ours in the environment, and without a terminal. Tests check the exit code and both outputs.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostedResult, HostedRun } from './cli-host.ts';

export const repository = join(import.meta.dirname, '../..');
export const svc = join(repository, 'bin/svc');

export interface CliResult {
  /** Exit code; null if a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** Standard input; if left out, it is closed at once. */
  input?: string | Uint8Array;
}

export interface CliWorkspace {
  /** Working directory and home; the data directory is `data` in it. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Runs with `--json` and returns the printed object. @throws Error if the exit code is not 0. */
  json<T>(args: readonly string[], options?: RunOptions): Promise<T>;
  /** Starts a command and does not wait for the end. `close` kills it if it still runs. */
  start(args: readonly string[]): ChildProcess;
  close(): void;
}

/** Waits for the end of a process, and collects its output. */
export function finished(child: ChildProcess): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A process that runs commands in sequence. */
interface Host {
  process: ChildProcess;
  isBusy: boolean;
}

/** The hosts by Node options and account, which a process keeps from its start. */
const hosts = new Map<string, Host>();

/** Starts a host. Its commands of root may change to `account`, and return to root. */
function startHost(options: string, account: Account | undefined): ChildProcess {
  const env = { ...process.env, NODE_OPTIONS: options };
  const file = join(import.meta.dirname, 'cli-host.ts');
  if (!account) return fork(file, { env, serialization: 'advanced' });
  const ids = ['--ruid', `${account.uid}`, '--rgid', `${account.gid}`, '--keep-groups'];
  return spawn('setpriv', [...ids, process.execPath, file, 'returns-to-root'], {
    env,
    serialization: 'advanced',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}

/** Runs a command in a host. Returns null while the host runs a different command. */
async function runHosted(
  work: HostedRun,
  account: Account | undefined,
): Promise<HostedResult | null> {
  const options = work.env.NODE_OPTIONS ?? '';
  const key = account ? `${account.uid} ${options}` : options;
  const host = hosts.get(key) ?? { process: startHost(options, account), isBusy: false };
  hosts.set(key, host);
  if (host.isBusy) return null;
  host.isBusy = true;
  const stopped = new AbortController();
  const { signal } = stopped;
  try {
    host.process.send(work);
    const ended = once(host.process, 'exit', { signal }).then(() => {
      hosts.delete(key);
      throw new Error(`svc ${work.args.join(' ')} ended the process of all commands`);
    });
    const [result] = await Promise.race([once(host.process, 'message', { signal }), ended]);
    return result;
  } finally {
    stopped.abort();
    host.isBusy = false;
  }
}

/** An account that owns a store. */
export interface Account {
  uid: number;
  gid: number;
}

interface WorkspaceOptions {
  /** Runs every command in a separate process. */
  inProcesses?: boolean;
  /** An existing directory, which is used as it is. */
  directory?: string;
  /** Owner of the store. Commands of root change to this account, and the host returns to root. */
  account?: Account;
}

/**
 * Makes a new directory without a store in which svc can run. Its commands share a process, but
 * concurrent commands run in separate processes.
 */
export function cliWorkspace(
  env: Record<string, string> = {},
  {
    inProcesses = false,
    directory = mkdtempSync(join(tmpdir(), 'svc-cli-')),
    account,
  }: WorkspaceOptions = {},
): CliWorkspace {
  const started = new Set<ChildProcess>();
  const ownEnv = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    SVC_DATA_DIR: join(directory, 'data'),
    SVC_HTTP_PORT: '0',
    SVC_SMTP_INBOUND_PORT: '0',
    ...env,
  };
  const start = (args: readonly string[], extra: Record<string, string> = {}) => {
    const child = spawn(svc, args, { cwd: directory, env: { ...ownEnv, ...extra } });
    started.add(child);
    child.on('close', () => started.delete(child));
    return child;
  };
  const run: CliWorkspace['run'] = async (args, { env: extra = {}, input = '' } = {}) => {
    const work = { args, env: { ...ownEnv, ...extra }, directory, input };
    const result = inProcesses ? null : await runHosted(work, account);
    return result ?? runAlone(args, { env: extra, input });
  };
  const runAlone = (args: readonly string[], { env: extra, input }: Required<RunOptions>) => {
    const child = start(args, extra);
    const result = finished(child);
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    return result;
  };
  const json = async <T>(args: readonly string[], options?: RunOptions) => {
    const { code, stdout, stderr } = await run([...args, '--json'], options);
    if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  };
  return {
    directory,
    env: ownEnv,
    run,
    json,
    start,
    close() {
      for (const child of started) child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface MadeStore {
  apiKey: string;
  files: ReadonlyMap<string, Buffer>;
}

/**
 * The store of `svc init`, made once for each process: its RSA key takes longer than most commands.
 */
let madeStore: Promise<MadeStore> | null = null;

async function makeStore(): Promise<MadeStore> {
  const workspace = cliWorkspace();
  try {
    const { apiKey } = await workspace.json<{ apiKey: string }>(['init']);
    const directory = join(workspace.directory, 'data');
    const names = readdirSync(directory);
    const files = new Map(names.map((name) => [name, readFileSync(join(directory, name))]));
    return { apiKey, files };
  } finally {
    workspace.close();
  }
}

/** Copies the files of a new store into a new directory. Resolves with the owner key. */
export async function putStore(dataDir: string): Promise<string> {
  madeStore ??= makeStore();
  const { apiKey, files } = await madeStore;
  mkdirSync(dataDir, { mode: 0o700 });
  for (const [name, bytes] of files) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 });
  return apiKey;
}

/** Makes a new directory with a store, which most commands need. */
export async function initializedWorkspace(
  env: Record<string, string> = {},
  options: { inProcesses?: boolean } = {},
): Promise<CliWorkspace> {
  const workspace = cliWorkspace(env, options);
  await putStore(join(workspace.directory, 'data'));
  return workspace;
}
