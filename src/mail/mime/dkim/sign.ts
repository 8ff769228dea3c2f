// DKIM signatures (RFC 6376, RFC 8463) over a composed message: relaxed/relaxed, a single body hash
// for all keys. Written here for speed: nodemailer's signer parses the whole message again for
// every key. RSA takes 0.3 ms of a core. Ed25519 takes a tenth, less than a transfer to a worker.
// src/identity/domains stores and publishes the keys of a domain.
import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { HeaderField } from '../headers/header-encoding.ts';
import type { Composed } from '../input.ts';
import type { DkimAlgorithm, SigningKey } from './dkim-key.ts';
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

/** Signs on libuv's threads, which does not block the event loop. */
const signOnThread: SignText = async (algorithm, text, key) => {
  const { digest, bytes } = toBeSigned(algorithm, text);
  return (await signInBackground(digest, bytes, key)).toString('base64');
};

/** Signs on the calling thread, which RSA blocks for 0.3 ms. */
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

/** Tells whether this is a signature of the text; verifies on libuv's threads. */
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
 * Returns the value of a field in relaxed form (RFC 6376 3.4.2). Signing and verification share it,
 * because both need the same bytes. Folds must be CRLF.
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

/** Fields that a mail has at most once (RFC 5322 3.6, RFC 2045 3), in the order of `h=`. */
const singletons = [
  ...['From', 'Sender', 'Reply-To', 'To', 'Cc', 'Bcc', 'Subject', 'Date', 'Message-ID'],
  ...['In-Reply-To', 'References', 'MIME-Version', 'Content-Type', 'Content-Transfer-Encoding'],
];

/**
 * Fields of mailing lists and feedback loops. Signed only if present: a list adds missing fields.
 */
const listFields = [
  ...['list-id', 'list-unsubscribe', 'list-unsubscribe-post', 'list-help', 'list-owner'],
  ...['list-post', 'list-subscribe', 'list-archive', 'feedback-id'],
];

const sealedWhereMissing = new Set(singletons.map((name) => name.toLowerCase()));
const sealedWherePresent = new Set(listFields);

/** Breaks names joined by colons into lines of at most 72 characters. Every name is shorter. */
function linesOfNames(names: string): string[] {
  const lines: string[] = [];
  let rest = names;
  while (rest.length > 72) {
    const cut = rest.lastIndexOf(':', 71) + 1;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...lines, rest];
}

/** End of each `h=`, which is the same in all signatures. */
const singletonLines = linesOfNames(singletons.join(':'));

interface SignedHeader {
  /**
   * Value of `h=` in lines. It names each singleton, and each field of `listFields` that occurs,
   * once more than it occurs: a field added in front then breaks the signature (RFC 6376 8.15).
   */
  names: string[];
  /** Fields in relaxed form (3.4.2), each ended by CRLF. */
  canonical: string;
}

/**
 * Selects the signed fields in reverse order, because verifiers read repeated fields from the
 * bottom up (5.4.2).
 */
function signedHeader(fields: readonly HeaderField[]): SignedHeader {
  let names = '';
  let sealed = '';
  let canonical = '';
  for (let at = fields.length - 1; at >= 0; at -= 1) {
    const { name, value } = fields[at] as HeaderField;
    const lowerName = name.toLowerCase();
    const isList = sealedWherePresent.has(lowerName);
    if (!isList && !sealedWhereMissing.has(lowerName)) continue;
    names += `${name}:`;
    if (isList) sealed += `${name}:`;
    canonical += `${lowerName}:${relaxedValue(value)}\r\n`;
  }
  return { names: [...linesOfNames(names + sealed), ...singletonLines], canonical };
}

function checkKey({ algorithm, privateKey, selector, domain }: SigningKey): void {
  if (privateKey.asymmetricKeyType !== keyTypes[algorithm]) {
    throw new TypeError(`DKIM key ${selector}._domainkey.${domain} is not ${algorithm}`);
  }
}

async function signatureField(
  signText: SignText,
  { names, canonical }: SignedHeader,
  bh: string,
  key: SigningKey,
  timestampSeconds: number,
): Promise<string> {
  checkKey(key);
  // Returns the value up to `b=`, folded or in relaxed form. Building the relaxed form costs a
  // tenth of `relaxedValue`.
  const unsigned = (fold: string, foldOfNames: string) =>
    `v=1; a=${key.algorithm}; c=relaxed/relaxed; d=${key.domain};${fold}` +
    `s=${key.selector}; t=${timestampSeconds};${fold}h=${names.join(foldOfNames)};${fold}` +
    `bh=${bh};${fold}b=`;
  const text = `${canonical}dkim-signature:${unsigned(' ', ' ')}`;
  const b = await signText(key.algorithm, text, key.privateKey);
  const folded = b.replace(/.{72}(?=.)/g, '$&\r\n  ');
  return `DKIM-Signature: ${unsigned('\r\n ', '\r\n  ')}${folded}\r\n`;
}

/**
 * Builds a DKIM-Signature field per key, in the order of the keys, each ended by CRLF. The caller
 * puts them in front of `composed.header`. Without keys the result is empty. Rejects if a key does
 * not fit the algorithm.
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

/** A message as sent, in pieces, with the extensions that the next server must have. */
export interface SignedMessage extends Pick<Composed, 'smtpUtf8' | 'eightBit'> {
  /** Signatures, header and body: CRLF line ends, not yet dot-stuffed. */
  data: Buffer[];
  /** Offset of the header, which begins after the signatures. */
  headerAt: number;
  /**
   * Encodes and signs the message for a server without 8BITMIME; resolves to null if it cannot be
   * encoded. Set only for raw mail with 8-bit parts, and never passed to a different thread.
   */
  sevenBit?: () => Promise<SignedMessage | null>;
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
