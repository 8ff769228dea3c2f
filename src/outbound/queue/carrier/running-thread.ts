// A thread of the carrier (carrier-worker.ts) from start to end, as the main thread sees it: the
// thread accepts orders and sends reports.
//
//   state   | event                                     | next
//   --------+-------------------------------------------+--------------------------------------------
//   runs    | an order                                  | runs; until the thread is up, orders queue
//   runs    | an uncaught error                         | gone; the error is logged
//   runs    | `close`                                   | closing: ends all SMTP sessions and reports
//   closing | the report `closed`, or 5 s have passed   | terminated, then gone
//   any     | the thread exits                          | gone: `onExit` is called
//
// The thread keeps the process alive from `carry` until `rest`, and while it is closing.
import type { App } from '../../../core/app.ts';
import type { SignedMessage } from '../../../mail/mime/dkim/sign.ts';
import { handedOver, KeyNumbers } from '../../../mail/mime/handover.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { WorkerThread } from '../../../platform/runtime/workers/worker-thread.ts';
import type {
  CarrierOrder,
  CarrierReport,
  CarrierSettings,
  NumberedEnvelope,
  SentMailing,
} from './carrier-worker.ts';

/** Time after which a closing thread is cut. */
const closeMs = 5_000;
/**
 * Young-generation limit. Objects live shorter here than on the main thread, so half the space is
 * enough (run.js sets the limit of the main thread).
 */
const youngMb = 48;
const failed = 'the thread that carries mail failed: the next mail starts another';

/** A message for the thread to compose, or a message composed already. */
interface NumberedMailing {
  message: ComposeRequest | SignedMessage;
  envelopes: readonly NumberedEnvelope[];
}

export class RunningThread {
  readonly #worker: WorkerThread<CarrierOrder, CarrierReport>;
  readonly #keys = new KeyNumbers((order) => this.order(order));
  readonly #hasEnded = Promise.withResolvers<void>();

  constructor(
    settings: CarrierSettings,
    log: App['log'],
    heard: { onReport(report: CarrierReport): void; onExit(): void },
  ) {
    this.#worker = new WorkerThread({
      script: new URL('./carrier-worker.ts', import.meta.url),
      name: 'carrier',
      youngMb,
      data: settings,
      onReport: (report) => {
        if (report.kind === 'closed') this.#hasEnded.resolve();
        else heard.onReport(report);
      },
      onEnd: (error) => {
        if (error) log.error({ err: error }, failed);
        heard.onExit();
        this.#hasEnded.resolve();
      },
    });
  }

  order(order: CarrierOrder, handed: ArrayBuffer[] = []): void {
    this.#worker.order(order, handed);
  }

  /** Sends the thread mailings that arrived together, in a single order. */
  carry(given: readonly NumberedMailing[]): void {
    this.#worker.hold();
    this.#keys.startOrder();
    const handed: ArrayBuffer[] = [];
    const mailings = given.map(({ message, envelopes }): SentMailing => {
      if (!('data' in message)) return { message: this.#keys.numbered(message), envelopes };
      handed.push(...handedOver(message));
      return { message, envelopes };
    });
    this.order({ kind: 'carry', mailings }, handed);
  }

  /** Marks the thread as idle, so that it no longer keeps the process alive. */
  rest(): void {
    this.#worker.rest();
  }

  /** Has the thread end and report the mail under way, and ends it after 5 s at the latest. */
  async close(clock: Clock): Promise<void> {
    // While it closes, this thread may be the only reason for the process to stay alive.
    this.#worker.hold();
    const cancel = clock.after(closeMs, this.#hasEnded.resolve);
    this.order({ kind: 'close' });
    await this.#hasEnded.promise;
    cancel();
    await this.#worker.end();
  }
}
