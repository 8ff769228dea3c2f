// The thread of composer.ts: composes and signs a batch of messages without attachments at a time. Each
// key is sent once, under a number. The bytes of a batch go back in one buffer, which is handed over.
import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { SigningKey } from '../../domains/signing-keys.ts';
import type { ComposeInput } from './input.ts';
import { composeLean } from './lean.ts';
import { type SignedMessage, signMessage } from './sign.ts';
import { signNow } from './sign-text.ts';

type NumberedKey = Omit<SigningKey, 'privateKey'> & { number: number };

export interface ComposeJob {
  input: ComposeInput;
  keys: readonly NumberedKey[];
  timestampSeconds: number;
}

export type ComposeOrder =
  | { kind: 'keys'; keys: ReadonlyMap<number, KeyObject> }
  | { kind: 'forget' }
  | { kind: 'compose'; batch: number; jobs: readonly ComposeJob[] };

/** Where in `bytes` a message lies: signatures, header, body. */
export interface MadeMessage extends Omit<SignedMessage, 'data'> {
  start: number;
  end: number;
}

/** One message per job; null where it cannot be composed or signed. */
export interface ComposeReply {
  batch: number;
  bytes: ArrayBuffer;
  messages: (MadeMessage | null)[];
}

const keys = new Map<number, KeyObject>();

/** Waits for no event: orders that follow find no batch half made. */
async function make(job: ComposeJob): Promise<SignedMessage | null> {
  try {
    const signingKeys = job.keys.map(({ number, ...key }) => {
      const privateKey = keys.get(number);
      if (!privateKey) throw new Error(`key ${number} was never sent`);
      return { ...key, privateKey };
    });
    return await signMessage(composeLean(job.input), signingKeys, job.timestampSeconds, signNow);
  } catch {
    // composer.ts tries again, and tells.
    return null;
  }
}

function packed(batch: number, made: readonly (SignedMessage | null)[]): ComposeReply {
  const parts = made.flatMap((one) => one?.data ?? []);
  const bytes = new ArrayBuffer(parts.reduce((sum, part) => sum + part.length, 0));
  const all = Buffer.from(bytes);
  let at = 0;
  const messages = made.map((one) => {
    if (!one) return null;
    const start = at;
    for (const part of one.data) at += part.copy(all, at);
    return { start, end: at, smtpUtf8: one.smtpUtf8, eightBit: one.eightBit };
  });
  return { batch, bytes, messages };
}

parentPort?.on('message', async (order: ComposeOrder) => {
  if (order.kind === 'forget') keys.clear();
  if (order.kind === 'keys') for (const [number, key] of order.keys) keys.set(number, key);
  if (order.kind !== 'compose') return;
  const made: (SignedMessage | null)[] = [];
  for (const job of order.jobs) made.push(await make(job));
  const reply = packed(order.batch, made);
  parentPort?.postMessage(reply, [reply.bytes]);
});
