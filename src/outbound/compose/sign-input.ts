// What `crypto.sign` is given for a DKIM algorithm; alone, so that the signing thread loads nothing else.
import { hash } from 'node:crypto';
import type { DkimAlgorithm } from '../../domains/dkim-key.ts';

/** RFC 8463 3: the message that Ed25519 signs is the SHA-256 of the header. */
export function toBeSigned(
  algorithm: DkimAlgorithm,
  text: string,
): { digest: string | null; bytes: Buffer } {
  const bytes = Buffer.from(text, 'utf8');
  if (algorithm === 'rsa-sha256') return { digest: 'sha256', bytes };
  return { digest: null, bytes: hash('sha256', bytes, 'buffer') };
}
