// Texts that lie in the row of a session, sealed by its token. The store has only the hash of the
// token, so store and root key are not enough to read the texts.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '../../platform/runtime/random.ts';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

const keyOf = (token: string, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', token, '', purpose, 32));

/** Returns a text that only the token opens again, for the same purpose. */
export function seal(random: Random, token: string, purpose: string, text: string): string {
  const iv = random.bytes(ivBytes);
  const sealing = createCipheriv(cipher, keyOf(token, purpose), iv);
  const body = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return Buffer.concat([iv, body, sealing.getAuthTag()]).toString('base64');
}

/** Opens a sealed text. @throws Error for a different token or purpose */
export function unseal(token: string, purpose: string, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const [from, to] = [ivBytes, bytes.length - tagBytes];
  const opening = createDecipheriv(cipher, keyOf(token, purpose), bytes.subarray(0, from));
  opening.setAuthTag(bytes.subarray(to));
  return opening.update(bytes.subarray(from, to), undefined, 'utf8') + opening.final('utf8');
}
