// The signed head of an organization's sealed log (as RFC 9162, 4.10): the size and the root of the
// log at a time, signed by an Ed25519 key (RFC 8032). Pure.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** Bytes of a raw public key. */
const keyBytes = 32;
const idDigits = 16;
/** The bytes before a raw Ed25519 key in the SubjectPublicKeyInfo (RFC 8410). */
const spkiStart = Buffer.from('302a300506032b6570032100', 'hex');

/** A signed head, as receipts and anchors show it. */
export interface SignedHead {
  /** Number of sealed events. */
  size: number;
  /** Root of the tree in hex. */
  root: string;
  /** Time of the signature, ISO 8601 in UTC. */
  at: string;
  /** Signature in base64. */
  signature: string;
  keyId: string;
}

/** Returns the signed text: a name and four lines, each ended by a line feed. */
function textOf(
  organizationId: string,
  { size, root, at }: Omit<SignedHead, 'signature' | 'keyId'>,
) {
  return Buffer.from(`svc-receipts-v1\n${organizationId}\n${size}\n${root}\n${at}\n`);
}

/**
 * Returns the id of a key: the first 16 hex digits of the SHA-256 of the raw public key.
 * `publicKey` is the raw key in base64.
 */
export function keyIdOf(publicKey: string): string {
  const raw = Buffer.from(publicKey, 'base64');
  return createHash('sha256').update(raw).digest('hex').slice(0, idDigits);
}

/** Generates a key pair: the raw public key in base64, the private key as PKCS #8 in base64. */
export function generateReceiptKey(): { publicKey: string; privateKey: string } {
  const pair = generateKeyPairSync('ed25519');
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
  return {
    publicKey: spki.subarray(-keyBytes).toString('base64'),
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  };
}

/** Reads a private key of `generateReceiptKey`. */
export function readPrivateKey(privateKey: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' });
}

/** Signs the head of an organization's log. */
export function signHead(
  organizationId: string,
  head: Omit<SignedHead, 'signature'>,
  key: KeyObject,
): SignedHead {
  return { ...head, signature: sign(null, textOf(organizationId, head), key).toString('base64') };
}

/** Tells whether the head was signed by this raw public key in base64. */
export function isSignedBy(organizationId: string, head: SignedHead, publicKey: string): boolean {
  return isSignature(head.signature, textOf(organizationId, head), publicKey);
}

function isSignature(signature: string, text: Buffer, publicKey: string): boolean {
  const raw = Buffer.from(publicKey, 'base64');
  if (raw.length !== keyBytes) return false;
  const key = createPublicKey({
    key: Buffer.concat([spkiStart, raw]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, text, key, Buffer.from(signature, 'base64'));
}

/** Numbers of events and recipients of a message in the log, up to a head. */
export interface MessageCounts {
  messageId: string;
  events: number;
  recipients: number;
}

type HeadPlace = Pick<SignedHead, 'size' | 'root'>;

function summaryTextOf({ messageId, events, recipients }: MessageCounts, head: HeadPlace): Buffer {
  const lines = ['svc-receipts-v2', messageId, events, recipients, head.root, head.size];
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** Signs the counts of a message; returns the signature in base64. */
export function signSummary(counts: MessageCounts, head: HeadPlace, key: KeyObject): string {
  return sign(null, summaryTextOf(counts, head), key).toString('base64');
}

/** Tells whether the counts of a message were signed by this raw public key in base64. */
export function isSummarySignedBy(
  counts: MessageCounts,
  head: HeadPlace,
  signature: string,
  publicKey: string,
): boolean {
  return isSignature(signature, summaryTextOf(counts, head), publicKey);
}
