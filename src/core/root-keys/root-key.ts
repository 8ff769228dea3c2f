// A root key, the keys derived from it, and the ciphers and MACs that use derived keys.
import {
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { keyBytes } from '../../platform/runtime/key-ring.ts';
import { encodeBase32 } from './token-text.ts';

export const ivBytes = 12;
export const tagBytes = 16;
const idBytes = 10;
/** Number of tags of `sixTags`, which use 60 of the 64 bytes of a digest. */
export const tagsPerDigest = 6;
const shortTagBytes = 10;
export const shortTagCharacters = 16;

export class RootKey {
  readonly id: string;
  readonly #master: Uint8Array;
  readonly #derived = new Map<string, KeyObject>();

  constructor(master: Uint8Array) {
    this.#master = master;
    const digest = Buffer.from(hkdfSync('sha256', master, '', 'svc v1 id', idBytes));
    this.id = encodeBase32(digest);
  }

  /**
   * Derives a key for each purpose (HKDF-SHA256, RFC 5869); purposes are constants of the program.
   */
  keyFor(purpose: string): KeyObject {
    let key = this.#derived.get(purpose);
    if (!key) {
      // Stores a key object: with bytes, Node would make a key object at each use, for four times
      // the cost of the MAC.
      key = createSecretKey(
        new Uint8Array(hkdfSync('sha256', this.#master, '', `svc v1 ${purpose}`, keyBytes)),
      );
      this.#derived.set(purpose, key);
    }
    return key;
  }
}

export function decryptWith(key: RootKey, sealed: Buffer, context: string): Buffer | null {
  if (sealed.length < ivBytes + tagBytes) return null;
  const tag = sealed.subarray(sealed.length - tagBytes);
  const decipher = createDecipheriv(
    'aes-256-gcm',
    key.keyFor('encrypt'),
    sealed.subarray(0, ivBytes),
    { authTagLength: tagBytes },
  );
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(tag);
  const body = sealed.subarray(ivBytes, sealed.length - tagBytes);
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    return null;
  }
}

export function unsealWith(key: RootKey, purpose: string, sealed: Buffer): string | null {
  const decipher = createDecipheriv(
    'aes-256-gcm',
    key.keyFor(`seal ${purpose}`),
    sealed.subarray(0, ivBytes),
    { authTagLength: tagBytes },
  );
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    const body = decipher.update(sealed.subarray(ivBytes, sealed.length - tagBytes));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

export function digestOf(key: RootKey, purpose: string, payload: string): Buffer {
  return createHmac('sha256', key.keyFor(`token ${purpose}`))
    .update(payload, 'utf8')
    .digest();
}

export function tagsOf(key: RootKey, purpose: string, payload: string): string[] {
  const digest = createHmac('sha512', key.keyFor(`tags ${purpose}`))
    .update(payload, 'utf8')
    .digest();
  const text = encodeBase32(digest.subarray(0, tagsPerDigest * shortTagBytes));
  return Array.from({ length: tagsPerDigest }, (_, at) =>
    text.slice(at * shortTagCharacters, (at + 1) * shortTagCharacters),
  );
}
