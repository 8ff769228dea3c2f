// Tokens of links and sessions: 256 random bits for the holder, and a hash for the store.
import { createHash } from 'node:crypto';
import type { Random } from './random.ts';

const tokenBytes = 32;

/** Returns a new token, in 43 characters of base64url. */
export function newToken(random: Random): string {
  return Buffer.from(random.bytes(tokenBytes)).toString('base64url');
}

/** Returns the SHA-256 of a token in hex, which the store has in place of the token. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
