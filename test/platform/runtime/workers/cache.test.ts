// Threads use the cache of compiled sources of their process. Without it each worker compiles its
// sources anew: a start of the daemon takes half as long again.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { repository } from '../../../support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-cache-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module in a new process; returns its lines. `before` runs before all imports. */
async function linesOf(before: string): Promise<string[]> {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const source = `import module from 'node:module';
    ${before}
    const { WorkerThread } = await import('./src/platform/runtime/workers/worker-thread.ts');
    console.log(module.getCompileCacheDir() ?? 'none');
    const script = new URL('./test/platform/runtime/workers/cache-worker.ts', 'file://${repository}/');
    new WorkerThread({ script, name: 'cache', onReport: (folder) => console.log(folder) });`;
  const words = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: repository, env });
  return stdout.trim().split('\n');
}

it('a thread has the cache that its process has enabled', async () => {
  const [ofProcess, ofThread] = await linesOf(`module.enableCompileCache('${folder}');`);
  expect(ofProcess).toContain(folder);
  expect(ofThread).toBe(ofProcess);
});

it('a thread of a process without a cache has none', async () => {
  expect(await linesOf('')).toEqual(['none', 'none']);
});
