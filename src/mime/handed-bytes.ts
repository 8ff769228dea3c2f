// Bytes of messages on their way to another thread: those that lie alone in their memory are handed over,
// others copied.
import { countBytes } from '../smtp/envelope.ts';
import type { SignedMessage } from './sign.ts';

/** The same bytes in memory where nothing else lies. */
export function inOnePiece({ data, ...needs }: SignedMessage): SignedMessage {
  const piece = Buffer.from(new ArrayBuffer(countBytes(data)));
  let at = 0;
  for (const part of data) at += part.copy(piece, at);
  return { data: [piece], ...needs };
}

/** What `postMessage` may hand over of it: the sender has it no more. */
export function handedOver({ data }: SignedMessage): ArrayBuffer[] {
  const owned: ArrayBuffer[] = [];
  for (const { buffer, byteLength } of data) {
    const isAlone = byteLength > 0 && byteLength === buffer.byteLength;
    if (isAlone && buffer instanceof ArrayBuffer) owned.push(buffer);
  }
  return owned;
}

/** A Buffer arrives as the plain array that it is made of. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The message with what arrived for its bytes. */
export function arrived({ data, ...needs }: SignedMessage): SignedMessage {
  return { data: data.map(asBuffer), ...needs };
}
