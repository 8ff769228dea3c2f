// Parses received mail in worker threads, each mail under a deadline: hostile MIME can block a thread for
// minutes, and must block neither the event loop nor the next mail. parse-mime.ts does the parsing;
// parse-thread.ts manages a worker. Light to import: a worker starts with the first mail.
import { CapacityError } from '../../platform/errors.ts';
import type { DocumentWords, FullTextDocument } from '../../platform/full-text/document.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FairQueue, ownHolder } from '../../platform/runtime/fair-queue.ts';
import { type Extracts, searchedPart } from '../mime/extracts/extracts.ts';
import type { MailText } from '../mime/extracts/find-code.ts';
import type { ParsedMail, ParseOptions } from '../mime/parsed-mail.ts';
import { type AnyReading, ParseThread, type PendingMail } from './parse-thread.ts';
import type { Readings } from './parse-worker.ts';

export type ReportReading = Exclude<keyof Readings, 'mail' | 'attachment' | 'words' | 'extracts'>;

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
   * Returns the bytes of the part named by `MailAttachment.partNumber` for an organization, or null.
   * @throws CapacityError as `parse` does, and beyond the share of the organization; Error if it takes too long
   */
  readAttachment(raw: Buffer, partNumber: string, organizationId: string): Promise<Buffer | null>;
  /**
   * Reads the words of a document other than a raw mail.
   * @throws CapacityError as `parse` does; Error if it takes too long
   */
  readWords(document: FullTextDocument): Promise<DocumentWords>;
  /**
   * Reads the codes and links of a mail for an organization.
   * @throws CapacityError and Error as `readAttachment` does
   */
  readExtracts(mail: MailText, organizationId: string): Promise<Extracts>;
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

/** Mails up to this size go to a worker together, so many: none of them takes long. */
const smallBytes = 32 * 1024;
const mostTogether = 32;
/** Bytes that each organization may have waiting while any are free. */
const firstBytes = 1_000_000;

const parserError = (message: string) =>
  new CapacityError(message, 1, { reason: 'capacity-parser' });
const closedError = () => parserError('the mail parser is closed');

/** Creates a parser with `workers` threads (1) and a bounded queue (200 mails, 200 MB). */
export function createMimeParser(options: MimeParserOptions): MimeParser {
  const { clock, workers = 1, deadlineMs = 2000 } = options;
  const { maxQueuedMails = 200, maxQueuedBytes = 200 * 1024 * 1024 } = options;
  const queue = new FairQueue<PendingMail>({
    mostJobs: maxQueuedMails,
    mostBytes: maxQueuedBytes,
    firstBytes,
    mostTogether,
    isSmall: ({ wants, raw }) => wants === 'mail' && raw.length <= smallBytes,
  });
  let nextId = 1;
  let isClosed = false;

  const pump = () => {
    for (const thread of threads) {
      const mails = thread.isFree ? queue.take() : [];
      if (mails.length > 0) thread.take(mails);
    }
  };
  const freed = (givenBack: readonly PendingMail[]) => {
    queue.giveBack(givenBack);
    pump();
  };
  const threads = Array.from({ length: workers }, () => new ParseThread(clock, deadlineMs, freed));

  const enqueue = <W extends keyof Readings>(
    wants: W,
    raw: Buffer,
    parseOptions: ParseOptions = {},
    holder = ownHolder,
  ): Promise<Readings[W]> => {
    if (isClosed) return Promise.reject(closedError());
    if (!queue.hasRoom(holder, raw.length)) pump();
    if (!queue.hasRoom(holder, raw.length)) {
      return Promise.reject(parserError('too many mails wait to be parsed'));
    }
    return new Promise<AnyReading>((resolve, reject) => {
      const bytes = raw.length;
      const job = { id: nextId, holder, bytes, raw, options: parseOptions, wants };
      queue.add({ ...job, body: null, resolve, reject });
      nextId += 1;
      // Runs after all requests of this turn, so that they form a group.
      queueMicrotask(pump);
      // The worker answers a job with the type that it requests.
    }) as Promise<Readings[W]>;
  };

  return {
    parse: (raw, parseOptions) => enqueue('mail', raw, parseOptions),
    readReport: (kind, raw, parseOptions) => enqueue(kind, raw, parseOptions),
    async readAttachment(raw, partNumber, organizationId) {
      const bytes = await enqueue('attachment', raw, { partNumber }, organizationId);
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    readWords: (document) => enqueue('words', Buffer.from(JSON.stringify(document))),
    readExtracts(mail, organizationId) {
      const searched = Buffer.from(JSON.stringify(searchedPart(mail)));
      return enqueue('extracts', searched, {}, organizationId);
    },
    async close() {
      isClosed = true;
      for (let mails = queue.take(); mails.length > 0; mails = queue.take()) {
        for (const mail of mails) mail.reject(closedError());
      }
      await Promise.all(threads.map((thread) => thread.close(closedError)));
    },
  };
}
