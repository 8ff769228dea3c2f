// Where signatures are made. Few at once: on libuv's threads (the callback form of `crypto.sign`).
// Many at once: by a worker, in batches. That takes half of the event loop's time per signature
// (test/bench/signing.ts) and keeps libuv's few threads free for the sync of the store's log, which
// stood behind hundreds of RSA signatures of 0.3 ms each.
import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { DkimAlgorithm } from '../../domains/dkim-key.ts';
import { toBeSigned } from './sign-input.ts';
import type { SignJob, SignOrder, SignReply } from './sign-worker.ts';

/** From so many that wait together a batch is worth the way to the worker. */
const worthBatch = 4;
const largestBatch = 32;
/** The worker forgets all keys when it has so many; those in use are sent again. */
const mostKeys = 2_000;
const workerLimits = { maxOldGenerationSizeMb: 64 };

const signOnThread = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign);

interface PendingSignature {
  key: KeyObject;
  algorithm: DkimAlgorithm;
  text: string;
  resolve(signature: string | Promise<string>): void;
}

async function signHere({ algorithm, text, key }: PendingSignature): Promise<string> {
  const { digest, bytes } = toBeSigned(algorithm, text);
  return (await signOnThread(digest, bytes, key)).toString('base64');
}

export class SignBatches {
  #waiting: PendingSignature[] = [];
  #worker: Worker | null = null;
  #isClosed = false;
  #numbers = new Map<KeyObject, number>();
  readonly #underWay = new Map<number, readonly PendingSignature[]>();
  #batches = 0;

  /** The signature of `text` in base64; rejects where the key cannot. */
  sign(algorithm: DkimAlgorithm, text: string, key: KeyObject): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.push({ algorithm, text, key, resolve });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Ends the worker; what it had not done is signed here. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#abandon();
    await worker?.terminate();
  }

  #flush(): void {
    const pending = this.#waiting;
    this.#waiting = [];
    if (pending.length < worthBatch || this.#isClosed) {
      for (const one of pending) one.resolve(signHere(one));
      return;
    }
    for (let at = 0; at < pending.length; at += largestBatch) {
      this.#hand(pending.slice(at, at + largestBatch));
    }
  }

  #hand(pending: readonly PendingSignature[]): void {
    this.#worker ??= this.#start();
    const batch = this.#batches++;
    this.#underWay.set(batch, pending);
    const jobs = this.#numbered(this.#worker, pending);
    this.#worker.ref();
    this.#worker.postMessage({ kind: 'sign', batch, jobs } satisfies SignOrder);
  }

  /** The jobs with the numbers of their keys, after the keys that the worker does not know yet. */
  #numbered(worker: Worker, pending: readonly PendingSignature[]): SignJob[] {
    if (this.#numbers.size > mostKeys) {
      this.#numbers = new Map();
      worker.postMessage({ kind: 'forget' } satisfies SignOrder);
    }
    const unknown = new Map<number, KeyObject>();
    const jobs = pending.map(({ key, algorithm, text }) => {
      let number = this.#numbers.get(key);
      if (number === undefined) {
        number = this.#numbers.size;
        this.#numbers.set(key, number);
        unknown.set(number, key);
      }
      return { key: number, algorithm, text };
    });
    if (unknown.size > 0) {
      worker.postMessage({ kind: 'keys', keys: unknown } satisfies SignOrder);
    }
    return jobs;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./sign-worker.ts', import.meta.url), {
      execArgv: [],
      resourceLimits: workerLimits,
    });
    worker.on('message', ({ batch, signatures }: SignReply) => {
      const pending = this.#underWay.get(batch) ?? [];
      this.#underWay.delete(batch);
      if (this.#underWay.size === 0) worker.unref();
      for (const [index, one] of pending.entries()) {
        // What the worker could not is tried here, where the fault has a name.
        one.resolve(signatures[index] ?? signHere(one));
      }
    });
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (worker === this.#worker) this.#abandon();
    });
    return worker;
  }

  /** The worker is gone: the next batch starts another. */
  #abandon(): void {
    this.#worker = null;
    this.#numbers = new Map();
    const lost = [...this.#underWay.values()].flat();
    this.#underWay.clear();
    for (const one of lost) one.resolve(signHere(one));
  }
}
