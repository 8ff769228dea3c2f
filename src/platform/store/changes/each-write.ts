// A statement that joins each write transaction of an operation, for example to mark an idempotency
// key. The mark is then stored if and only if the work is.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../db.ts';

/** Runs at the end of a transaction. An error rolls the transaction back. */
export type JoiningWrite = (trx: Db) => Promise<void>;

const joining = new AsyncLocalStorage<JoiningWrite | undefined>();

/** Runs `work`. `join` runs in each write transaction of `work`. */
export function joinEachWrite<T>(join: JoiningWrite, work: () => T): T {
  return joining.run(join, work);
}

/**
 * Runs `work` without the caller's joining write, for writes that are no effect of the operation.
 */
export function withoutJoining<T>(work: () => T): T {
  return joining.run(undefined, work);
}

/** Returns the joining write of the caller; undefined outside of `joinEachWrite`. */
export function joiningWrite(): JoiningWrite | undefined {
  return joining.getStore();
}
