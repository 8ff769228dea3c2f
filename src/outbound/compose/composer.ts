// From a message's parts to signed bytes. Few at once, large ones and those with attachments: here,
// signed on libuv's threads. Many at once: by a worker, in batches, which takes a tenth of a message's
// work off the event loop and keeps libuv's few threads free for the sync of the store's log, which
// stood behind hundreds of RSA signatures of 0.3 ms each (test/bench/signing.ts).
import type { KeyObject } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { SigningKey } from '../../domains/signing-keys.ts';
import { compose } from './compose.ts';
import type { ComposeJob, ComposeOrder, ComposeReply } from './compose-worker.ts';
import type { ComposeInput } from './input.ts';
import { type SignedMessage, signMessage } from './sign.ts';
import { signOnThread } from './sign-text.ts';

/** From so many that wait together a batch is worth the way to the worker. */
const worthBatch = 4;
const largestBatch = 32;
/** Characters of text and HTML above which a message is composed here: its copy costs as much. */
const largestText = 65_536;
/** The worker forgets all keys when it has so many; those in use are sent again. */
const mostKeys = 2_000;
const workerLimits = { maxOldGenerationSizeMb: 64 };

/** What is to be composed, and signed with these keys at this time. */
export interface ComposeRequest {
  input: ComposeInput;
  keys: readonly SigningKey[];
  timestampSeconds: number;
}

interface PendingMessage extends ComposeRequest {
  resolve(message: SignedMessage | Promise<SignedMessage>): void;
}

/** Rejects with ComposeError, or where a key does not fit its algorithm. */
export async function composeHere(request: ComposeRequest): Promise<SignedMessage> {
  const { input, keys, timestampSeconds } = request;
  return signMessage(await compose(input), keys, timestampSeconds, signOnThread);
}

function isForWorker({ attachments, text, html }: ComposeInput): boolean {
  return attachments.length === 0 && (text?.length ?? 0) + (html?.length ?? 0) <= largestText;
}

/** Composes and signs for one daemon. */
export class Composer {
  #waiting: PendingMessage[] = [];
  #worker: Worker | null = null;
  #isClosed = false;
  #numbers = new Map<KeyObject, number>();
  readonly #underWay = new Map<number, readonly PendingMessage[]>();
  #batches = 0;

  /** As `composeHere`, wherever that is cheapest. */
  compose(request: ComposeRequest): Promise<SignedMessage> {
    if (!isForWorker(request.input)) return composeHere(request);
    return new Promise((resolve) => {
      this.#waiting.push({ ...request, resolve });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Ends the worker; what it had not done is done here. */
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
      for (const one of pending) one.resolve(composeHere(one));
      return;
    }
    for (let at = 0; at < pending.length; at += largestBatch) {
      this.#hand(pending.slice(at, at + largestBatch));
    }
  }

  #hand(pending: readonly PendingMessage[]): void {
    this.#worker ??= this.#start();
    const batch = this.#batches++;
    this.#underWay.set(batch, pending);
    const jobs = this.#numbered(this.#worker, pending);
    this.#worker.ref();
    this.#worker.postMessage({ kind: 'compose', batch, jobs } satisfies ComposeOrder);
  }

  /** The jobs with the numbers of their keys, after the keys that the worker does not know yet. */
  #numbered(worker: Worker, pending: readonly PendingMessage[]): ComposeJob[] {
    if (this.#numbers.size > mostKeys) {
      this.#numbers = new Map();
      worker.postMessage({ kind: 'forget' } satisfies ComposeOrder);
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
      worker.postMessage({ kind: 'keys', keys: unknown } satisfies ComposeOrder);
    }
    return jobs;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./compose-worker.ts', import.meta.url), {
      execArgv: [],
      resourceLimits: workerLimits,
    });
    worker.on('message', ({ batch, bytes, messages }: ComposeReply) => {
      const pending = this.#underWay.get(batch) ?? [];
      this.#underWay.delete(batch);
      if (this.#underWay.size === 0) worker.unref();
      for (const [index, one] of pending.entries()) {
        const made = messages[index];
        // What the worker could not is tried here, where the fault has a name.
        one.resolve(
          made
            ? {
                data: [Buffer.from(bytes, made.start, made.end - made.start)],
                smtpUtf8: made.smtpUtf8,
                eightBit: made.eightBit,
              }
            : composeHere(one),
        );
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
    for (const one of lost) one.resolve(composeHere(one));
  }
}
