// The far end of parser.ts: one mail at a time, in a thread that may be terminated at any moment.
// Imports mailparser and its like, so that the main thread never loads them.
import { parentPort } from 'node:worker_threads';
import { readAttachmentBytes } from './attachment-bytes.ts';
import { type BounceReport, readBounce } from './bounce/bounce-report.ts';
import { type Complaint, readComplaint } from './bounce/complaint.ts';
import { type OwnCopy, readOwnCopy } from './bounce/returned-copy.ts';
import { readDmarcMail } from './dmarc/dmarc-mail.ts';
import { type DmarcSummary, summarizeReport } from './dmarc/dmarc-summary.ts';
import { parseMime } from './parse-mime.ts';
import type { ParsedMail, ParseOptions } from './parsed-mail.ts';

/** A complaint, and what the copy attached to it shows of ours. */
export interface ComplaintReport {
  complaint: Complaint;
  copy: OwnCopy;
}

/** What may be wanted of a mail: its projection, the report that it carries or an attachment, null for none. */
export interface Readings {
  mail: ParsedMail;
  bounce: BounceReport | null;
  complaint: ComplaintReport | null;
  dmarc: DmarcSummary | null;
  /** Its bytes. */
  attachment: Uint8Array | null;
}

export interface ParseJob {
  id: number;
  raw: Uint8Array;
  options: ParseOptions;
  wants: keyof Readings;
}

/** `body` comes before `done`: the projection without the reply split, kept for the deadline. */
export type ParseReply =
  | { kind: 'ready' }
  | { kind: 'body'; id: number; mail: ParsedMail }
  | { kind: 'done'; id: number; reading: Readings[keyof Readings] };

const post = (reply: ParseReply) => parentPort?.postMessage(reply);

async function run({ id, raw, options, wants }: ParseJob): Promise<void> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (wants === 'attachment') {
    const { partNumber = '' } = options;
    const reading = await readAttachmentBytes(bytes, partNumber, bytes.length);
    post({ kind: 'done', id, reading });
    return;
  }
  const keepBody = (body: ParsedMail) => post({ kind: 'body', id, mail: body });
  const mail = await parseMime(bytes, options, wants === 'mail' ? keepBody : undefined);
  post({ kind: 'done', id, reading: await readOf(wants, mail, bytes) });
}

async function readOf(
  wants: Exclude<keyof Readings, 'attachment'>,
  mail: ParsedMail,
  bytes: Buffer,
): Promise<Readings[keyof Readings]> {
  if (wants === 'mail') return mail;
  if (wants === 'bounce') return readBounce(mail);
  if (wants === 'complaint') {
    const complaint = readComplaint(mail);
    return complaint && { complaint, copy: readOwnCopy(mail) };
  }
  const report = await readDmarcMail(bytes, mail);
  return report && summarizeReport(report);
}

parentPort?.on('message', (job: ParseJob) => void run(job));
post({ kind: 'ready' });
