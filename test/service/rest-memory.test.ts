// Garbage that an idle daemon gives back.
import { beforeEach, describe, expect, it } from 'vitest';
import { releaseMemoryAtRest } from '../../daemon/rest-memory.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const mb = 1_000_000;

describe('the memory of a daemon at rest', () => {
  let clock = virtualClock();
  let collections: number;
  let resident: number;
  let busy: boolean;

  beforeEach(() => {
    clock = virtualClock();
    collections = 0;
    resident = 200 * mb;
    busy = false;
  });

  const start = () =>
    releaseMemoryAtRest({
      clock,
      isBusy: () => busy,
      resident: () => resident,
      collect: () => {
        collections += 1;
        resident = 160 * mb;
      },
    });

  it('is released once, 20 s after the start', async () => {
    start();
    await clock.advance(19_000);
    expect(collections).toBe(0);
    await clock.advance(1_000);
    expect(collections).toBe(1);
    await clock.advance(600_000);
    expect(collections).toBe(1);
  });

  it('stays while the daemon works', async () => {
    busy = true;
    start();
    await clock.advance(600_000);
    expect(collections).toBe(0);
  });

  it('is released again after a burst', async () => {
    start();
    await clock.advance(20_000);
    busy = true;
    resident = 300 * mb;
    await clock.advance(60_000);
    busy = false;
    await clock.advance(10_000);
    expect(collections).toBe(1);
    await clock.advance(10_000);
    expect(collections).toBe(2);
  });

  it('stays if it has hardly grown', async () => {
    start();
    await clock.advance(20_000);
    resident += 16 * mb;
    await clock.advance(600_000);
    expect(collections).toBe(1);
  });

  it('is not watched after the stop', async () => {
    start()();
    await clock.advance(600_000);
    expect(collections).toBe(0);
  });
});
