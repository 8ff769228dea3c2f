// The worker of parser.ts: parses mails one at a time. Only the worker imports mailparser and
// similar libraries, so the main thread never loads them.
import { type DocumentWords, wordsOfDocument } from '../../platform/full-text/document.ts';
import { linearPattern } from '../../platform/runtime/workers/linear-pattern.ts';
import { serveJobs } from '../../platform/runtime/workers/serve.ts';
import { type Extracts, extractsOf } from '../mime/extracts/extracts.ts';
import { hidesWords } from '../mime/html/hidden-words.ts';
import { textOfHtml } from '../mime/html-text.ts';
import type { ParsedMail, ParseOptions } from '../mime/parsed-mail.ts';
import { readAttachmentBytes } from './attachment-bytes.ts';
import { type BounceReport, readBounce } from './bounce/bounce-report.ts';
import { type Complaint, readComplaint } from './bounce/complaint.ts';
import { type OwnCopy, readOwnCopy } from './bounce/returned-copy.ts';
import { type DecodedPart, decodedParts } from './decoded-parts.ts';
import { readDmarcMail } from './dmarc/dmarc-mail.ts';
import { type DmarcSummary, summarizeReport } from './dmarc/dmarc-summary.ts';
import { wordsOfMail } from './mail-words.ts';
import { parseMime } from './parse-mime.ts';

/** An RE2 pattern that ignores case, and the texts to match. */
export interface Matching {
  pattern: string;
  texts: readonly string[];
}

/** Result of matching: a flag for each text, or the reason why the pattern is invalid. */
export type Matched = { matches: boolean[] } | { problem: string };

/** A complaint, with our tokens and signatures from the attached copy. */
export interface ComplaintReport {
  complaint: Complaint;
  copy: OwnCopy;
}

/** Result of each kind of job; null if the mail lacks the wanted part. */
export interface Readings {
  mail: ParsedMail;
  bounce: BounceReport | null;
  complaint: ComplaintReport | null;
  dmarc: DmarcSummary | null;
  /** Bytes of the attachment. */
  attachment: Uint8Array | null;
  /** Digests of the decoded parts. */
  parts: DecodedPart[];
  /** Words of a document. The job has a `FullTextDocument` as JSON instead of a raw mail. */
  words: DocumentWords;
  /** Codes and links of a mail. The job has a `MailText` as JSON instead of a raw mail. */
  extracts: Extracts;
  /** Matches of a pattern. The job has a `Matching` as JSON instead of a raw mail. */
  matches: Matched;
  /** Whether HTML hides words. The job has HTML instead of a raw mail. */
  hiding: boolean;
  /** Text of HTML. The job has HTML instead of a raw mail. */
  text: string;
}

export type AnyReading = Readings[keyof Readings];

export interface ParsePayload {
  raw: Uint8Array<ArrayBuffer>;
  options: ParseOptions;
  wants: keyof Readings;
}

/** Does a job. Calls `keepBody` before the reply split, which may exceed the deadline. */
async function read(
  { raw, options, wants }: ParsePayload,
  keepBody: (mail: ParsedMail) => void,
): Promise<AnyReading> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  if (wants === 'attachment') {
    const { partNumber = '' } = options;
    return readAttachmentBytes(bytes, partNumber, bytes.length);
  }
  if (wants === 'parts') return decodedParts(bytes);
  if (wants === 'words') return wordsOfDocument(JSON.parse(bytes.toString()));
  if (wants === 'extracts') return extractsOf(JSON.parse(bytes.toString()));
  if (wants === 'matches') return matchTexts(JSON.parse(bytes.toString()));
  if (wants === 'hiding') return hidesWords(bytes.toString());
  if (wants === 'text') return textOfHtml(bytes.toString());
  const mail = await parseMime(bytes, options, wants === 'mail' ? keepBody : undefined);
  return readOf(wants, mail, bytes);
}

function matchTexts({ pattern, texts }: Matching): Matched {
  try {
    const { test } = linearPattern(pattern, { anyCase: true });
    return { matches: texts.map(test) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

type OfOwnInput = 'attachment' | 'parts' | 'words' | 'extracts' | 'matches' | 'hiding' | 'text';

async function readOf(
  wants: Exclude<keyof Readings, OfOwnInput>,
  mail: ParsedMail,
  bytes: Buffer,
): Promise<AnyReading> {
  if (wants === 'mail') return { ...mail, words: wordsOfMail(mail) };
  if (wants === 'bounce') return readBounce(mail);
  if (wants === 'complaint') {
    const complaint = readComplaint(mail);
    return complaint && { complaint, copy: readOwnCopy(mail) };
  }
  const report = await readDmarcMail(bytes, mail);
  return report && summarizeReport(report);
}

serveJobs(read);
