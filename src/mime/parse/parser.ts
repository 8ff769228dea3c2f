// Parses received mail in worker threads, each mail under a deadline: hostile MIME can block a thread for
// minutes, and must block neither the event loop nor the next mail. parse-mime.ts does the parsing;
// parse-thread.ts manages a worker. Light to import: a worker starts with the first mail.
import { CapacityError } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DocumentWords, FullTextDocument } from '../../store/full-text/document.ts';
import { type AnyReading, ParseThread, type PendingMail } from './parse-thread.ts';
import type { Readings } from './parse-worker.ts';
import type { ParsedMail, ParseOptions } from './parsed-mail.ts';

export type ReportReading = Exclude<keyof Readings, 'mail' | 'attachment' | 'words'>;

export interface MimeParser {
  /**
   * Parses a raw mail. Never rejects because of the mail: see `parsingErrors`.
   * @throws CapacityError if the queue is full or the parser is closed
   */
  parse(raw: Buffer, options?: ParseOptions): Promise<ParsedMail>;
  /**
   * Reads the report of this kind in a raw mail; returns null without one. A DMARC report of 10 MB unpacked
   * takes up to 1 s.
   * @throws CapacityError as `parse` does; Error if it takes too long, for another try
   */
  readReport<K extends ReportReading>(
    kind: K,
    raw: Buffer,
    options?: ParseOptions,
  ): Promise<Readings[K]>;
  /**
   * Returns the bytes of the part named by `MailAttachment.partNumber`, or null.
   * @throws CapacityError as `parse` does; Error if it takes too long
   */
  readAttachment(raw: Buffer, partNumber: string): Promise<Buffer | null>;
  /**
   * Reads the words of a document other than a raw mail.
   * @throws CapacityError as `parse` does; Error if it takes too long
   */
  readWords(document: FullTextDocument): Promise<DocumentWords>;
  /** Ends the workers; refuses unfinished mails with CapacityError. */
  close(): Promise<void>;
}

export interface MimeParserOptions {
  clock: Clock;
  workers?: number;
  /** Time limit for one mail once a worker has it. */
  deadlineMs?: number;
  maxQueuedMails?: number;
  maxQueuedBytes?: number;
}

/** Largest mail that joins a group, and most mails in a group: none of them takes long. */
const smallBytes = 32 * 1024;
const mostTogether = 32;

const parserError = (message: string) =>
  new CapacityError(message, 1, { reason: 'capacity-parser' });
const closedError = () => parserError('the mail parser is closed');

const isSmall = ({ wants, raw }: PendingMail) => wants === 'mail' && raw.length <= smallBytes;

/** Takes the first queued mail, and further small ones that join it. */
function takeTogether(queue: PendingMail[]): PendingMail[] {
  const small = queue.findIndex((mail) => !isSmall(mail));
  const together = small < 0 ? queue.length : small;
  return queue.splice(0, Math.max(1, Math.min(together, mostTogether)));
}

/** Creates a parser with `workers` threads (1) and a bounded queue (200 mails, 200 MB). */
export function createMimeParser(options: MimeParserOptions): MimeParser {
  const { clock, workers = 1, deadlineMs = 2000 } = options;
  const { maxQueuedMails = 200, maxQueuedBytes = 200 * 1024 * 1024 } = options;
  const queue: PendingMail[] = [];
  let queuedBytes = 0;
  let nextId = 1;
  let isClosed = false;

  const pump = () => {
    for (const thread of threads) {
      if (!thread.isFree || queue.length === 0) continue;
      const mails = takeTogether(queue);
      for (const { raw } of mails) queuedBytes -= raw.length;
      thread.take(mails);
    }
  };
  const freed = (givenBack: readonly PendingMail[]) => {
    queue.unshift(...givenBack);
    for (const { raw } of givenBack) queuedBytes += raw.length;
    pump();
  };
  const threads = Array.from({ length: workers }, () => new ParseThread(clock, deadlineMs, freed));

  const hasRoom = (raw: Buffer) =>
    queue.length < maxQueuedMails && queuedBytes + raw.length <= maxQueuedBytes;
  const enqueue = <W extends keyof Readings>(
    wants: W,
    raw: Buffer,
    parseOptions: ParseOptions = {},
  ): Promise<Readings[W]> => {
    if (isClosed) return Promise.reject(closedError());
    if (!hasRoom(raw)) pump();
    if (!hasRoom(raw)) return Promise.reject(parserError('too many mails wait to be parsed'));
    return new Promise<AnyReading>((resolve, reject) => {
      const job = { id: nextId, raw, options: parseOptions, wants };
      queue.push({ ...job, body: null, resolve, reject });
      nextId += 1;
      queuedBytes += raw.length;
      // Runs after all requests of this turn, so that they form a group.
      queueMicrotask(pump);
      // The worker answers a job with the type that it requests.
    }) as Promise<Readings[W]>;
  };

  return {
    parse: (raw, parseOptions) => enqueue('mail', raw, parseOptions),
    readReport: enqueue,
    async readAttachment(raw, partNumber) {
      const bytes = await enqueue('attachment', raw, { partNumber });
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    readWords: (document) => enqueue('words', Buffer.from(JSON.stringify(document))),
    async close() {
      isClosed = true;
      for (const mail of queue.splice(0)) mail.reject(closedError());
      await Promise.all(threads.map((thread) => thread.close(closedError)));
    },
  };
}
