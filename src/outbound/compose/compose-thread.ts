// One worker of composer.ts: hands it batches, each key once under a number, and takes back the bytes.
import type { KeyObject } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { ComposeJob, ComposeOrder, ComposeReply } from './compose-worker.ts';
import type { ComposeRequest } from './input.ts';
import type { SignedMessage } from './sign.ts';

/** The worker forgets all keys when it has so many; those in use are sent again. */
const mostKeys = 2_000;
const workerLimits = { maxOldGenerationSizeMb: 64 };

/** What is to be made; null is what it gets where the worker could not, or is gone. */
export interface PendingMessage extends ComposeRequest {
  made(message: SignedMessage | null): void;
}

export class ComposeThread {
  readonly #worker: Worker;
  #numbers = new Map<KeyObject, number>();
  readonly #underWay = new Map<number, readonly PendingMessage[]>();
  #batches = 0;

  /** `onExit` is called when it can take no more, before what was under way is given back. */
  constructor(onExit: (thread: ComposeThread) => void) {
    this.#worker = new Worker(new URL('./compose-worker.ts', import.meta.url), {
      execArgv: [],
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
    const jobs = this.#numbered(pending);
    this.#worker.ref();
    this.#worker.postMessage({ kind: 'compose', batch, jobs } satisfies ComposeOrder);
  }

  /** Ends it; what is under way is given back. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  /** The jobs with the numbers of their keys, after the keys that the worker does not know yet. */
  #numbered(pending: readonly PendingMessage[]): ComposeJob[] {
    if (this.#numbers.size > mostKeys) {
      this.#numbers = new Map();
      this.#worker.postMessage({ kind: 'forget' } satisfies ComposeOrder);
    }
    const unknown = new Map<number, KeyObject>();
    const numberOf = (key: KeyObject): number => {
      const known = this.#numbers.get(key);
      if (known !== undefined) return known;
      const number = this.#numbers.size;
      this.#numbers.set(key, number);
      unknown.set(number, key);
      return number;
    };
    const jobs = pending.map(({ input, keys, timestampSeconds }) => ({
      input,
      keys: keys.map(({ domain, selector, algorithm, privateKey }) => ({
        domain,
        selector,
        algorithm,
        number: numberOf(privateKey),
      })),
      timestampSeconds,
    }));
    if (unknown.size > 0) {
      this.#worker.postMessage({ kind: 'keys', keys: unknown } satisfies ComposeOrder);
    }
    return jobs;
  }

  #take({ batch, bytes, messages }: ComposeReply): void {
    const pending = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    if (this.#underWay.size === 0) this.#worker.unref();
    for (const [index, one] of pending.entries()) {
      const made = messages[index];
      if (!made) {
        one.made(null);
        continue;
      }
      const { start, end, ...needs } = made;
      one.made({ data: [Buffer.from(bytes, start, end - start)], ...needs });
    }
  }
}
