// The thread of composer.ts: composes and signs a batch of messages without attachments at a time. Each
// key is sent once, under a number. The bytes of each go back in a buffer of their own, which is handed over.
import { parentPort } from 'node:worker_threads';
import {
  handedOver,
  inOnePiece,
  type KeyOrder,
  NumberedKeys,
  type NumberedRequest,
} from './handover.ts';
import { composeLean } from './lean.ts';
import { composeRaw } from './raw-mail.ts';
import { type SignedMessage, signMessage, signNow } from './sign.ts';

export type ComposeOrder =
  | KeyOrder
  | { kind: 'compose'; batch: number; requests: readonly NumberedRequest[] };

/** One message per request, in one piece; null where it cannot be composed or signed. */
export interface ComposeReply {
  batch: number;
  messages: (SignedMessage | null)[];
}

const known = new NumberedKeys();

/** Waits for no event: orders that follow find no batch half made. */
async function make(request: NumberedRequest): Promise<SignedMessage | null> {
  try {
    const { input, keys, timestampSeconds } = known.requestOf(request);
    const composed = 'raw' in input ? composeRaw(input) : composeLean(input);
    return inOnePiece(await signMessage(composed, keys, timestampSeconds, signNow));
  } catch {
    // composer.ts tries again, and tells.
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
