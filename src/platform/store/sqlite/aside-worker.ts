// The thread of sqlite-aside.ts: runs statements in sequence on a separate reading connection.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

export interface AsideQuery {
  id: number;
  sql: string;
  parameters: readonly unknown[];
}

/** Answers of the thread. `ready` is sent once, first. */
export type AsideAnswer =
  | 'ready'
  | { id: number; rows: unknown[] }
  | { id: number; isOverdue: true }
  | { id: number; error: { code: string; message: string } };

export interface AsideWorkerData {
  file: string;
  busyMs: number;
  /** Name of the SQL function that ends a statement after `mostMs` (in-time.ts). */
  inTimeFunction: string;
  mostMs: number;
}

/** Rows between two checks of the clock, because a check costs as much as many rows. */
const rowsPerLook = 64;

const { file, busyMs, inTimeFunction, mostMs } = workerData as AsideWorkerData;
const database = new Database(file, { readonly: true, fileMustExist: true, timeout: busyMs });
database.pragma('temp_store = MEMORY');

let startedAt = 0;
let rows = 0;
let isOverdue = false;
database.function(inTimeFunction, () => {
  rows += 1;
  if (rows % rowsPerLook !== 0) return 1;
  isOverdue = performance.now() - startedAt > mostMs;
  if (isOverdue) throw new Error('The read is overdue');
  return 1;
});

function answer({ id, sql, parameters }: AsideQuery): Exclude<AsideAnswer, 'ready'> {
  startedAt = performance.now();
  isOverdue = false;
  try {
    return { id, rows: database.prepare(sql).all(...parameters) };
  } catch (error) {
    if (isOverdue) return { id, isOverdue };
    const { code = '', message } = error as { code?: string; message: string };
    return { id, error: { code, message } };
  }
}

parentPort?.on('message', (query: AsideQuery) => parentPort?.postMessage(answer(query)));
parentPort?.postMessage('ready' satisfies AsideAnswer);
