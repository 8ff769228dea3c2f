// A worker thread from start to end. The only module that starts a thread: orders and reports,
// limits of the heap, the wait for the end and the hold on the process are the same for all
// threads.
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Arguments of Node for our workers: no flags of the process, as they shape its memory, but the
 * hook of an installed package (bin/strip-types.js).
 */
const workerArguments: readonly string[] = process.execArgv.filter((one) =>
  one.startsWith('--import='),
);

export interface WorkerThreadOptions<Report> {
  script: URL;
  /** Name in profiles and debuggers. */
  name: string;
  /** Limits of the heap in MB; a thread that needs more ends, not the daemon. */
  heapMb?: number;
  youngMb?: number;
  /** `workerData` of the thread. */
  data?: unknown;
  onReport?(report: Report): void;
  /** Called once, when the thread takes no more orders. `error`: uncaught in the thread. */
  onEnd?(error: Error | null): void;
}

export class WorkerThread<Order, Report> {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();

  /** Starts a thread that keeps the process alive until `rest`. */
  constructor(options: WorkerThreadOptions<Report>) {
    const { script, name, heapMb, youngMb, data, onReport, onEnd } = options;
    this.#worker = new Worker(script, {
      execArgv: [...workerArguments],
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

  /** Sends an order. Buffers of `moved` go to the thread instead of copies. */
  order(order: Order, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, moved);
  }

  /** Yields the reports from now until the thread ends. Throws the uncaught error of the thread. */
  reports(): AsyncIterable<Report> {
    const heard = on(this.#worker, 'message', { close: ['exit'] }) as AsyncIterable<[Report]>;
    return reportsOf(heard);
  }

  /** Keeps the process alive. */
  hold(): void {
    this.#worker.ref();
  }

  /** Lets the process end while the thread has nothing to do. */
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
