// Parses received mail in worker threads, each mail under a deadline: hostile MIME can block a
// thread for minutes, and must block neither the event loop nor the next mail. parse-mime.ts does
// the parsing. Cheap to import: the worker starts with the first mail.
//
// If the worker ends during a mail, the parser returns the known part: the body without the reply
// split if the worker sent it, else only the header. Reading a report then fails with an error, so
// that the caller tries again.
import { CapacityError } from '../../platform/errors.ts';
import type { DocumentWords, FullTextDocument } from '../../platform/full-text/document.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { ownHolder } from '../../platform/runtime/fairness/fair-queue.ts';
import { type Refusal, WorkerPool } from '../../platform/runtime/workers/pool.ts';
import { pauseSeconds } from '../../platform/runtime/workers/strikes.ts';
import { LostJob } from '../../platform/runtime/workers/thread.ts';
import { type Extracts, searchedPart } from '../mime/extracts/extracts.ts';
import type { MailText } from '../mime/extracts/find-code.ts';
import { type ParsedMail, type ParseOptions, withFault } from '../mime/parsed-mail.ts';
import type { DecodedPart } from './decoded-parts.ts';
import type { AnyReading, Matched, Matching, ParsePayload, Readings } from './parse-worker.ts';

export type ReportReading = Extract<keyof Readings, 'bounce' | 'complaint' | 'dmarc'>;

export interface MimeParser {
  /**
   * Parses a raw mail. Faults of the mail are in `parsingErrors` and never reject.
   * @throws CapacityError if the queue is full or the parser is closed
   */
  parse(raw: Buffer, options?: ParseOptions): Promise<ParsedMail>;
  /**
   * Reads the report of this kind in a raw mail; returns null without a report. A DMARC report of
   * 10 MB unpacked takes up to 1 s.
   * @throws CapacityError as `parse` does; Error if reading takes too long or ends the worker: the
   * caller tries again
   */
  readReport<K extends ReportReading>(
    kind: K,
    raw: Buffer,
    options?: ParseOptions,
  ): Promise<Readings[K]>;
  /**
   * Returns the bytes of the part named by `MailAttachment.partNumber` for an organization, or
   * null.
   * @throws CapacityError as `parse` does, and if the organization has too many bytes in the queue;
   * Error if reading takes too long or ends the worker
   */
  readAttachment(raw: Buffer, partNumber: string, organizationId: string): Promise<Buffer | null>;
  /**
   * Returns the digests of the decoded parts of a raw mail for an organization.
   * @throws CapacityError and Error as `readAttachment` does
   */
  readParts(raw: Buffer, organizationId: string): Promise<DecodedPart[]>;
  /**
   * Reads the words of a document that is not a raw mail.
   * @throws CapacityError as `parse` does; Error if it takes too long
   */
  readWords(document: FullTextDocument): Promise<DocumentWords>;
  /**
   * Reads the codes and links of a mail for an organization.
   * @throws CapacityError and Error as `readAttachment` does
   */
  readExtracts(mail: MailText, organizationId: string): Promise<Extracts>;
  /**
   * Matches texts with a pattern for an organization. Returns a `problem` for an invalid pattern,
   * and for a pattern that takes too long.
   * @throws CapacityError as `readAttachment` does
   */
  matchTexts(matching: Matching, organizationId: string): Promise<Matched>;
  /**
   * Tells for an organization whether HTML hides words; true if it takes too long.
   * @throws CapacityError as `readAttachment` does
   */
  hidesWords(html: string, organizationId: string): Promise<boolean>;
  /**
   * Converts HTML to text for an organization, as `textOfHtml`.
   * @throws CapacityError and Error as `readAttachment` does
   */
  readText(html: string, organizationId: string): Promise<string>;
  /** Ends the workers; refuses unfinished mails with CapacityError. */
  close(): Promise<void>;
}

export interface MimeParserOptions {
  clock: Clock;
  /** Time limit for a mail in the worker, in ms. */
  deadlineMs?: number;
  maxQueuedMails?: number;
  maxQueuedBytes?: number;
}

/** Mails up to this size are sent to the worker several at a time, because they are quick. */
const smallBytes = 32 * 1024;
/** Bytes that each organization may have in the queue, as long as the queue has space. */
const firstBytes = 1_000_000;
/** Heap limit of a worker. A mail of 50 MB needs up to 250 MB. */
const heapMb = 512;

function refuse(why: Refusal): Error {
  const message = {
    full: 'too many mails wait to be parsed',
    paused: 'your mails took too long to read: wait a moment',
    closed: 'the mail parser is closed',
  }[why];
  const seconds = why === 'paused' ? pauseSeconds : 1;
  return new CapacityError(message, seconds, { reason: 'capacity-parser' });
}

/** A mail in a worker. `body`: the projection without the reply split, once the worker sent it. */
interface LostMail {
  raw: Buffer;
  options: ParseOptions;
  body: ParsedMail | null;
}

/** Returns the known part of a mail that the worker did not finish. */
async function knownOf({ raw, options, body }: LostMail, lost: LostJob): Promise<ParsedMail> {
  const cutShort = lost.isBegun ? 'within' : 'before';
  if (body) {
    const code = lost.isTimeout ? 'split-timeout' : 'parser-failed';
    const whole = { ...body, newContent: body.text };
    return {
      ...withFault(whole, code, 'new and quoted content could not be told apart'),
      cutShort,
    };
  }
  const { parseHeaderOnly } = await import('./read-header.ts');
  const code = lost.isTimeout ? 'parse-timeout' : 'parser-failed';
  const message = lost.isTimeout ? 'parsing took too long' : 'the parser failed';
  const known = parseHeaderOnly(raw, options, code, `${message}: only the header was read`);
  return { ...known, cutShort };
}

function unread(wants: Exclude<keyof Readings, 'mail'>, { isTimeout }: LostJob): Error {
  const names = {
    bounce: 'a bounce report',
    complaint: 'a complaint report',
    dmarc: 'a dmarc report',
    attachment: 'an attachment',
    parts: 'the parts of a mail',
    words: 'the words of a document',
    extracts: 'codes and links',
    matches: 'matches of a pattern',
    hiding: 'hidden words of HTML',
    text: 'HTML',
  } as const satisfies Record<typeof wants, string>;
  return new Error(`reading ${names[wants]} ${isTimeout ? 'took too long' : 'ended its worker'}`);
}

/** Creates a parser with a worker and a bounded queue (200 mails, 200 MB). */
export function createMimeParser(options: MimeParserOptions): MimeParser {
  const { clock, deadlineMs = 2000 } = options;
  const { maxQueuedMails = 200, maxQueuedBytes = 200 * 1024 * 1024 } = options;
  const pool = new WorkerPool<ParsePayload, AnyReading, ParsedMail>({
    clock,
    script: new URL('./parse-worker.ts', import.meta.url),
    deadlineMs,
    heapMb,
    mostJobs: maxQueuedMails,
    mostBytes: maxQueuedBytes,
    firstBytes,
    transfer: ({ raw }) => raw.buffer,
    refuse,
  });

  const read = async <W extends keyof Readings>(
    wants: W,
    raw: Buffer,
    parseOptions: ParseOptions = {},
    holder = ownHolder,
  ): Promise<Readings[W]> => {
    const mail: LostMail = { raw, options: parseOptions, body: null };
    const reading = pool.run({
      holder,
      bytes: raw.length,
      isSmall: wants === 'mail' && raw.length <= smallBytes,
      // A copy: callers keep their buffers, and a view would transfer the pool of Node.
      payload: () => ({ raw: new Uint8Array(raw), options: parseOptions, wants }),
      onPart: (body) => {
        mail.body = body;
      },
    });
    try {
      // The worker answers a job with the type that the job wants.
      return (await reading) as Readings[W];
    } catch (error) {
      if (!(error instanceof LostJob)) throw error;
      if (wants === 'hiding') return true as Readings[W];
      if (wants === 'matches') return { problem: 'takes too long' } as Readings[W];
      if (wants !== 'mail') throw unread(wants, error);
      return (await knownOf(mail, error)) as Readings[W];
    }
  };

  return {
    parse: (raw, parseOptions) => read('mail', raw, parseOptions),
    readReport: (kind, raw, parseOptions) => read(kind, raw, parseOptions),
    async readAttachment(raw, partNumber, organizationId) {
      const bytes = await read('attachment', raw, { partNumber }, organizationId);
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    readParts: (raw, organizationId) => read('parts', raw, {}, organizationId),
    readWords: (document) => read('words', Buffer.from(JSON.stringify(document))),
    readExtracts(mail, organizationId) {
      const searched = Buffer.from(JSON.stringify(searchedPart(mail)));
      return read('extracts', searched, {}, organizationId);
    },
    matchTexts: (matching, organizationId) =>
      read('matches', Buffer.from(JSON.stringify(matching)), {}, organizationId),
    hidesWords: (html, organizationId) => read('hiding', Buffer.from(html), {}, organizationId),
    readText: (html, organizationId) => read('text', Buffer.from(html), {}, organizationId),
    close: () => pool.close(),
  };
}
