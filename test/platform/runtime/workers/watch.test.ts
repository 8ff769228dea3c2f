// The deadline of jobs in workers counts CPU time: a starved job continues, a job that spins or
// waits does not.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
import { threadName, watchWorker } from '../../../../src/platform/runtime/workers/watch.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const script = `
const { parentPort, workerData } = require('node:worker_threads');
const { readlinkSync } = require('node:fs');
parentPort.on('message', (work) => {
  if (work === 'spin') for (;;);
  if (work === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
parentPort.postMessage(readlinkSync('/proc/thread-self'));
`;
const deadlineMs = 200;

const hasThreads = threadName() !== null;

describe.skipIf(!hasThreads)('the watch of a worker', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  async function workerAt(work: 'spin' | 'wait'): Promise<string> {
    const worker = new Worker(script, { eval: true });
    ends.push(() => worker.terminate());
    const [thread] = (await once(worker, 'message')) as [string];
    worker.postMessage(work);
    return thread;
  }

  /** Watches by the machine's clock; resolves with the time until the job was overdue. */
  function overdueAfter(thread: string): Promise<number> {
    const begun = performance.now();
    return new Promise((resolve) => {
      const onOverdue = () => resolve(performance.now() - begun);
      const watched = { clock: systemClock, thread, deadlineMs, place: () => 0, onOverdue };
      ends.push(watchWorker(watched));
    });
  }

  it('ends a job that spins once it has used its deadline', async () => {
    const took = await overdueAfter(await workerAt('spin'));
    expect(took).toBeGreaterThan(deadlineMs * 0.8);
    expect(took).toBeLessThan(deadlineMs * 10);
  });

  it('lets a job that gets no CPU continue, to ten times its deadline', async () => {
    expect(await overdueAfter(await workerAt('wait'))).toBeGreaterThan(deadlineMs * 9.9);
  });

  it('begins anew with each job of a group', async () => {
    const thread = await workerAt('wait');
    const clock = virtualClock();
    let place = 0;
    let isOverdue = false;
    const onOverdue = () => {
      isOverdue = true;
    };
    ends.push(watchWorker({ clock, thread, deadlineMs, place: () => place, onOverdue }));
    for (place = 1; place < 20; place += 1) await clock.advance(deadlineMs * 9);
    expect(isOverdue).toBe(false);
    await clock.advance(deadlineMs * 20);
    expect(isOverdue).toBe(true);
  });

  it('counts the wall clock where threads cannot be asked', async () => {
    const clock = virtualClock();
    let isOverdue = false;
    const onOverdue = () => {
      isOverdue = true;
    };
    watchWorker({ clock, thread: null, deadlineMs, place: () => 0, onOverdue });
    await clock.advance(deadlineMs - 1);
    expect(isOverdue).toBe(false);
    await clock.advance(1);
    expect(isOverdue).toBe(true);
  });

  it('calls nothing after its end', async () => {
    const clock = virtualClock();
    const onOverdue = () => expect.fail('it had ended');
    const end = watchWorker({ clock, thread: null, deadlineMs, place: () => 0, onOverdue });
    await clock.advance(deadlineMs / 2);
    end();
    await clock.advance(deadlineMs * 20);
  });
});
