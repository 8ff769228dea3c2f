// The worker side of parse-thread.ts: parses one mail after another, in a thread that may be terminated at
// any moment. Imports mailparser and similar libraries, so that the main thread never loads them.
import { parentPort, workerData } from 'node:worker_threads';
import { type DocumentWords, wordsOfDocument } from '../../platform/full-text/document.ts';
import { threadName } from '../../platform/runtime/worker-watch.ts';
import { type Extracts, extractsOf } from '../mime/extracts/extracts.ts';
import type { ParsedMail, ParseOptions } from '../mime/parsed-mail.ts';
import { readAttachmentBytes } from './attachment-bytes.ts';
import { type BounceReport, readBounce } from './bounce/bounce-report.ts';
import { type Complaint, readComplaint } from './bounce/complaint.ts';
import { type OwnCopy, readOwnCopy } from './bounce/returned-copy.ts';
import { readDmarcMail } from './dmarc/dmarc-mail.ts';
import { type DmarcSummary, summarizeReport } from './dmarc/dmarc-summary.ts';
import { wordsOfMail } from './mail-words.ts';
import { parseMime } from './parse-mime.ts';

/** A complaint, with our tokens and signatures in the attached copy. */
export interface ComplaintReport {
  complaint: Complaint;
  copy: OwnCopy;
}

/** The possible results of a job: the projection, a report, an attachment or words; null if absent. */
export interface Readings {
  mail: ParsedMail;
  bounce: BounceReport | null;
  complaint: ComplaintReport | null;
  dmarc: DmarcSummary | null;
  /** Bytes of the attachment. */
  attachment: Uint8Array | null;
  /** Words of a document (`FullTextDocument`), which comes as JSON instead of the raw mail. */
  words: DocumentWords;
  /** Codes and links of a mail (`MailText`), which comes as JSON instead of the raw mail. */
  extracts: Extracts;
}

/** Mails that are parsed one after another and answered together. */
export interface ParseBatch {
  /** All mails, concatenated. */
  raw: Uint8Array;
  jobs: readonly ParseJob[];
}

export interface ParseJob {
  id: number;
  /** Offset in `raw`, as is `end`. */
  start: number;
  end: number;
  options: ParseOptions;
  wants: keyof Readings;
}

/**
 * A message to the parent. `body` comes before `done`: the projection without the reply split, kept for the
 * deadline. `done` has a reading for each job, in their order.
 */
export type ParseReply =
  | { kind: 'ready'; thread: string | null }
  | { kind: 'body'; id: number; mail: ParsedMail }
  | { kind: 'done'; readings: readonly Readings[keyof Readings][] };

const post = (reply: ParseReply) => parentPort?.postMessage(reply);

/** Index of the current job, shared with the parent thread. */
const place = workerData as Int32Array;

async function runAll({ raw, jobs }: ParseBatch): Promise<void> {
  const readings: Readings[keyof Readings][] = [];
  for (const [index, job] of jobs.entries()) {
    Atomics.store(place, 0, index);
    const { start, end } = job;
    readings.push(await run(job, Buffer.from(raw.buffer, raw.byteOffset + start, end - start)));
  }
  post({ kind: 'done', readings });
}

async function run(
  { id, options, wants }: ParseJob,
  bytes: Buffer,
): Promise<Readings[keyof Readings]> {
  if (wants === 'attachment') {
    const { partNumber = '' } = options;
    return readAttachmentBytes(bytes, partNumber, bytes.length);
  }
  if (wants === 'words') return wordsOfDocument(JSON.parse(bytes.toString()));
  if (wants === 'extracts') return extractsOf(JSON.parse(bytes.toString()));
  const keepBody = (body: ParsedMail) => post({ kind: 'body', id, mail: body });
  const mail = await parseMime(bytes, options, wants === 'mail' ? keepBody : undefined);
  return readOf(wants, mail, bytes);
}

async function readOf(
  wants: Exclude<keyof Readings, 'attachment' | 'words' | 'extracts'>,
  mail: ParsedMail,
  bytes: Buffer,
): Promise<Readings[keyof Readings]> {
  if (wants === 'mail') return { ...mail, words: wordsOfMail(mail) };
  if (wants === 'bounce') return readBounce(mail);
  if (wants === 'complaint') {
    const complaint = readComplaint(mail);
    return complaint && { complaint, copy: readOwnCopy(mail) };
  }
  const report = await readDmarcMail(bytes, mail);
  return report && summarizeReport(report);
}

parentPort?.on('message', (batch: ParseBatch) => void runAll(batch));
post({ kind: 'ready', thread: threadName() });
