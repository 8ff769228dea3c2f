// The thread of sqlite-aside.ts: runs statements on a reading connection of its own, one after the other.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { yieldToOtherThreads } from '../runtime/background-thread.ts';

export interface AsideQuery {
  id: number;
  sql: string;
  parameters: readonly unknown[];
}

/** `ready` comes once, first. */
export type AsideAnswer =
  | 'ready'
  | { id: number; rows: unknown[] }
  | { id: number; error: { code: string; message: string } };

yieldToOtherThreads();
const { file, busyMs } = workerData as { file: string; busyMs: number };
const database = new Database(file, { readonly: true, fileMustExist: true, timeout: busyMs });
database.pragma('temp_store = MEMORY');

function answer({ id, sql, parameters }: AsideQuery): Exclude<AsideAnswer, 'ready'> {
  try {
    return { id, rows: database.prepare(sql).all(...parameters) };
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    return { id, error: { code, message } };
  }
}

parentPort?.on('message', (query: AsideQuery) => parentPort?.postMessage(answer(query)));
parentPort?.postMessage('ready' satisfies AsideAnswer);
