// A statement that joins each write of a piece of work, in the transaction of the write. So a mark
// beside the work is stored if and only if the work is.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from '../db.ts';

/** Runs in a transaction, after the work of the transaction. An error undoes the transaction. */
export type JoiningWrite = (trx: Db) => Promise<void>;

const joining = new AsyncLocalStorage<JoiningWrite | undefined>();

/** Runs `work`; `join` runs in each transaction that `work` writes. */
export function joinEachWrite<T>(join: JoiningWrite, work: () => T): T {
  return joining.run(join, work);
}

/** Runs `work` without the joining write of the caller, for writes that only prepare. */
export function withoutJoining<T>(work: () => T): T {
  return joining.run(undefined, work);
}

/** Returns the joining write of the caller. */
export function joiningWrite(): JoiningWrite | undefined {
  return joining.getStore();
}
