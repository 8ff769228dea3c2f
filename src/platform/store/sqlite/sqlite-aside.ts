// A connection of aside.ts on SQLite: a thread that reads. A statement that checks the time
// (in-time.ts) ends at the deadline. Without such checks a statement runs to the end, and the
// thread is dropped then.
import type { CompiledQuery, QueryResult } from 'kysely';
import { WorkerThread } from '../../runtime/workers/worker-thread.ts';
import { type AsidePlace, OverdueError } from '../aside.ts';
import { kyselyOn, noStreaming } from '../dialect.ts';
import { inTimeFunction, setChecking } from '../in-time.ts';
import type { AsideAnswer, AsideQuery, AsideWorkerData } from './aside-worker.ts';

interface Asked {
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

/**
 * Starts a thread that reads the store in `file`; resolves when the thread is ready. `errorOf`
 * converts errors of SQLite to errors of the store.
 */
export async function openSqliteAside(
  file: string,
  busyMs: number,
  mostMs: number,
  errorOf: (error: unknown) => unknown,
): Promise<AsidePlace> {
  const started = Promise.withResolvers<void>();
  const asked = new Map<number, Asked>();
  let lastId = 0;
  let isBroken = false;
  const fail = (error: Error) => {
    isBroken = true;
    started.reject(error);
    for (const one of asked.values()) one.reject(error);
    asked.clear();
  };
  const worker: WorkerThread<AsideQuery, AsideAnswer> = new WorkerThread({
    script: new URL('./aside-worker.ts', import.meta.url),
    name: 'aside',
    heapMb: 64,
    youngMb: 8,
    data: { file, busyMs, inTimeFunction, mostMs } satisfies AsideWorkerData,
    onReport(answer) {
      if (answer === 'ready') return started.resolve();
      const one = asked.get(answer.id);
      asked.delete(answer.id);
      if (asked.size === 0) worker.rest();
      if ('rows' in answer) one?.resolve(answer.rows);
      else if ('isOverdue' in answer) one?.reject(new OverdueError());
      else one?.reject(Object.assign(new Error(answer.error.message), answer.error));
    },
    onEnd: (error) => fail(error ?? new Error('the thread of searches ended')),
  });

  await started.promise.catch((error: unknown) => {
    throw errorOf(error);
  });
  // The thread must not keep a command alive that has the answer.
  worker.rest();

  async function executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (isBroken) throw new OverdueError();
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
    lastId += 1;
    asked.set(lastId, { resolve, reject });
    worker.hold();
    worker.order({ id: lastId, sql, parameters });
    try {
      return { rows: (await promise) as R[] };
    } catch (error) {
      throw error instanceof OverdueError ? error : errorOf(error);
    }
  }

  const end = () => worker.end();
  const db = kyselyOn('sqlite', { executeQuery, streamQuery: noStreaming });
  setChecking(db);
  return {
    db,
    async finish(isOverdue) {
      if (isOverdue) {
        // After the deadline, a read of several statements must not start the next statement.
        fail(new OverdueError());
        await end();
      }
      return !isOverdue && !isBroken;
    },
    end,
  };
}
