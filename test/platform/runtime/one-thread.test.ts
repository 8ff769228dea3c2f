// All worker threads are started by src/platform/runtime/workers/worker-thread.ts. Walks the source
// for another.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const files = globSync(['src/**/*.ts', 'daemon/**/*.ts', 'commands/**/*.ts']);

it('one module starts worker threads', () => {
  const found = files.filter((file) => /new Worker\(/.test(readFileSync(file, 'utf8')));
  expect(found).toEqual(['src/platform/runtime/workers/worker-thread.ts']);
});

it('every worker of the source is started', () => {
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const workers = files.filter((file) => file.endsWith('-worker.ts'));
  expect(workers.length).toBeGreaterThan(5);
  const names = workers.map((file) => file.slice(file.lastIndexOf('/') + 1));
  expect(names.filter((name) => !text.includes(`new URL('./${name}', import.meta.url)`))).toEqual(
    [],
  );
});
