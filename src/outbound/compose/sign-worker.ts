// The thread of sign-batches.ts: signs a batch at a time. Each key is sent once, under a number.
// Texts travel as strings: a view of a buffer would take its whole pool along.
import { type KeyObject, sign } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { DkimAlgorithm } from '../../domains/dkim-key.ts';
import { toBeSigned } from './sign-input.ts';

export interface SignJob {
  key: number;
  algorithm: DkimAlgorithm;
  text: string;
}

export type SignOrder =
  | { kind: 'keys'; keys: ReadonlyMap<number, KeyObject> }
  | { kind: 'forget' }
  | { kind: 'sign'; batch: number; jobs: readonly SignJob[] };

/** One signature in base64 per job; null where a key does not do what was asked. */
export interface SignReply {
  batch: number;
  signatures: (string | null)[];
}

const keys = new Map<number, KeyObject>();

function signOne({ key, algorithm, text }: SignJob): string | null {
  const privateKey = keys.get(key);
  if (!privateKey) return null;
  const { digest, bytes } = toBeSigned(algorithm, text);
  try {
    return sign(digest, bytes, privateKey).toString('base64');
  } catch {
    return null;
  }
}

parentPort?.on('message', (order: SignOrder) => {
  if (order.kind === 'forget') keys.clear();
  if (order.kind === 'keys') for (const [number, key] of order.keys) keys.set(number, key);
  if (order.kind !== 'sign') return;
  const reply: SignReply = { batch: order.batch, signatures: order.jobs.map(signOne) };
  parentPort?.postMessage(reply);
});
