// One worker of composer.ts: hands it batches, each key once under a number, and takes back the bytes.
import { Worker } from 'node:worker_threads';
import type { ComposeOrder, ComposeReply } from './compose-worker.ts';
import { arrived } from './handed-bytes.ts';
import type { ComposeRequest } from './input.ts';
import { KeyNumbers } from './key-numbers.ts';
import type { SignedMessage } from './sign.ts';

const workerLimits = { maxOldGenerationSizeMb: 64 };

/** What is to be made; null is what it gets where the worker could not, or is gone. */
export interface PendingMessage extends ComposeRequest {
  made(message: SignedMessage | null): void;
}

export class ComposeThread {
  readonly #worker: Worker;
  readonly #keys = new KeyNumbers((order) => this.#order(order));
  readonly #underWay = new Map<number, readonly PendingMessage[]>();
  #batches = 0;

  /** `onExit` is called when it can take no more, before what was under way is given back. */
  constructor(onExit: (thread: ComposeThread) => void) {
    this.#worker = new Worker(new URL('./compose-worker.ts', import.meta.url), {
      execArgv: [],
      name: 'composer',
      resourceLimits: workerLimits,
    });
    this.#worker.on('message', (reply: ComposeReply) => this.#take(reply));
    this.#worker.on('error', () => {});
    this.#worker.on('exit', () => {
      onExit(this);
      const lost = [...this.#underWay.values()].flat();
      this.#underWay.clear();
      for (const one of lost) one.made(null);
    });
  }

  /** Batches that it has not given back. */
  get load(): number {
    return this.#underWay.size;
  }

  hand(pending: readonly PendingMessage[]): void {
    const batch = this.#batches++;
    this.#underWay.set(batch, pending);
    this.#worker.ref();
    this.#keys.startOrder();
    const requests = pending.map((one) => this.#keys.numbered(one));
    this.#order({ kind: 'compose', batch, requests });
  }

  /** Ends it; what is under way is given back. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #order(order: ComposeOrder): void {
    this.#worker.postMessage(order);
  }

  #take({ batch, messages }: ComposeReply): void {
    const pending = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    if (this.#underWay.size === 0) this.#worker.unref();
    for (const [index, one] of pending.entries()) {
      const made = messages[index];
      one.made(made ? arrived(made) : null);
    }
  }
}
