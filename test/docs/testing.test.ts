// The commands and suites of docs/testing.md, run as printed: against a daemon with a virtual
// clock, and then on its store. Suites without their program count as skipped.
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository } from '../support/cli.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import { isInstalled } from './is-installed.ts';
import { readMarkdown } from './markdown.ts';

const { fences } = readMarkdown('docs/testing.md');

function fence(language: string, words: string): string {
  const found = fences.find((one) => one.language === language && one.text.includes(words));
  if (!found) throw new Error(`there is no ${language} block with ${words}`);
  return found.text;
}

let home: DaemonHome;
let daemon: DaemonProcess;
beforeAll(async () => {
  const settings = fence('sh', 'RETRY_SCHEDULE').match(/SVC_\w+=\S+/g) ?? [];
  const env = settings.map((one) => one.replaceAll("'", '').split('=') as [string, string]);
  expect(env).toHaveLength(2);
  home = daemonHome(Object.fromEntries(env), { isEmpty: true });
  const [, ...flags] = fence('sh', '--at ').trim().split(' ').slice(1);
  daemon = await home.start({ flags });
});
afterAll(() => home.close());

async function run(file: string, text: string, command: string, ...args: string[]): Promise<void> {
  const directory = join(home.cli.directory, file.split('.')[1] ?? '');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), text);
  const env = { ...process.env, MAIL_URL: daemon.httpUrl, MAIL_KEY: home.apiKey };
  await promisify(execFile)(command, args, { cwd: directory, env });
}

it('the suite for Vitest passes', async () => {
  const program = join(repository, 'node_modules/vitest/vitest.mjs');
  symlinkSync(join(repository, 'node_modules'), join(home.cli.directory, 'node_modules'));
  // A busy machine takes longer than the five seconds that Vitest gives a test of a reader.
  const words = [program, 'run', '--testTimeout=60000'];
  await run('retry.test.ts', fence('ts', 'vitest'), process.execPath, ...words);
});

it.skipIf(!isInstalled('pytest', ['--version']))('the suite for pytest passes', async () => {
  await run('test_retry.py', fence('python', 'test_retry'), 'pytest', '-q');
});

it.skipIf(!isInstalled('curl', ['--version']))('the script for curl passes', async () => {
  await run('retry.sh', fence('sh', 'curl'), 'sh', '-e', 'retry.sh');
});

it.skipIf(!isInstalled('go', ['version']))('the suite for Go passes', async () => {
  await run('retry.sh', fence('sh', 'curl'), 'true');
  await run('retry_test.sh', fence('go', 'TestRetry'), 'cp', 'retry_test.sh', 'retry_test.go');
  await run('none.sh', '', 'go', 'test', 'retry_test.go');
});

it('the store is emptied once the daemon has stopped', async () => {
  await daemon.stop();
  const [, ...words] = fence('sh', 'dev reset').trim().split(' ');
  expect(await home.cli.run(words)).toMatchObject({ code: 0, stderr: '' });
  const { code, stderr } = await home.cli.run(['messages', 'list']);
  expect([code, stderr]).toEqual([7, expect.stringContaining('There is no store')]);
});
