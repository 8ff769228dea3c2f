// The typed client: equal to the routes, its suite for plain Node, and docs/client.md against a
// daemon.
import { execFile } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Svc, SvcError } from '../../client/index.js';
import { routes } from '../../daemon/http/routes.ts';
import { operationNames } from '../../src/core/api/operation-name.ts';
import {
  ConflictError,
  errorKinds,
  PaymentRequiredError,
  RateLimitedError,
  ResourceNotFoundError,
} from '../../src/platform/errors.ts';
import { readMarkdown } from '../docs/markdown.ts';
import { repository } from '../support/cli.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { formatted, written } from './write.ts';

const run = promisify(execFile);
/** The constructor is for the client alone, so its types lack it. */
const Refusal = SvcError as unknown as new (fields: object) => SvcError;

describe('the files of the client', () => {
  it.each(Object.keys(written))('%s is what the routes make: npm run client', (name) => {
    expect(readFileSync(join(repository, 'client', name), 'utf8')).toBe(formatted(name));
  });

  it('give each operation its method', () => {
    const svc = new Svc({ url: 'http://127.0.0.1:1', key: 'k' }) as unknown as Record<
      string,
      Record<string, unknown>
    >;
    for (const [route, { resource, verb }] of operationNames(routes)) {
      expect(typeof svc[resource]?.[verb], route.name).toBe('function');
    }
  });

  it('import nothing but each other', () => {
    for (const name of [
      'index.js',
      'http.js',
      'expect.js',
      'stream.js',
      'webhooks.js',
      'operations.js',
    ]) {
      const text = readFileSync(join(repository, 'client', name), 'utf8');
      const imported = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
        ([, path = '']) => path,
      );
      expect(
        imported.filter((path) => !path.startsWith('./')),
        name,
      ).toEqual([]);
    }
  });
});

it.each([
  new ResourceNotFoundError('message', 'msg_1'),
  new ResourceNotFoundError('path', '/emails', 'POST /v1/messages sends'),
  new PaymentRequiredError({
    resource: 'daily-emails',
    currentUsage: 3,
    limit: 3,
    operation: 'messages.send',
  }),
  new RateLimitedError('messages.send', 5),
  new ConflictError('run', 'the run is paused'),
])('words an error as the commands do: %s', (error) => {
  const { message } = new Refusal(error.toJSON());
  expect(message).toBe(error.message);
});

it('has words for each error of the API', () => {
  const silent = [...errorKinds].filter(([, { fields }]) => !('message' in fields));
  for (const [tag, { fields }] of silent) {
    const { message } = new Refusal({ _tag: tag, ...fields });
    expect(message, tag).not.toContain('The API answered');
  }
});

it('passes its own suite, which also runs on Node 20', async () => {
  const programs = globSync('plain*.test.mjs', { cwd: import.meta.dirname });
  const paths = programs.map((name) => join(import.meta.dirname, name));
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', ...paths]);
  expect(stdout).toMatch(/# pass 2\d/);
  expect(stdout).toContain('# fail 0');
});

describe('docs/client.md', () => {
  const blocks = readMarkdown('docs/client.md').fences.filter(({ language }) => language === 'ts');
  const imports = /^import .*;\n/gm;
  const whole = [
    ...new Set(blocks.flatMap(({ text }) => `${text}\n`.match(imports) ?? [])),
    ...blocks.map(({ text }) => `${text}\n`.replaceAll(imports, '')),
  ].join('\n');
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let directory: string;
  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
    // Within the repository, so that its packages are found.
    directory = mkdtempSync(join(repository, '.client-docs-'));
    mkdirSync(join(directory, 'node_modules'));
    symlinkSync(join(repository, 'client'), join(directory, 'node_modules/svc-client'));
    for (const name of ['client.js', 'client.d.ts']) {
      const answer = await fetch(`${daemon.httpUrl}/${name}`);
      writeFileSync(join(directory, name), await answer.text());
    }
    const served = whole.replaceAll("'svc-client'", "'./client.js'");
    for (const [name, text] of Object.entries({ installed: whole, served })) {
      writeFileSync(join(directory, `${name}.ts`), text);
      writeFileSync(join(directory, `${name}.mjs`), stripTypeScriptTypes(text));
    }
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await home.close();
  });

  it('has code that the types of the package and of the daemon accept', async () => {
    const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
    const target = ['--target', 'es2022', '--module', 'nodenext', '--noEmit', '--ignoreConfig'];
    const types = ['--strict', '--types', 'node', '--lib', 'es2022,dom,dom.asynciterable'];
    const words = [compiler, ...target, ...types, 'installed.ts', 'served.ts'];
    const { stdout } = await run(process.execPath, words, { cwd: directory }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('has the client of the daemon, with types for Deno', async () => {
    const { headers } = await fetch(`${daemon.httpUrl}/client.js`);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('x-typescript-types')).toBe('./client.d.ts');
    const served = await import(join(directory, 'client.js'));
    const names = Object.keys(await import('../../client/index.js'));
    expect(Object.keys(served).toSorted()).toEqual(names.toSorted());
  });

  it.each(['installed', 'served'])(
    'runs against a daemon, with the %s client',
    async (name) => {
      const env = { ...process.env, MAIL_URL: daemon.httpUrl, MAIL_KEY: home.apiKey };
      const { stdout } = await run(process.execPath, [join(directory, `${name}.mjs`)], { env });
      expect(stdout).toMatch(/pending|processing|delivered/);
      expect(stdout).toContain('message msg_00000000000000000000000a was not found');
      expect(stdout).toMatch(/msg_\w+/);
    },
    60_000,
  );
});
