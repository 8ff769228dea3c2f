// A worker for the tests of the pool: echoes, works for a time, spins, ends or runs out of memory.
import { serveJobs } from '../../../../src/platform/runtime/workers/serve.ts';

serveJobs((job: string): string => {
  if (job === 'exit') process.exit(3);
  if (job === 'throw') throw new Error('a fault');
  if (job === 'memory') {
    const held: number[][] = [];
    for (;;) held.push(Array.from({ length: 1000 }, (_, index) => index));
  }
  while (job === 'spin');
  const [, workMs] = /^(\d+) ms/.exec(job) ?? [];
  for (const from = performance.now(); performance.now() - from < Number(workMs ?? 0); );
  return `echo ${job}`;
});
