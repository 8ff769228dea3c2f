// Composes the parts of a message and signs the result. Ed25519 signatures are made on the calling
// thread. RSA takes ten times as long: a few messages are signed on libuv's threads, many by
// workers, in batches. So the few libuv threads stay free for the sync of the store's log, which
// otherwise waited for hundreds of signatures of 0.3 ms each (docs/making/decisions.md).

import { isAscii } from 'node:buffer';
import { availableParallelism } from 'node:os';
import { WorkerThread } from '../../platform/runtime/workers/worker-thread.ts';
import type { ComposeOrder, ComposeReply } from './compose-worker.ts';
import { type SignedMessage, signHere, signMessage } from './dkim/sign.ts';
import { arrived, KeyNumbers } from './handover.ts';
import type { Composed, ComposeInput, ComposeRequest, RawInput } from './input.ts';
import { composeLean } from './lean.ts';
import { composeRaw } from './raw-mail.ts';
import { toSevenBit } from './seven-bit.ts';

/**
 * Composes a message (RFC 5322) without store, clock or randomness, so that a retry and a raw
 * download get the same bytes. Returns a promise only for a message with attachments. Throws
 * ComposeError (or rejects with it) if a value for the header holds CR, LF, NUL or is otherwise
 * unfit.
 */
export function compose(input: ComposeInput | RawInput): Composed | Promise<Composed> {
  if ('raw' in input) return composeRaw(input);
  return input.attachments.length === 0 ? composeLean(input) : composeWithAttachments(input);
}

/** Loads nodemailer on first use: it takes 40 ms, and few threads need it. */
async function composeWithAttachments(input: ComposeInput): Promise<Composed> {
  const { composeWithMailComposer } = await import('./mail-composer.ts');
  return composeWithMailComposer(input);
}

const heapMb = 64;

/** A message queued for a worker. `made` gets null if no worker has composed the message. */
interface PendingMessage extends ComposeRequest {
  made(message: SignedMessage | null): void;
}

/** A worker that composes batches of messages. Each key is sent once, under a number. */
class ComposeThread {
  readonly #worker: WorkerThread<ComposeOrder, ComposeReply>;
  readonly #keys = new KeyNumbers((order) => this.#worker.order(order));
  readonly #underWay = new Map<number, readonly PendingMessage[]>();
  #batches = 0;

  /** Calls `onExit` when the worker has ended, before unfinished messages get `made(null)`. */
  constructor(onExit: (thread: ComposeThread) => void) {
    this.#worker = new WorkerThread({
      script: new URL('./compose-worker.ts', import.meta.url),
      name: 'composer',
      heapMb,
      onReport: (reply) => this.#take(reply),
      onEnd: () => {
        onExit(this);
        const lost = [...this.#underWay.values()].flat();
        this.#underWay.clear();
        for (const one of lost) one.made(null);
      },
    });
  }

  /** Number of batches sent to the worker and not yet returned. */
  get load(): number {
    return this.#underWay.size;
  }

  hand(pending: readonly PendingMessage[]): void {
    const batch = this.#batches++;
    this.#underWay.set(batch, pending);
    this.#worker.hold();
    this.#keys.startOrder();
    const requests = pending.map((one) => this.#keys.numbered(one));
    this.#worker.order({ kind: 'compose', batch, requests });
  }

  /** Ends the worker; unfinished messages get `made(null)`. */
  async close(): Promise<void> {
    await this.#worker.end();
  }

  #take({ batch, messages }: ComposeReply): void {
    const pending = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    if (this.#underWay.size === 0) this.#worker.rest();
    for (const [index, one] of pending.entries()) {
      const made = messages[index];
      one.made(made ? arrived(made) : null);
    }
  }
}

/** Fewest queued messages for which the transfer of a batch to a worker pays. */
const worthBatch = 4;
const largestBatch = 32;
/**
 * Longest text and HTML in characters, or raw mail in bytes, for a worker. For more, the copy costs
 * as much as the work.
 */
const largestText = 65_536;
/**
 * Most workers. A single worker is slower than the event loop that feeds it; a third worker would
 * take the core of the event loop.
 */
const mostThreads = Math.min(2, availableParallelism());
/** Number of unfinished batches from which a worker counts as late. */
const worthThread = 5;

/**
 * Composes and signs without workers. Rejects with ComposeError, or if a key does not fit the
 * algorithm.
 */
export async function composeHere(request: ComposeRequest): Promise<SignedMessage> {
  const { input, keys, timestampSeconds } = request;
  const signed = await signMessage(await compose(input), keys, timestampSeconds, signHere);
  if (!signed.eightBit || !('raw' in input)) return signed;
  let encoded: Promise<SignedMessage | null> | undefined;
  const sevenBit = () => {
    encoded ??= composeSevenBit(input, request);
    return encoded;
  };
  return { ...signed, sevenBit };
}

async function composeSevenBit(
  { raw }: RawInput,
  { keys, timestampSeconds }: ComposeRequest,
): Promise<SignedMessage | null> {
  const encoded = toSevenBit(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength));
  return encoded && signMessage(composeRaw({ raw: encoded }), keys, timestampSeconds, signHere);
}

/** Returns true for a small message with an RSA key: workers compose many of these faster. */
export function isForWorkers({ input, keys }: ComposeRequest): boolean {
  return isSmall(input) && keys.some(({ algorithm }) => algorithm === 'rsa-sha256');
}

function isSmall(input: ComposeInput | RawInput): boolean {
  // 8-bit mail may be needed again in 7-bit form, so it stays on the sending thread.
  if ('raw' in input) return input.raw.length <= largestText && isAscii(input.raw);
  const { attachments, text, html } = input;
  return attachments.length === 0 && (text?.length ?? 0) + (html?.length ?? 0) <= largestText;
}

/** Composes and signs the messages of a daemon, large numbers of them in workers. */
export class Composer {
  #waiting: PendingMessage[] = [];
  #threads: ComposeThread[] = [];
  #isClosed = false;

  /**
   * Composes and signs a message like `composeHere`; in a worker if `isForWorkers`, and at least
   * `worthBatch` such messages come in the same turn of the event loop.
   */
  compose(request: ComposeRequest): Promise<SignedMessage> {
    if (!isForWorkers(request)) return composeHere(request);
    return new Promise((resolve) => {
      // A message that failed in the worker is composed again here, to name the cause.
      const made = (message: SignedMessage | null) => resolve(message ?? composeHere(request));
      this.#waiting.push({ ...request, made });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Ends the workers; their unfinished messages are composed here. */
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

  /**
   * Returns the first worker that is not late. If all are late, starts a worker; beyond
   * `mostThreads` returns the worker with the fewest batches.
   */
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
