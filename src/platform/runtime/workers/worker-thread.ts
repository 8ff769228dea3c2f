// A worker thread from start to end. All threads are started here, so that messages, heap limits,
// the end, and the time for which a thread keeps the process alive follow the same rules.
import { on } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Node arguments for our workers: only the hook of an installed package (bin/strip-types.js). The
 * flags of the process are left out, because they would set the memory limits.
 */
const workerArguments: readonly string[] = process.execArgv.filter((one) =>
  one.startsWith('--import='),
);

/**
 * Returns the environment of a worker. NODE_COMPILE_CACHE gives the thread the cache of compiled
 * sources of the process. Without it, the thread would compile all sources again.
 */
function workerEnvironment(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  return folder ? { ...process.env, NODE_COMPILE_CACHE: dirname(folder) } : process.env;
}

export interface WorkerThreadOptions<Report> {
  script: URL;
  /** Name of the thread in profiles and debuggers. */
  name: string;
  /** Heap limit in MB. A thread that needs more ends, but not the daemon. */
  heapMb?: number;
  youngMb?: number;
  /** Data that the thread finds as `workerData`. */
  data?: unknown;
  onReport?(report: Report): void;
  /** Called once, when the thread has ended. `error`: an error that the thread did not catch. */
  onEnd?(error: Error | null): void;
}

export class WorkerThread<Order, Report> {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();

  /** Starts a thread, which keeps the process alive until `rest`. */
  constructor(options: WorkerThreadOptions<Report>) {
    const { script, name, heapMb, youngMb, data, onReport, onEnd } = options;
    this.#worker = new Worker(script, {
      execArgv: [...workerArguments],
      env: workerEnvironment(),
      name,
      resourceLimits: {
        ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
        ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
      },
      workerData: data,
    });
    let uncaught: Error | null = null;
    if (onReport) this.#worker.on('message', (report: Report) => onReport(report));
    this.#worker.on('error', (error: Error) => {
      uncaught = error;
    });
    this.#worker.once('exit', () => {
      this.#ended.resolve();
      onEnd?.(uncaught);
    });
  }

  /** Resolves when the thread has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Sends an order. Buffers in `moved` are transferred instead of copied. */
  order(order: Order, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, moved);
  }

  /** Yields the reports from now until the thread ends. Throws an uncaught error of the thread. */
  reports(): AsyncIterable<Report> {
    const heard = on(this.#worker, 'message', { close: ['exit'] }) as AsyncIterable<[Report]>;
    return reportsOf(heard);
  }

  /** Makes the thread keep the process alive. */
  hold(): void {
    this.#worker.ref();
  }

  /** Lets the process end although the thread runs. */
  rest(): void {
    this.#worker.unref();
  }

  /** Ends the thread at once. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

async function* reportsOf<Report>(heard: AsyncIterable<[Report]>): AsyncGenerator<Report> {
  for await (const [report] of heard) yield report;
}
