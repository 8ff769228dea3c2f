// The package that `npm pack` makes, unpacked as npm installs it: its command works, and
// `svc/client` is there.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository } from '../support/cli.ts';

const run = promisify(execFile);

let home: string;
let installed: string;
let files: string[];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc pack-'));
  installed = join(home, 'lib/node_modules/svc');
  mkdirSync(join(home, 'lib/node_modules'), { recursive: true });
  const packed = await run('npm', ['pack', '--json', '--pack-destination', home], {
    cwd: repository,
  });
  const [{ filename, files: all }] = JSON.parse(packed.stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  files = all.map(({ path }) => path);
  await run('tar', ['xzf', join(home, filename)], { cwd: home });
  renameSync(join(home, 'package'), installed);
  symlinkSync(join(repository, 'node_modules'), join(installed, 'node_modules'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const svc = (...args: string[]) =>
  run(join(installed, 'bin/svc'), args, {
    cwd: home,
    env: { ...process.env, SVC_DATA_DIR: join(home, 'data') },
  });

it('has the program and the client, and no test', () => {
  for (const file of [
    'bin/svc',
    'client/index.js',
    'client/index.d.ts',
    'src/mail/smtp/providers.yaml',
  ]) {
    expect(files).toContain(file);
  }
  expect(files.filter((file) => /^(?:test|docs|examples)\//.test(file))).toEqual([]);
});

it('runs its command with workers, and prints no warning', async () => {
  expect((await svc('--version')).stdout).toMatch(/^svc\//);
  const made = await svc('init', '--json');
  expect(JSON.parse(made.stdout)).toHaveProperty('apiKey');
  expect(made.stderr).toBe('');
  const sent = await svc(
    ...[
      'messages',
      'send',
      '--to',
      'a@simulator.test',
      '--subject',
      'Hi',
      '--text',
      'ho',
      '--json',
    ],
  );
  expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'pending' });
});

it('gives programs beside it svc/client', async () => {
  const program = join(home, 'lib/program.mjs');
  writeFileSync(
    program,
    "import { Svc } from 'svc/client'; console.log(typeof new Svc({ url: 'http://a', key: 'k' }).messages.send);",
  );
  const { stdout } = await run(process.execPath, [program]);
  expect(stdout.trim()).toBe('function');
});
