import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

async function exitCodeOf(env: Record<string, string>): Promise<number> {
  const config = 'test/support/failing.vitest.config.ts';
  const child = spawn('node_modules/.bin/vitest', ['run', '--config', config], {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

it.each([
  ['with a PostgreSQL of its own', () => ({ TEST_PG_URL: '' })],
  ['with a given one', () => ({ TEST_PG_URL: inject('postgresUrl') })],
])('a run with a failed test ends with 1, %s', async (_, env) => {
  expect(await exitCodeOf(env())).toBe(1);
});
