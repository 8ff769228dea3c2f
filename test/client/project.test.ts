// A project of a user that installs the archive of the client as docs/client.md says: strict
// TypeScript, the runtimes, and a bundle for an edge worker. Bun, Deno and esbuild are tried where
// they are on PATH: `npm install --global bun deno esbuild` brings them, 200 MB.
// Slow: npm packs and installs, then the compiler and each runtime start.
import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../support/cli.ts';

const run = promisify(execFile);
const versionIn = (file: string) =>
  JSON.parse(readFileSync(join(repository, file), 'utf8')).version as string;

let project: string;
let packed: string[];

/** Puts a package with a program `node` into the project, as an application may have. */
function addOwnNode(): void {
  const folder = join(project, 'own-node');
  mkdirSync(folder);
  const description = { name: 'own-node', version: '1.0.0', bin: { node: 'node.js' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(description));
  writeFileSync(join(folder, 'node.js'), '#!/bin/sh\n', { mode: 0o755 });
}

/** Packs the client; returns the name of the archive. */
async function pack(): Promise<string> {
  const words = ['pack', './client', '--json', '--pack-destination', project];
  const { stdout } = await run('npm', words, { cwd: repository });
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = files.map(({ path }) => path);
  return filename;
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'svc shop-'));
  addOwnNode();
  const description = {
    ...{ name: 'shop', version: '1.0.0', private: true, type: 'module' },
    dependencies: { 'own-node': 'file:own-node' },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(description));
  const archive = await pack();
  const words = ['install', '--offline', '--no-audit', '--no-fund', `./${archive}`];
  await run('npm', words, { cwd: project });
  copyFileSync(join(import.meta.dirname, 'shop.mjs'), join(project, 'shop.mjs'));
  const program = "import { shop } from './shop.mjs';\nconsole.log(await shop(process.argv[2]));\n";
  writeFileSync(join(project, 'main.mjs'), `import process from 'node:process';\n${program}`);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the package', () => {
  it('has the modules and the types, and the version of the service', () => {
    const all = readdirSync(join(repository, 'client'));
    expect(packed.toSorted()).toEqual(all.toSorted());
    expect(versionIn('client/package.json')).toBe(versionIn('package.json'));
  });

  it('changes no program of the project, and brings no package', () => {
    const modules = join(project, 'node_modules');
    const found = readdirSync(modules).filter((name) => !name.startsWith('.'));
    expect(found).toEqual(['own-node', 'svc-client']);
    expect(readdirSync(join(modules, '.bin'))).toEqual(['node']);
    const own = realpathSync(join(project, 'own-node/node.js'));
    expect(realpathSync(join(modules, '.bin/node'))).toBe(own);
  });
});

describe('TypeScript', () => {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const target = ['--target', 'es2022', '--module', 'nodenext', '--noEmit', '--ignoreConfig'];
  const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');

  beforeAll(() => {
    const program = readFileSync(join(repository, 'test/types/client.test-d.ts'), 'utf8');
    const installed = program.replace('../../client/index.js', 'svc-client');
    writeFileSync(join(project, 'types.ts'), installed);
    mkdirSync(join(project, 'node_modules/@types'));
    for (const name of ['@types/node', 'undici-types']) {
      const place = join('node_modules', name);
      symlinkSync(join(repository, place), join(project, place));
    }
  });

  it.each([
    ['Node', ['--lib', 'es2022', '--types', 'node']],
    ['the web', ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable']],
  ])('compiles a strict program with the types of %s', async (_name, types) => {
    const words = [compiler, ...strict, ...target, ...types, 'types.ts'];
    const { stdout } = await run(process.execPath, words, { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});

/** Returns the path of a command in the packages or on PATH; null if its version is another. */
function commandOf(name: string, version: RegExp): string | null {
  const folders = [join(repository, 'node_modules/.bin'), ...pathFolders];
  const found = folders.map((folder) => join(folder, name)).find((file) => isOf(file, version));
  return found ?? null;
}

const pathFolders = (process.env.PATH ?? '').split(delimiter);

function isOf(file: string, version: RegExp): boolean {
  try {
    return version.test(execFileSync(file, ['--version'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return false;
  }
}

describe('the program of a user', () => {
  const said = 'msg_1\nmessage msg_0 was not found\n0,1\nevt_1 message.delivered';
  const missing = (name: string) => `${name} is not here: npm install --global brings it`;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const json = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      };
      if (request.url === '/v1/events/stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const ids = Array.from({ length: 90 }, (_, n) => n);
        response.write(ids.map((n) => `id: ${n}\ndata: {"id": "${n}"}\n\n`).join(''));
      } else if (request.method === 'POST') json(201, { id: 'msg_1' });
      else json(404, { _tag: 'ResourceNotFoundError', resource: 'message', id: 'msg_0' });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it.for([
    { name: 'Node', command: process.execPath, words: [] },
    { name: 'Node 20', command: commandOf('node', /^v20\./), words: [] },
    { name: 'Bun', command: commandOf('bun', /^\d/), words: [] },
    { name: 'Deno', command: commandOf('deno', /^deno/), words: ['run', '--allow-net=127.0.0.1'] },
  ])('runs on $name', async ({ name, command, words }, { skip }) => {
    if (command === null) return skip(missing(name));
    const { stdout } = await run(command, [...words, 'main.mjs', url], { cwd: project });
    expect(stdout.trim()).toBe(said);
  });

  it('is bundled by esbuild for an edge worker, which has no module of Node', async ({ skip }) => {
    const esbuild = commandOf('esbuild', /^\d/);
    if (esbuild === null) return skip(missing('esbuild'));
    const words = ['--bundle', '--minify', '--platform=neutral', '--format=iife'];
    const bundle = [...words, '--global-name=edge', '--outfile=edge.js', 'shop.mjs'];
    await run(esbuild, bundle, { cwd: project });
    const code = readFileSync(join(project, 'edge.js'), 'utf8');
    expect(code.length).toBeLessThan(60_000);
    const web = { AbortController, Headers, Response, TextDecoder, TextEncoder, URL };
    const more = { URLSearchParams, atob, btoa, clearTimeout, crypto, fetch, setTimeout };
    const globals = { ...web, ...more, url };
    const answer = await runInNewContext(`${code}\nedge.shop(url)`, globals);
    expect(answer).toBe(said);
  });
});
