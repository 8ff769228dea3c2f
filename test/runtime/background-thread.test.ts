// A thread lowers its own priority and nobody else's.
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const file = new URL('../../src/runtime/background-thread.ts', import.meta.url).href;
const code = `
  import { parentPort } from 'node:worker_threads';
  import { readlinkSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { yieldToOtherThreads } from '${file}';
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  const before = getPriority(thread);
  yieldToOtherThreads();
  parentPort.postMessage({ before, after: getPriority(thread) });
`;

test.runIf(process.platform === 'linux')(
  'a background thread yields to the event loop',
  async () => {
    const own = getPriority();
    const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    const worker = new Worker(url);
    const [{ before, after }] = (await once(worker, 'message')) as [
      { before: number; after: number },
    ];
    await worker.terminate();
    expect(after - before).toBe(10);
    expect(getPriority()).toBe(own);
  },
);
