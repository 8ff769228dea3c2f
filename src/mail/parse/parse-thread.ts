// One worker of parser.ts and its current mails. Small mails go together: a message to a thread and its
// answer cost as much as parsing one. The index of the current mail is in memory shared by both threads.
// A mail that blocks or ends the worker is thus known, and the others do not pay for it.
//
//   worker   | mails given | `ready`       | `done`      | deadline, crash      | close
//   none     | starting    |               |             |                      | none
//   starting | (queued)    | busy or idle  |             | none, mails settled  | none, mails refused
//   idle     | busy        |               |             | none                 | none
//   busy     | (queued)    |               | idle        | none, one settled,   | none, mails refused
//            |             |               |             | the others given back|
//
// A mail whose worker ended is settled with the known part: the body without its reply split if the
// worker had sent it, else the header alone. A report is settled with an error, for another try.
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { QueuedJob } from '../../platform/runtime/fair-queue.ts';
import { workerArguments } from '../../platform/runtime/worker-arguments.ts';
import { watchWorker } from '../../platform/runtime/worker-watch.ts';
import { type ParsedMail, withFault } from '../mime/parsed-mail.ts';
import type { ParseBatch, ParseJob, ParseReply, Readings } from './parse-worker.ts';

export type AnyReading = Readings[keyof Readings];

/** Time after which a starting worker is given up; loading the libraries takes 0.2 s on a quiet machine. */
const startDeadlineMs = 30_000;
/**
 * Heap limit of a worker: a mail of 50 MB peaks at 250 MB. A mail that needs more ends its worker, not the
 * daemon.
 */
const workerHeapMb = 512;

/** A mail that is queued or with a worker. */
export interface PendingMail extends Omit<ParseJob, 'start' | 'end'>, QueuedJob {
  raw: Buffer;
  /** Projection without the reply split, once the worker has sent it. */
  body: ParsedMail | null;
  resolve(reading: AnyReading): void;
  reject(error: Error): void;
}

/** Returns the known part of a mail whose worker ended early. */
async function knownOf(
  mail: PendingMail,
  isTimeout: boolean,
  isBegun: boolean,
): Promise<ParsedMail> {
  const known = await knownSoFar(mail, isTimeout);
  return { ...known, cutShort: isBegun ? 'within' : 'before' };
}

function nameOf(wants: Exclude<keyof Readings, 'mail'>): string {
  if (wants === 'attachment') return 'an attachment';
  return wants === 'words' ? 'the words of a document' : `a ${wants} report`;
}

async function knownSoFar(mail: PendingMail, isTimeout: boolean): Promise<ParsedMail> {
  if (mail.wants !== 'mail') {
    const end = isTimeout ? 'took too long' : 'ended its worker';
    throw new Error(`reading ${nameOf(mail.wants)} ${end}`);
  }
  if (mail.body) {
    const code = isTimeout ? 'split-timeout' : 'parser-failed';
    return withFault(
      { ...mail.body, newContent: mail.body.text },
      code,
      'new and quoted content could not be told apart',
    );
  }
  const { parseHeaderOnly } = await import('./read-header.ts');
  const code = isTimeout ? 'parse-timeout' : 'parser-failed';
  const message = isTimeout ? 'parsing took too long' : 'the parser failed';
  return parseHeaderOnly(mail.raw, mail.options, code, `${message}: only the header was read`);
}

const newPlace = () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** One thread and its current mails. */
export class ParseThread {
  private worker: Worker | null = null;
  private isReady: boolean = false;
  /** Name of the worker's thread. */
  private thread: string | null = null;
  /** True once the worker has the mails. */
  private isSent: boolean = false;
  private mails: readonly PendingMail[] = [];
  private cancelDeadline: () => void = () => {};
  private readonly clock: Clock;
  private readonly deadlineMs: number;
  private readonly onFree: (givenBack: readonly PendingMail[]) => void;
  /** Index of the current mail; each worker writes its own. */
  private place = newPlace();

  /** Calls `onFree` once the thread can take more mails, with the mails that another worker must take. */
  constructor(
    clock: Clock,
    deadlineMs: number,
    onFree: (givenBack: readonly PendingMail[]) => void,
  ) {
    this.clock = clock;
    this.deadlineMs = deadlineMs;
    this.onFree = onFree;
  }

  get isFree(): boolean {
    return this.mails.length === 0;
  }

  take(mails: readonly PendingMail[]): void {
    this.mails = mails;
    if (!this.worker) this.start();
    else if (this.isReady) this.send();
  }

  private start(): void {
    this.place = newPlace();
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      execArgv: [...workerArguments],
      resourceLimits: { maxOldGenerationSizeMb: workerHeapMb },
      workerData: this.place,
    });
    this.worker = worker;
    this.isReady = false;
    this.cancelDeadline = this.clock.after(startDeadlineMs, () => this.drop(worker, true));
    worker.on('message', (reply: ParseReply) => {
      if (worker === this.worker) this.receive(reply);
    });
    worker.on('error', () => this.drop(worker, false));
    worker.on('exit', () => this.drop(worker, false));
  }

  private send(): void {
    const { worker, mails } = this;
    if (!worker || mails.length === 0) return;
    Atomics.store(this.place, 0, 0);
    this.watch(worker);
    worker.ref();
    // A copy: callers keep their buffers, and a view would transfer its whole pool.
    const raw = new Uint8Array(mails.reduce((bytes, mail) => bytes + mail.raw.length, 0));
    let end = 0;
    const jobs = mails.map(({ id, options, wants, raw: own }): ParseJob => {
      const start = end;
      raw.set(own, start);
      end += own.length;
      return { id, options, wants, start, end };
    });
    worker.postMessage({ raw, jobs } satisfies ParseBatch, [raw.buffer]);
    this.isSent = true;
  }

  /**
   * Watches the progress of the worker. A mail in a group has at least half the time: groups are checked
   * twice as often.
   */
  private watch(worker: Worker): void {
    const { clock, deadlineMs, place, thread } = this;
    this.cancelDeadline = watchWorker({
      ...{ clock, thread },
      deadlineMs: this.mails.length === 1 ? deadlineMs : deadlineMs / 2,
      place: () => Atomics.load(place, 0),
      onOverdue: () => this.drop(worker, true),
    });
  }

  private receive(reply: ParseReply): void {
    if (reply.kind === 'ready') {
      this.cancelDeadline();
      this.isReady = true;
      this.thread = reply.thread;
      if (this.isFree) this.worker?.unref();
      else this.send();
    } else if (reply.kind === 'body') {
      const mail = this.mails.find(({ id }) => id === reply.id);
      if (mail) mail.body = reply.mail;
    } else {
      const mails = this.free();
      for (const [index, mail] of mails.entries()) mail.resolve(reply.readings[index] ?? null);
      this.onFree([]);
    }
  }

  private free(): readonly PendingMail[] {
    const { mails } = this;
    this.mails = [];
    this.isSent = false;
    this.cancelDeadline();
    this.worker?.unref();
    return mails;
  }

  /** Gives up the worker (the next mails start another) and settles its current mail. */
  private drop(worker: Worker, isTimeout: boolean): void {
    if (worker !== this.worker) return;
    this.worker = null;
    void worker.terminate();
    const { isSent } = this;
    const mails = this.free();
    const at = Atomics.load(this.place, 0);
    const settled = isSent ? mails.slice(at, at + 1) : mails;
    for (const mail of settled) {
      knownOf(mail, isTimeout, isSent).then(mail.resolve, mail.reject);
    }
    this.onFree(mails.filter((mail) => !settled.includes(mail)));
  }

  async close(why: () => Error): Promise<void> {
    const { worker } = this;
    const mails = this.free();
    this.worker = null;
    for (const { reject } of mails) reject(why());
    await worker?.terminate();
  }
}
