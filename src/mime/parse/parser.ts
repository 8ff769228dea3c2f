// Parses inbound mail in worker threads, each mail under a deadline: hostile MIME can hold a thread
// for minutes, and here it holds neither the event loop nor the next mail. What
// parsing means is parse-mime.ts. Light to import: a worker starts with the first mail.
//
//   worker   | job given   | `ready`       | `done`      | deadline, crash     | close
//   none     | starting    |               |             |                     | none
//   starting | (queued)    | busy or idle  |             | none, mail settled  | none, mail refused
//   idle     | busy        |               |             | none                | none
//   busy     | (queued)    |               | idle        | none, mail settled  | none, mail refused
//
// A mail whose worker went is settled with what is known: the body without its reply split if the
// worker had got so far, else the header alone; a report with an error, so that it may be tried again.
import { Worker } from 'node:worker_threads';
import { CapacityError } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ParseJob, ParseReply, Readings } from './parse-worker.ts';
import { type ParsedMail, type ParseOptions, withFault } from './parsed-mail.ts';

export type ReportReading = Exclude<keyof Readings, 'mail' | 'attachment'>;
type AnyReading = Readings[keyof Readings];

export interface MimeParser {
  /**
   * Parses a raw mail. Never rejects because of the mail: see `parsingErrors`.
   * @throws CapacityError when the queue is full or the parser is closed.
   */
  parse(raw: Buffer, options?: ParseOptions): Promise<ParsedMail>;
  /**
   * Reads the report of this kind that a raw mail carries; null where there is none. A DMARC report of
   * 10 MB unpacked takes up to 1 s.
   * @throws CapacityError as `parse` does; Error where it takes too long, to be tried again.
   */
  readReport<K extends ReportReading>(
    kind: K,
    raw: Buffer,
    options?: ParseOptions,
  ): Promise<Readings[K]>;
  /**
   * The bytes of the part that `MailAttachment.partNumber` names; null where there is none.
   * @throws CapacityError as `parse` does; Error where it takes too long.
   */
  readAttachment(raw: Buffer, partNumber: string): Promise<Buffer | null>;
  /** Ends the workers; mails still in work are refused with CapacityError. */
  close(): Promise<void>;
}

export interface MimeParserOptions {
  clock: Clock;
  workers?: number;
  /** How long one mail may take once a worker has it. */
  deadlineMs?: number;
  maxQueuedMails?: number;
  maxQueuedBytes?: number;
}

/** Loading the libraries takes 0.2 s on a quiet machine; a worker slower than this is given up. */
const startDeadlineMs = 30_000;
/** A mail of 50 MB peaks at 250 MB; one that wants more loses its worker, not the daemon. */
const workerHeapMb = 512;

interface PendingMail extends Omit<ParseJob, 'raw'> {
  raw: Buffer;
  /** The projection without the reply split, once the worker has sent it. */
  body: ParsedMail | null;
  /** A worker was given it. */
  isBegun: boolean;
  resolve(reading: AnyReading): void;
  reject(error: Error): void;
}

/** What is known of a mail whose worker ended before it was done. */
async function knownOf(mail: PendingMail, isTimeout: boolean): Promise<ParsedMail> {
  const known = await knownSoFar(mail, isTimeout);
  return { ...known, cutShort: mail.isBegun ? 'within' : 'before' };
}

async function knownSoFar(mail: PendingMail, isTimeout: boolean): Promise<ParsedMail> {
  if (mail.wants !== 'mail') {
    const end = isTimeout ? 'took too long' : 'ended its worker';
    const what = mail.wants === 'attachment' ? 'an attachment' : `a ${mail.wants} report`;
    throw new Error(`reading ${what} ${end}`);
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

/** One thread and the mail it works on. `onFree` is called when it can take another mail. */
class ParseThread {
  private worker: Worker | null = null;
  private isReady: boolean = false;
  private mail: PendingMail | null = null;
  private cancelDeadline: () => void = () => {};
  private readonly clock: Clock;
  private readonly deadlineMs: number;
  private readonly onFree: () => void;

  constructor(clock: Clock, deadlineMs: number, onFree: () => void) {
    this.clock = clock;
    this.deadlineMs = deadlineMs;
    this.onFree = onFree;
  }

  get isFree(): boolean {
    return this.mail === null;
  }

  take(mail: PendingMail): void {
    this.mail = mail;
    if (!this.worker) this.start();
    else if (this.isReady) this.send();
  }

  private start(): void {
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: workerHeapMb },
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
    const { worker, mail } = this;
    if (!worker || !mail) return;
    this.cancelDeadline = this.clock.after(this.deadlineMs, () => this.drop(worker, true));
    worker.ref();
    // A copy: the caller keeps its buffer, and a view would carry its whole pool along.
    const raw = new Uint8Array(mail.raw);
    const { id, options, wants } = mail;
    const job: ParseJob = { id, raw, options, wants };
    mail.isBegun = true;
    worker.postMessage(job, [raw.buffer]);
  }

  private receive(reply: ParseReply): void {
    if (reply.kind === 'ready') {
      this.cancelDeadline();
      this.isReady = true;
      if (this.mail) this.send();
      else this.worker?.unref();
    } else if (reply.id === this.mail?.id) {
      if (reply.kind === 'body') this.mail.body = reply.mail;
      else this.finish((mail) => mail.resolve(reply.reading));
    }
  }

  private finish(settle: (mail: PendingMail) => void): void {
    const mail = this.mail;
    this.mail = null;
    this.cancelDeadline();
    this.worker?.unref();
    if (mail) settle(mail);
    this.onFree();
  }

  /** Gives up the worker (it is replaced with the next mail) and settles its mail. */
  private drop(worker: Worker, isTimeout: boolean): void {
    if (worker !== this.worker) return;
    this.worker = null;
    void worker.terminate();
    this.finish((mail) => knownOf(mail, isTimeout).then(mail.resolve, mail.reject));
  }

  async close(): Promise<void> {
    const { worker, mail } = this;
    this.worker = null;
    this.mail = null;
    this.cancelDeadline();
    mail?.reject(closedError());
    await worker?.terminate();
  }
}

const parserError = (message: string) =>
  new CapacityError(message, 1, { reason: 'capacity-parser' });
const closedError = () => parserError('the mail parser is closed');

/** A parser with `workers` threads (1) and a bounded queue (200 mails, 200 MB). */
export function createMimeParser(options: MimeParserOptions): MimeParser {
  const { clock, workers = 1, deadlineMs = 2000 } = options;
  const { maxQueuedMails = 200, maxQueuedBytes = 200 * 1024 * 1024 } = options;
  const queue: PendingMail[] = [];
  let queuedBytes = 0;
  let nextId = 1;
  let isClosed = false;

  const pump = () => {
    for (const thread of threads) {
      if (!thread.isFree) continue;
      const mail = queue.shift();
      if (!mail) return;
      queuedBytes -= mail.raw.length;
      thread.take(mail);
    }
  };
  const threads = Array.from({ length: workers }, () => new ParseThread(clock, deadlineMs, pump));

  const enqueue = <W extends keyof Readings>(
    wants: W,
    raw: Buffer,
    parseOptions: ParseOptions = {},
  ): Promise<Readings[W]> => {
    if (isClosed) return Promise.reject(closedError());
    const isFull = queue.length >= maxQueuedMails || queuedBytes + raw.length > maxQueuedBytes;
    if (isFull) return Promise.reject(parserError('too many mails wait to be parsed'));
    return new Promise<AnyReading>((resolve, reject) => {
      const job = { id: nextId, raw, options: parseOptions, wants };
      queue.push({ ...job, body: null, isBegun: false, resolve, reject });
      nextId += 1;
      queuedBytes += raw.length;
      pump();
      // The worker answers a job with what it wants.
    }) as Promise<Readings[W]>;
  };

  return {
    parse: (raw, parseOptions) => enqueue('mail', raw, parseOptions),
    readReport: enqueue,
    async readAttachment(raw, partNumber) {
      const bytes = await enqueue('attachment', raw, { partNumber });
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    async close() {
      isClosed = true;
      for (const mail of queue.splice(0)) mail.reject(closedError());
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
