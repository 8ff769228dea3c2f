// Packages that every command loads before it does anything: most of its time is the loading of
// files. A package for a rare task is loaded by that task.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { repository } from '../support/cli.ts';

/** Prints the number of loaded files by package. */
const program = `
  const { registerHooks } = await import('node:module');
  const counts = {};
  registerHooks({
    load(url, context, next) {
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name) counts[name] = (counts[name] ?? 0) + 1;
      return next(url, context);
    },
  });
  await import(${JSON.stringify(join(repository, 'src/service/service.ts'))});
  console.log(JSON.stringify(counts));`;

it('the service loads more than 20 files of two packages only', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    program,
  ]);
  const counts: Record<string, number> = JSON.parse(stdout);
  expect(counts['better-sqlite3']).toBeGreaterThan(5);
  const large = Object.entries(counts).filter(([, files]) => files > 20);
  expect(large.map(([name]) => name).sort()).toEqual(['kysely', 'zod']);
});
