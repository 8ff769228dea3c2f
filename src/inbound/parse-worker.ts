// The far end of parse.ts: one mail at a time, in a thread that may be terminated at any moment.
// Imports mailparser and its like, so that the main thread never loads them.
import { parentPort } from 'node:worker_threads';
import { readDmarcMail } from './dmarc/dmarc-mail.ts';
import { type DmarcSummary, summarizeReport } from './dmarc/dmarc-summary.ts';
import { parseMime } from './parse-mime.ts';
import type { ParsedMail, ParseOptions } from './parsed-mail.ts';

export interface ParseJob {
  id: number;
  raw: Uint8Array;
  options: ParseOptions;
  /** The projection, or the summary of the DMARC report that the mail carries. */
  wants: 'mail' | 'dmarc';
}

/** `body` comes before `done`: the projection without the reply split, kept for the deadline. */
export type ParseReply =
  | { kind: 'ready' }
  | { kind: 'body'; id: number; mail: ParsedMail }
  | { kind: 'done'; id: number; mail: ParsedMail }
  | { kind: 'dmarc'; id: number; summary: DmarcSummary | null };

const post = (reply: ParseReply) => parentPort?.postMessage(reply);

async function run({ id, raw, options, wants }: ParseJob): Promise<void> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (wants === 'dmarc') {
    const report = await readDmarcMail(bytes, await parseMime(bytes, options));
    post({ kind: 'dmarc', id, summary: report && summarizeReport(report) });
    return;
  }
  const mail = await parseMime(bytes, options, (body) => post({ kind: 'body', id, mail: body }));
  post({ kind: 'done', id, mail });
}

parentPort?.on('message', (job: ParseJob) => void run(job));
post({ kind: 'ready' });
