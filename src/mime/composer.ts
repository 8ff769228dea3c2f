// From a message's parts to signed bytes. Whoever sends a message composes it, and signs with Ed25519 there
// and then. RSA takes ten times as long: few at once are signed on libuv's threads, many by workers,
// in batches, which keeps libuv's few threads free for the sync of the store's log, which stood behind
// hundreds of signatures of 0.3 ms each (test/bench/signing.ts).

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ComposeOrder, ComposeReply } from './compose-worker.ts';
import { arrived, KeyNumbers } from './handover.ts';
import type { Composed, ComposeInput, ComposeRequest, RawInput } from './input.ts';
import { composeLean } from './lean.ts';
import { composeRaw } from './raw-mail.ts';
import { type SignedMessage, signHere, signMessage } from './sign.ts';

/**
 * Composes a message (RFC 5322): no store, no clock, no randomness, so that the same input gives the same
 * bytes to a retry and to a raw download. Without attachments the result is
 * there at once, with attachments it is a promise. Throws ComposeError (or rejects with it) where
 * a value that is bound for the header holds CR, LF, NUL or is otherwise unfit for one.
 */
export function compose(input: ComposeInput | RawInput): Composed | Promise<Composed> {
  if ('raw' in input) return composeRaw(input);
  return input.attachments.length === 0 ? composeLean(input) : composeWithAttachments(input);
}

/** Few threads ever need nodemailer, which takes 40 ms to load. */
async function composeWithAttachments(input: ComposeInput): Promise<Composed> {
  const { composeWithMailComposer } = await import('./mail-composer.ts');
  return composeWithMailComposer(input);
}

const workerLimits = { maxOldGenerationSizeMb: 64 };

/** What is to be made; null is what it gets where the worker could not, or is gone. */
interface PendingMessage extends ComposeRequest {
  made(message: SignedMessage | null): void;
}

/** One worker: gets batches, each key once under a number, and gives back the bytes. */
class ComposeThread {
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

/** From so many that wait together a batch is worth the way to a worker. */
const worthBatch = 4;
const largestBatch = 32;
/** Characters of text and HTML, or bytes of raw mail, above which no worker is asked: the copy costs as much. */
const largestText = 65_536;
/** One worker has more to do than the event loop; more than two would take its core. */
const mostThreads = Math.min(2, availableParallelism());
/** A worker with so many batches under way is behind. */
const worthThread = 5;

/** Without workers. Rejects with ComposeError, or where a key does not fit its algorithm. */
export async function composeHere(request: ComposeRequest): Promise<SignedMessage> {
  const { input, keys, timestampSeconds } = request;
  return signMessage(await compose(input), keys, timestampSeconds, signHere);
}

/** Whether many of its kind are better composed by workers. */
export function isForWorkers({ input, keys }: ComposeRequest): boolean {
  return isSmall(input) && keys.some(({ algorithm }) => algorithm === 'rsa-sha256');
}

function isSmall(input: ComposeInput | RawInput): boolean {
  if ('raw' in input) return input.raw.length <= largestText;
  const { attachments, text, html } = input;
  return attachments.length === 0 && (text?.length ?? 0) + (html?.length ?? 0) <= largestText;
}

/** Composes and signs for one daemon. */
export class Composer {
  #waiting: PendingMessage[] = [];
  #threads: ComposeThread[] = [];
  #isClosed = false;

  /** As `composeHere`, wherever that is cheapest. */
  compose(request: ComposeRequest): Promise<SignedMessage> {
    if (!isForWorkers(request)) return composeHere(request);
    return new Promise((resolve) => {
      // What a worker could not is tried here, where the fault has a name.
      const made = (message: SignedMessage | null) => resolve(message ?? composeHere(request));
      this.#waiting.push({ ...request, made });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Ends the workers; what they had not done is done here. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #flush(): void {
    const pending = this.#waiting;
    this.#waiting = [];
    if (pending.length < worthBatch || this.#isClosed) {
      for (const one of pending) one.made(null);
      return;
    }
    for (let at = 0; at < pending.length; at += largestBatch) {
      this.#thread().hand(pending.slice(at, at + largestBatch));
    }
  }

  /** The first that is not behind, or another. */
  #thread(): ComposeThread {
    const inTime = this.#threads.find(({ load }) => load < worthThread);
    if (inTime) return inTime;
    if (this.#threads.length < mostThreads) {
      this.#threads.push(
        new ComposeThread((gone) => {
          this.#threads = this.#threads.filter((one) => one !== gone);
        }),
      );
    }
    return this.#threads.reduce((a, b) => (b.load < a.load ? b : a));
  }
}
