// The far end of parse.ts: one mail at a time, in a thread that may be terminated at any moment.
// Imports mailparser and its like, so that the main thread never loads them.
import { parentPort } from 'node:worker_threads';
import { parseMime } from './parse-mime.ts';
import type { ParsedMail, ParseOptions } from './parsed-mail.ts';

export interface ParseJob {
  id: number;
  raw: Uint8Array;
  options: ParseOptions;
}

/** `body` comes before `done`: the projection without the reply split, kept for the deadline. */
export type ParseReply =
  | { kind: 'ready' }
  | { kind: 'body'; id: number; mail: ParsedMail }
  | { kind: 'done'; id: number; mail: ParsedMail };

const post = (reply: ParseReply) => parentPort?.postMessage(reply);

async function run({ id, raw, options }: ParseJob): Promise<void> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const mail = await parseMime(bytes, options, (body) => post({ kind: 'body', id, mail: body }));
  post({ kind: 'done', id, mail });
}

parentPort?.on('message', (job: ParseJob) => void run(job));
post({ kind: 'ready' });
