// Group commit for one kind of work: requests that arrive while a transaction runs share the next
// one. The work gets the whole batch, so that a server far away is asked in few round trips.
import { CapacityError } from '../errors.ts';
import type { Db, Durability, Store } from './db.ts';

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that adds one item to the next batch and resolves with its result after the
 * durable commit. When a whole batch fails for a fault that one item may have caused, each item is
 * tried again alone, so that it fails alone.
 */
export function groupWrites<Item, Result>(
  store: Store,
  mostPerBatch: number,
  work: (trx: Db, items: Item[]) => Promise<Result[]>,
  durability: Durability = 'now',
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let scheduled = false;

  const runBatch = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const items = batch.map(({ item }) => item);
      const results = await store.write((trx) => work(trx, items), durability);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      const blameless = error instanceof CapacityError;
      if (batch.length === 1 || blameless) for (const { reject } of batch) reject(error);
      else for (const one of batch) await runBatch([one]);
    }
  };
  const flush = () => {
    scheduled = false;
    while (waiting.length > 0) void runBatch(waiting.splice(0, mostPerBatch));
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
}
