// The thread of checkpointer.ts. On each order it copies pages from the log to the database file
// over a separate connection, and reports progress.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

export type CheckpointOrder = 'checkpoint' | 'empty' | 'close';

/** Result of `pragma wal_checkpoint`, in pages. */
export interface CheckpointState {
  log: number;
  checkpointed: number;
}

const database = new Database((workerData as { file: string }).file, { fileMustExist: true });
const checkpoint = database.prepare<[], CheckpointState>('pragma wal_checkpoint(PASSIVE)');

const empty = database.prepare<[], CheckpointState>('pragma wal_checkpoint(TRUNCATE)');

parentPort?.on('message', (order: CheckpointOrder) => {
  if (order === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  let state: CheckpointState | undefined;
  try {
    state = checkpoint.get();
    // TRUNCATE blocks the writer only briefly, because few pages remain.
    if (order === 'empty') state = empty.get();
  } catch {
    // The disk is full or a lock is taken: the pages stay in the log, and the next order tries
    // again.
  }
  parentPort?.postMessage(state ?? { log: 0, checkpointed: 0 });
});
