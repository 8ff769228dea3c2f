// Messages and signing keys on their way to another thread. Bytes that lie alone in their memory are
// handed over, others copied. Each key is sent once, under a number, and named by it from then on: one
// side of a channel numbers them, the other remembers.

import type { KeyObject } from 'node:crypto';
import { countBytes } from '../smtp/transaction.ts';
import type { SigningKey } from './dkim-key.ts';
import type { ComposeRequest } from './input.ts';
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

/** The other side forgets all keys when it has so many; those in use are sent again. */
const mostKeys = 2_000;

type NumberedKey = Omit<SigningKey, 'privateKey'> & { number: number };

/** A request for a thread that knows keys by number. */
export interface NumberedRequest extends Omit<ComposeRequest, 'keys'> {
  keys: readonly NumberedKey[];
}

export type KeyOrder = { kind: 'key'; number: number; key: KeyObject } | { kind: 'forget-keys' };

/** The side that has the keys. */
export class KeyNumbers {
  readonly #tell: (order: KeyOrder) => void;
  readonly #numbers = new Map<KeyObject, number>();

  /** `tell` brings an order to the other side, before whatever is sent after it. */
  constructor(tell: (order: KeyOrder) => void) {
    this.#tell = tell;
  }

  /** To be called before each order with requests: only between orders may the other side forget. */
  startOrder(): void {
    if (this.#numbers.size <= mostKeys) return;
    this.#numbers.clear();
    this.#tell({ kind: 'forget-keys' });
  }

  numbered({ input, keys, timestampSeconds }: ComposeRequest): NumberedRequest {
    const numberedKeys = keys.map(({ domain, selector, algorithm, privateKey }) => {
      return { domain, selector, algorithm, number: this.#numberOf(privateKey) };
    });
    return { input, keys: numberedKeys, timestampSeconds };
  }

  #numberOf(key: KeyObject): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(key, number);
    this.#tell({ kind: 'key', number, key });
    return number;
  }
}

/** The side that was told. */
export class NumberedKeys {
  readonly #keys = new Map<number, KeyObject>();

  take(order: KeyOrder): void {
    if (order.kind === 'forget-keys') this.#keys.clear();
    else this.#keys.set(order.number, order.key);
  }

  /** The request with its keys. Throws where one was never sent. */
  requestOf({ input, keys, timestampSeconds }: NumberedRequest): ComposeRequest {
    const signingKeys = keys.map(({ number, ...key }) => {
      const privateKey = this.#keys.get(number);
      if (!privateKey) throw new Error(`key ${number} was never sent`);
      return { ...key, privateKey };
    });
    return { input, keys: signingKeys, timestampSeconds };
  }
}
