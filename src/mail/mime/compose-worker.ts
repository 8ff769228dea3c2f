// The worker thread of composer.ts: composes and signs batches of messages without attachments.
// Each key arrives once, under a number. Each message is returned in a separate buffer, which is
// transferred.
import { parentPort } from 'node:worker_threads';
import { type SignedMessage, signMessage, signNow } from './dkim/sign.ts';
import {
  handedOver,
  inOnePiece,
  type KeyOrder,
  NumberedKeys,
  type NumberedRequest,
} from './handover.ts';
import { composeLean } from './lean.ts';
import { composeRaw } from './raw-mail.ts';

export type ComposeOrder =
  | KeyOrder
  | { kind: 'compose'; batch: number; requests: readonly NumberedRequest[] };

/**
 * Reply to a batch: a message for each request, in a single buffer; null if it cannot be composed
 * or signed.
 */
export interface ComposeReply {
  batch: number;
  messages: (SignedMessage | null)[];
}

const known = new NumberedKeys();

/**
 * Composes and signs a message; returns null if that fails. Never waits for I/O, so the worker
 * reads the next order after the whole batch.
 */
async function make(request: NumberedRequest): Promise<SignedMessage | null> {
  try {
    const { input, keys, timestampSeconds } = known.requestOf(request);
    const composed = 'raw' in input ? composeRaw(input) : composeLean(input);
    return inOnePiece(await signMessage(composed, keys, timestampSeconds, signNow));
  } catch {
    // composer.ts composes the message again and reports the error.
    return null;
  }
}

parentPort?.on('message', async (order: ComposeOrder) => {
  if (order.kind !== 'compose') return known.take(order);
  const messages: ComposeReply['messages'] = [];
  for (const request of order.requests) messages.push(await make(request));
  const bytes = messages.flatMap((one) => (one ? handedOver(one) : []));
  parentPort?.postMessage({ batch: order.batch, messages } satisfies ComposeReply, bytes);
});
