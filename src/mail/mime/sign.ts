// DKIM signatures (RFC 6376, RFC 8463) over a composed message: relaxed/relaxed, one body hash for all keys.
// Written here for speed: nodemailer's signer parses the whole message again for every key. RSA takes 0.3 ms
// of a core; Ed25519 a tenth of that, less than the transfer to another thread. The domains area owns the
// keys of a domain and their publication.
import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { DkimAlgorithm, SigningKey } from './dkim-key.ts';
import type { HeaderField } from './header-encoding.ts';
import type { Composed } from './input.ts';
import { bodyHash } from './sign-body.ts';

/** Signs a text and returns base64; throws or rejects if the key cannot sign. */
type SignText = (
  algorithm: DkimAlgorithm,
  text: string,
  key: KeyObject,
) => string | Promise<string>;

/** Returns the bytes to sign. RFC 8463 3: Ed25519 signs the SHA-256 of the header. */
function toBeSigned(
  algorithm: DkimAlgorithm,
  text: string,
): { digest: string | null; bytes: Buffer } {
  const bytes = Buffer.from(text, 'utf8');
  if (algorithm === 'rsa-sha256') return { digest: 'sha256', bytes };
  return { digest: null, bytes: hash('sha256', bytes, 'buffer') };
}

const signInBackground = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign);

/** Signs on libuv's threads, so that the event loop continues. */
const signOnThread: SignText = async (algorithm, text, key) => {
  const { digest, bytes } = toBeSigned(algorithm, text);
  return (await signInBackground(digest, bytes, key)).toString('base64');
};

/** Signs on this thread. */
export const signNow: SignText = (algorithm, text, key) => {
  const { digest, bytes } = toBeSigned(algorithm, text);
  return sign(digest, bytes, key).toString('base64');
};

/** Signs Ed25519 on this thread and RSA on libuv's. */
export const signHere: SignText = (algorithm, text, key) =>
  (algorithm === 'ed25519-sha256' ? signNow : signOnThread)(algorithm, text, key);

const verifyInBackground = promisify<string | null, Uint8Array, KeyObject, Uint8Array, boolean>(
  verify,
);

/** Verifies a signature of the text, on libuv's threads. */
export async function isSignatureOf(
  algorithm: DkimAlgorithm,
  text: string,
  key: KeyObject,
  signature: Uint8Array,
): Promise<boolean> {
  const { digest, bytes } = toBeSigned(algorithm, text);
  return verifyInBackground(digest, bytes, key, signature);
}

/**
 * Returns the value of a field in relaxed form (RFC 6376 3.4.2). Signing and verification share it, because
 * both must write the same bytes; folds are CRLF.
 */
export function relaxedValue(value: string): string {
  if (!/[\r\t]| {2}|^ | $/.test(value)) return value;
  return value
    .replaceAll('\r\n', '')
    .replace(/[\t ]+/g, ' ')
    .replace(/^ | $/g, '');
}

const keyTypes: Record<DkimAlgorithm, string> = {
  'rsa-sha256': 'rsa',
  'ed25519-sha256': 'ed25519',
};

const signedNames = new Set([
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'list-unsubscribe',
  'list-unsubscribe-post',
]);

interface SignedHeader {
  /** Value of `h=`; `From` is listed once more than it occurs, so that another cannot be added (8.15). */
  names: string;
  /** Fields in relaxed form (3.4.2), each ended by CRLF. */
  canonical: string;
}

/**
 * Selects the signed fields in reverse order, since verifiers take repeated fields from the bottom up
 * (5.4.2).
 */
function signedHeader(fields: readonly HeaderField[]): SignedHeader {
  let names = '';
  let canonical = '';
  for (const field of fields.toReversed()) {
    const lowerName = field.name.toLowerCase();
    if (!signedNames.has(lowerName)) continue;
    names += `${field.name}:`;
    canonical += `${lowerName}:${relaxedValue(field.value)}\r\n`;
  }
  return { names: `${names}From`, canonical };
}

function checkKey({ algorithm, privateKey, selector, domain }: SigningKey): void {
  if (privateKey.asymmetricKeyType !== keyTypes[algorithm]) {
    throw new TypeError(`DKIM key ${selector}._domainkey.${domain} is not ${algorithm}`);
  }
}

/** Folds behind colons; every signed name is far shorter than a line. */
function foldNames(names: string): string {
  let folded = '';
  let rest = names;
  while (rest.length > 72) {
    const cut = rest.lastIndexOf(':', 71) + 1;
    folded += `${rest.slice(0, cut)}\r\n  `;
    rest = rest.slice(cut);
  }
  return folded + rest;
}

async function signatureField(
  signText: SignText,
  header: SignedHeader,
  bh: string,
  key: SigningKey,
  timestampSeconds: number,
): Promise<string> {
  checkKey(key);
  const names = foldNames(header.names);
  const unsigned =
    `v=1; a=${key.algorithm}; c=relaxed/relaxed; d=${key.domain};\r\n` +
    ` s=${key.selector}; t=${timestampSeconds};\r\n h=${names};\r\n bh=${bh};\r\n b=`;
  const text = `${header.canonical}dkim-signature:${relaxedValue(unsigned)}`;
  const b = await signText(key.algorithm, text, key.privateKey);
  return `DKIM-Signature: ${unsigned}${b.replace(/.{72}(?=.)/g, '$&\r\n  ')}\r\n`;
}

/**
 * Builds one DKIM-Signature field per key, in the order of the keys, each ended by CRLF; they go in front of
 * `composed.header`. Without keys the result is empty. Rejects if a key does not fit its algorithm.
 */
export async function signatureFields(
  { fields, body }: Pick<Composed, 'fields' | 'body'>,
  keys: readonly SigningKey[],
  timestampSeconds: number,
  signText: SignText,
): Promise<Buffer> {
  if (keys.length === 0) return Buffer.alloc(0);
  const bh = await bodyHash(body);
  const header = signedHeader(fields);
  const signatures = await Promise.all(
    keys.map((key) => signatureField(signText, header, bh, key, timestampSeconds)),
  );
  return Buffer.from(signatures.join(''), 'latin1');
}

/** A message as sent on the wire, in pieces, and its demands on the next hop. */
export interface SignedMessage extends Pick<Composed, 'smtpUtf8' | 'eightBit'> {
  /** Signatures, header and body: CRLF line ends, not yet dot-stuffed. */
  data: Buffer[];
  /** Offset of the header, behind the signatures. */
  headerAt: number;
}

/** Puts signatures in front of the composed message; rejects like `signatureFields`. */
export async function signMessage(
  composed: Composed,
  keys: readonly SigningKey[],
  timestampSeconds: number,
  signText: SignText,
): Promise<SignedMessage> {
  const { header, body, smtpUtf8, eightBit } = composed;
  const signatures = await signatureFields(composed, keys, timestampSeconds, signText);
  const data = [signatures, header, body].filter((part) => part.length > 0);
  return { data, headerAt: signatures.length, smtpUtf8, eightBit };
}
