import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CapacityError } from '../../../src/platform/errors.ts';
import { LogSync } from '../../../src/platform/store/sqlite/log-sync.ts';

/** Syncs that the test ends itself. */
function heldSyncs() {
  const begun: { end: () => void; fail: (error: Error) => void }[] = [];
  const sync = () =>
    new Promise<void>((resolve, reject) => {
      begun.push({ end: resolve, fail: reject });
    });
  return { begun, sync };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('LogSync', () => {
  let dir: string;
  let file: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-log-'));
    file = join(dir, 'svc.db-wal');
    writeFileSync(file, 'frames');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('answers after the sync', async () => {
    const { begun, sync } = heldSyncs();
    const log = new LogSync(file, sync);
    let isDurable = false;
    const durable = log.now().then(() => {
      isDurable = true;
    });
    await until(() => begun.length === 1);
    expect(isDurable).toBe(false);
    begun[0]?.end();
    await durable;
    await log.close();
  });

  it('answers all earlier commits with one sync, and later ones with the next', async () => {
    const { begun, sync } = heldSyncs();
    const log = new LogSync(file, sync);
    const answered: string[] = [];
    const ask = (name: string) => log.now().then(() => answered.push(name));
    const all = [ask('first'), ask('second')];
    await until(() => begun.length === 1);
    all.push(ask('during'), ask('during too'));
    begun[0]?.end();
    await until(() => begun.length === 2);
    expect(answered).toEqual(['first', 'second']);
    begun[1]?.end();
    await Promise.all(all);
    expect(answered).toEqual(['first', 'second', 'during', 'during too']);
    expect(begun).toHaveLength(2);
    await log.close();
  });

  it('reports a failing disk to waiting writes, and tries again for the next', async () => {
    const { begun, sync } = heldSyncs();
    const log = new LogSync(file, sync);
    const refused = log.now();
    await until(() => begun.length === 1);
    begun[0]?.fail(Object.assign(new Error('i/o error'), { code: 'EIO' }));
    await expect(refused).rejects.toThrow(CapacityError);
    await expect(refused).rejects.toThrow('EIO');
    const next = log.now();
    await until(() => begun.length === 2);
    begun[1]?.end();
    await next;
    await log.close();
  });

  it('reports a missing log as trouble of the store', async () => {
    const log = new LogSync(join(dir, 'absent-wal'));
    await expect(log.now()).rejects.toThrow(CapacityError);
    await log.close();
  });
});
