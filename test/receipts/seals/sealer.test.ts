// The sealer of a daemon by a virtual clock: when it seals, and that it misses nothing.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findTree } from '../../../src/receipts/queries.ts';
import { createSealer, type Sealer } from '../../../src/receipts/sealer.ts';
import { heldWrite } from '../../outbound/messages/fixtures.ts';
import { eachApp } from '../../support/each-app.ts';
import { leafTexts, recordSteps } from './log.ts';

describe('the sealer', () => {
  const test = eachApp();
  const ours = () => test.caller.organizationId;
  let sealer: Sealer;
  let isPressing: boolean;

  beforeEach(() => {
    isPressing = false;
    sealer = createSealer(test.app, () => isPressing);
    sealer.start();
  });
  afterEach(() => sealer.stop());

  const steps = (count: number) =>
    test.app.store.write((trx) =>
      recordSteps(
        test.app,
        trx,
        ours(),
        Array.from({ length: count }, (_, at) => `msg_${at}`),
      ),
    );
  const sealedCount = async () => (await findTree(test.app.store.db, ours()))?.size ?? 0;
  const storedCount = async () => (await leafTexts(test.app, ours())).length;

  /** Lets a pass that the clock began end. */
  async function passed(ms: number): Promise<void> {
    await test.clock.advance(ms);
    await sealer.sweep();
  }

  it('seals a few events after ten seconds', async () => {
    await steps(3);
    await test.clock.advance(9_999);
    expect(await sealedCount()).toBe(0);
    await test.clock.advance(1);
    await expect.poll(sealedCount).toBe(await storedCount());
  });

  it('seals many events after a second', async () => {
    await steps(2_048);
    await test.clock.advance(999);
    expect(await sealedCount()).toBe(0);
    await test.clock.advance(1);
    await expect.poll(sealedCount).toBe(await storedCount());
  });

  it('yields to a burst of mail, for a minute at most', async () => {
    isPressing = true;
    await steps(2_048);
    await test.clock.advance(59_000);
    expect(await sealedCount()).toBe(0);
    await test.clock.advance(2_000);
    await expect.poll(sealedCount).toBe(await storedCount());
  });

  it('seals as soon as a burst of mail is over', async () => {
    isPressing = true;
    await steps(2_048);
    await test.clock.advance(5_000);
    isPressing = false;
    await test.clock.advance(1_000);
    await expect.poll(sealedCount).toBe(await storedCount());
  });

  it('seals an event that was recorded before a pass and committed after it', async () => {
    await steps(2);
    const held = await heldWrite(test.app, (trx) =>
      recordSteps(test.app, trx, ours(), ['msg_held']),
    );
    await test.clock.advance(10_000);
    await held.commit();
    await test.clock.advance(10_000);
    await expect.poll(sealedCount).toBe(await storedCount());
  });

  it('has no timer once nothing is left', async () => {
    await steps(2);
    await test.clock.advance(10_000);
    await expect.poll(sealedCount).toBe(await storedCount());
    await test.clock.advance(20_000);
    expect(test.clock.nextTimerAt()).toBeUndefined();
  });

  it('finds the events of another process at a sweep', async () => {
    const another = await test.another();
    await another.store.write((trx) => recordSteps(another, trx, ours(), ['msg_other']));
    await passed(20_000);
    expect(await sealedCount()).toBe(await storedCount());
  });

  it('seals nothing more after its stop', async () => {
    await steps(3);
    await sealer.stop();
    await test.clock.advance(60_000);
    expect(await sealedCount()).toBe(0);
  });

  it('continues after an error', async () => {
    const { store } = test.app;
    const { write } = store;
    await steps(3);
    store.write = async () => {
      throw new Error('the disk is full');
    };
    await test.clock.advance(10_000);
    store.write = write;
    await steps(1);
    await test.clock.advance(10_000);
    await expect.poll(sealedCount).toBe(await storedCount());
  });
});
