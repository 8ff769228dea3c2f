// From a message's parts to signed bytes. Whoever sends a message composes it, and signs with Ed25519 there
// and then. RSA takes ten times as long: few at once are signed on libuv's threads, many by workers,
// in batches, which keeps libuv's few threads free for the sync of the store's log, which stood behind
// hundreds of signatures of 0.3 ms each (test/bench/signing.ts).
import { availableParallelism } from 'node:os';
import { compose } from './compose.ts';
import { ComposeThread, type PendingMessage } from './compose-thread.ts';
import type { ComposeRequest } from './input.ts';
import { type SignedMessage, signMessage } from './sign.ts';
import { signHere } from './sign-text.ts';

/** From so many that wait together a batch is worth the way to a worker. */
const worthBatch = 4;
const largestBatch = 32;
/** Characters of text and HTML above which no worker is asked: the copy costs as much. */
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
  const { attachments, text, html } = input;
  const isSmall =
    attachments.length === 0 && (text?.length ?? 0) + (html?.length ?? 0) <= largestText;
  return isSmall && keys.some(({ algorithm }) => algorithm === 'rsa-sha256');
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
