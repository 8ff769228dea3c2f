// Runs commands in sequence in this process, each as `bin/run.js` would. Arguments, environment,
// directory and input arrive over IPC; outputs and exit code are sent back. Starting a process
// costs ten times as much as most commands.
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { Readable, Writable } from 'node:stream';
import type { RootReturn } from './root-return.ts';

const urlOf = (path: string) => new URL(path, import.meta.url).href;
const [app, service, hostedApp] = [
  urlOf('../../src/core/app.ts'),
  urlOf('../../src/service/service.ts'),
  urlOf('./hosted-app.ts'),
];

// Commands open their app by service.ts, which they import when they run.
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const isOpened = resolved.url === app && context.parentURL === service;
    return isOpened ? { ...resolved, url: hostedApp } : resolved;
  },
});

// `svc backup` lowers the priority of its process for good. Later commands would wait for all else.
os.setPriority = () => {};
syncBuiltinESMExports();

// Before the import of commands: it replaces modules that keep files and processes of root.
const rootReturn: RootReturn | null =
  process.argv[2] === 'returns-to-root'
    ? await import('./root-return.ts').then(({ returnToRoot }) => returnToRoot())
    : null;
const { start } = await import('../../commands/base/start.ts');

export interface HostedRun {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  directory: string;
  input: string | Uint8Array;
}

export interface HostedResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Makes a stream that is not a terminal, and collects its text. */
function collector() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

async function run({ args, env, directory, input }: HostedRun): Promise<HostedResult> {
  const stdout = collector();
  const stderr = collector();
  const bytes = typeof input === 'string' ? Buffer.from(input) : Buffer.from(input);
  const stdin = Readable.from(bytes.length === 0 ? [] : [bytes]);
  for (const [name, value] of Object.entries({
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
  }))
    Object.defineProperty(process, name, { value, configurable: true });
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(directory);
  process.exitCode = undefined;
  await rootReturn?.begin();
  await start([...args]);
  rootReturn?.end();
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'uncaughtException'])
    process.removeAllListeners(signal);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

process.umask(0o077);
process.on('message', (message: HostedRun) => {
  void run(message).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
