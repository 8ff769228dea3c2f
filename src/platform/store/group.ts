// Group commit for a kind of work: requests that arrive before a transaction begins share the
// transaction. The work gets the whole batch, which saves round trips to a distant server. Reads in
// a turn of the event loop share a batch in the same way.
import { CapacityError } from '../errors.ts';
import { type JoiningWrite, joiningWrite, withoutJoining } from './changes/each-write.ts';
import type { Db, Durability, Store } from './db.ts';

interface Waiting<Item, Result> {
  item: Item;
  /** Joining write of the item's caller (each-write.ts). */
  join?: JoiningWrite | undefined;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that adds an item to the next batch and resolves with the item's result after
 * the durable commit. If a batch fails by a fault that an item may have caused, each item is tried
 * again alone, so that only the faulty item fails.
 */
export function groupWrites<Item, Result>(
  store: Store,
  mostPerBatch: number,
  work: (trx: Db, items: Item[]) => Promise<Result[]>,
  durability: Durability = 'now',
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  /**
   * Whether a transaction is queued. It takes waiting items, up to `mostPerBatch`, when it begins.
   */
  let isOrdered = false;
  let isUnderWay = false;

  const take = (): Waiting<Item, Result>[] => {
    const batch = waiting.splice(0, mostPerBatch);
    isOrdered = false;
    if (waiting.length > 0) order();
    return batch;
  };
  const run = async (taken: () => Waiting<Item, Result>[]): Promise<void> => {
    let batch: Waiting<Item, Result>[] | undefined;
    const write = async (trx: Db) => {
      // If the transaction runs again, it keeps the same batch.
      batch ??= taken();
      const results = await work(
        trx,
        batch.map(({ item }) => item),
      );
      for (const { join } of batch) if (join) await join(trx);
      return results;
    };
    // The joining write of a single caller must not apply to the whole batch.
    const results = await withoutJoining(() => store.write(write, durability)).catch(
      (error: unknown) => ({ error }),
    );
    batch ??= taken();
    if (!('error' in results)) {
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      return;
    }
    const isBlameless = results.error instanceof CapacityError;
    if (batch.length === 1 || isBlameless) for (const { reject } of batch) reject(results.error);
    else for (const one of batch) await run(() => [one]);
  };
  const order = () => {
    // On PostgreSQL only a transaction at a time: several would be smaller, and would wait for the
    // counters that all of them change. SQLite has a single writer, so the next transaction may
    // already wait for it.
    if (store.kind === 'postgres' && isUnderWay) return;
    isOrdered = true;
    isUnderWay = true;
    void run(take).then(() => {
      isUnderWay = false;
      if (waiting.length > 0 && !isOrdered) order();
    });
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, join: joiningWrite(), resolve, reject });
      if (!isOrdered) order();
    });
}

/**
 * Returns a function that adds an item to the next batch of a read, which needs no transaction. The
 * batch is read after the event loop has handled pending input. Batches are cheaper because after a
 * commit each statement of a reading connection reads pages again: 15 µs for a row. If a batch
 * fails, all items fail.
 */
export function groupReads<Item, Result>(
  mostPerBatch: number,
  read: (items: readonly Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  const run = async (): Promise<void> => {
    const batch = waiting.splice(0, mostPerBatch);
    if (waiting.length > 0) setImmediate(() => void run());
    try {
      const results = await read(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(() => void run());
    });
}
