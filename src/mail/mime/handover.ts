// Passes messages and signing keys to a worker thread. A buffer that owns its whole memory is
// transferred, any further bytes are copied. Each key is sent once, with a number. The sender
// numbers the keys, the receiver keeps them.

import type { KeyObject } from 'node:crypto';
import { countBytes } from '../smtp/session/transaction.ts';
import type { SigningKey } from './dkim/dkim-key.ts';
import type { SignedMessage } from './dkim/sign.ts';
import type { ComposeRequest } from './input.ts';

/** Copies the message into a single buffer that owns its memory. */
export function inOnePiece({ data, ...needs }: SignedMessage): SignedMessage {
  const piece = Buffer.from(new ArrayBuffer(countBytes(data)));
  let at = 0;
  for (const part of data) at += part.copy(piece, at);
  return { data: [piece], ...needs };
}

/** Returns the buffers that `postMessage` may transfer; the sender then loses them. */
export function handedOver({ data }: SignedMessage): ArrayBuffer[] {
  const owned: ArrayBuffer[] = [];
  for (const { buffer, byteLength } of data) {
    const isAlone = byteLength > 0 && byteLength === buffer.byteLength;
    if (isAlone && buffer instanceof ArrayBuffer) owned.push(buffer);
  }
  return owned;
}

/** Restores a Buffer from another thread: `postMessage` delivers it as a plain Uint8Array. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Returns the message with the received bytes as Buffers. */
export function arrived({ data, ...needs }: SignedMessage): SignedMessage {
  return { data: data.map(asBuffer), ...needs };
}

/** Number of keys above which the receiver forgets all keys. Needed keys are then sent again. */
const mostKeys = 2_000;

type NumberedKey = Omit<SigningKey, 'privateKey'> & { number: number };

/** A request for a thread that knows keys by number. */
export interface NumberedRequest extends Omit<ComposeRequest, 'keys'> {
  keys: readonly NumberedKey[];
}

export type KeyOrder = { kind: 'key'; number: number; key: KeyObject } | { kind: 'forget-keys' };

/** The sending side: numbers keys and sends each once. */
export class KeyNumbers {
  readonly #tell: (order: KeyOrder) => void;
  readonly #numbers = new Map<KeyObject, number>();

  /**
   * `tell` sends an order to the receiver, which must get all orders in the sequence of the calls.
   */
  constructor(tell: (order: KeyOrder) => void) {
    this.#tell = tell;
  }

  /**
   * Prepares an order with requests. Call it before each order: the receiver may forget keys only
   * between orders.
   */
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

/** The receiving side: keeps keys by number. */
export class NumberedKeys {
  readonly #keys = new Map<number, KeyObject>();

  take(order: KeyOrder): void {
    if (order.kind === 'forget-keys') this.#keys.clear();
    else this.#keys.set(order.number, order.key);
  }

  /** Returns the request with the keys. Throws if a key was never sent. */
  requestOf({ input, keys, timestampSeconds }: NumberedRequest): ComposeRequest {
    const signingKeys = keys.map(({ number, ...key }) => {
      const privateKey = this.#keys.get(number);
      if (!privateKey) throw new Error(`key ${number} was never sent`);
      return { ...key, privateKey };
    });
    return { input, keys: signingKeys, timestampSeconds };
  }
}
