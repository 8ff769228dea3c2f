// Generates DKIM keys and the record values that publish them (RFC 6376 3.6.1, RFC 8463). Signing
// is in sign.ts.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { WorkerThread } from '../../../platform/runtime/workers/worker-thread.ts';
import type { MadePair } from './key-worker.ts';

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A private key, with the domain (`d=`) and the selector (`s=`) of the signatures. */
export interface SigningKey {
  domain: string;
  selector: string;
  algorithm: DkimAlgorithm;
  privateKey: KeyObject;
}

export interface DkimKeyPair {
  /** Private key as PKCS#8 in PEM. */
  privateKeyPem: string;
  /** Public key in base64, as in `p=` of the record. */
  publicKey: string;
}

const rsaBits = 2048;
const ed25519Octets = 32;

const generate = promisify(generateKeyPair);

/** Generates a key pair; RSA-2048 takes about 100 ms, on a separate thread (key-worker.ts). */
export function generateDkimKey(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  return algorithm === 'rsa-sha256' ? generateRsa() : generateEd25519();
}

async function generateRsa(): Promise<DkimKeyPair> {
  const { privateKeyPem, publicKeyPem } = await new Promise<MadePair>((resolve, reject) => {
    new WorkerThread<never, MadePair>({
      script: new URL('./key-worker.ts', import.meta.url),
      name: 'key',
      data: { bits: rsaBits },
      onReport: resolve,
      onEnd: (error) => reject(error ?? new Error('the thread made no key')),
    });
  });
  return { privateKeyPem, publicKey: publicKeyOf(createPublicKey(publicKeyPem), 'rsa-sha256') };
}

/** Generates an Ed25519 key pair; takes about 50 µs. */
async function generateEd25519(): Promise<DkimKeyPair> {
  const { privateKey, publicKey } = await generate('ed25519', {});
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKeyOf(publicKey, 'ed25519-sha256'),
  };
}

/** Bytes before the raw Ed25519 key in the SPKI structure (RFC 8410 4). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Parses a value of `p=` as `generateDkimKey` makes it. */
export function parsePublicKey(algorithm: DkimAlgorithm, publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, 'base64');
  const key = algorithm === 'rsa-sha256' ? bytes : Buffer.concat([ed25519Prefix, bytes]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

const publishedType: Record<DkimAlgorithm, string> = {
  'rsa-sha256': 'rsa',
  'ed25519-sha256': 'ed25519',
};

/** Returns the TXT value for `<selector>._domainkey.<domain>`. */
export function dkimRecordValue(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${publishedType[algorithm]}; p=${publicKey}`;
}

/**
 * Returns the selector of the nth generation of a domain's keys, such as `svc2rsa` or `svc2ed`. A
 * text as `generation` is a name that the owner chose, and gets the same suffix.
 */
export function selectorOf(generation: number | string, algorithm: DkimAlgorithm): string {
  const name = typeof generation === 'number' ? `svc${generation}` : generation;
  return `${name}${algorithm === 'rsa-sha256' ? 'rsa' : 'ed'}`;
}

/** Bits of RSA keys that receivers accept (RFC 8301 3.2). */
const importedBits = { least: 1024, most: 4096 };

/**
 * Reads a private key in PEM, RSA or Ed25519. Never throws: for other texts it returns a problem.
 */
export function readDkimPrivateKey(
  pem: string,
): (DkimKeyPair & { algorithm: DkimAlgorithm }) | { problem: string } {
  if (/ENCRYPTED/.test(pem)) {
    return { problem: 'is protected by a passphrase: remove it first, with openssl pkey' };
  }
  if (/PUBLIC KEY/.test(pem) && !/PRIVATE KEY/.test(pem)) {
    return { problem: 'is only the public half of the key' };
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return { problem: 'is not a private key in PEM' };
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const algorithm = type === 'rsa' ? 'rsa-sha256' : type === 'ed25519' ? 'ed25519-sha256' : null;
  if (algorithm === null) {
    return { problem: `is a key of the type ${type}: DKIM signs with RSA or Ed25519` };
  }
  const { least, most } = importedBits;
  const bits = details?.modulusLength ?? least;
  if (bits < least || bits > most) {
    return { problem: `has ${bits} bits: receivers accept ${least} to ${most}` };
  }
  if (!signsWell(key)) return { problem: 'is damaged: its signatures do not verify' };
  const privateKeyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { algorithm, privateKeyPem, publicKey: publicKeyOf(createPublicKey(key), algorithm) };
}

/**
 * Returns the value of `p=`. For Ed25519 it has the raw key alone (RFC 8463 4): the last bytes of
 * the SPKI structure.
 */
function publicKeyOf(key: KeyObject, algorithm: DkimAlgorithm): string {
  const spki = key.export({ type: 'spki', format: 'der' });
  return (algorithm === 'rsa-sha256' ? spki : spki.subarray(-ed25519Octets)).toString('base64');
}

function signsWell(key: KeyObject): boolean {
  const digest = key.asymmetricKeyType === 'rsa' ? 'sha256' : null;
  const text = Buffer.from('svc');
  try {
    return verify(digest, text, createPublicKey(key), sign(digest, text, key));
  } catch {
    return false;
  }
}

/** Tags that are read from a published key (RFC 6376 3.6.1); `p` and `t` have no white space. */
export interface DkimRecord {
  v?: string;
  k?: string;
  p?: string;
  t?: string;
}

/**
 * Reads a TXT value as a published key. Never throws: for other texts it returns no tags.
 */
export function readDkimRecord(text: string): DkimRecord {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const [v, k, p, t] = ['v', 'k', 'p', 't'].map((name) => tags.get(name));
  return {
    ...(v !== undefined && { v }),
    ...(k !== undefined && { k }),
    ...(p !== undefined && { p: p.replace(/\s/g, '') }),
    ...(t !== undefined && { t: t.replace(/\s/g, '') }),
  };
}

/**
 * Returns the reason why a published TXT value does not contain the key; null if it does. Ignores
 * white space.
 */
export function dkimRecordProblem(
  text: string,
  algorithm: DkimAlgorithm,
  publicKey: string,
): string | null {
  const { v = 'DKIM1', k = 'rsa', p: key } = readDkimRecord(text);
  if (key === undefined) return 'the record has no p= tag';
  if (v !== 'DKIM1') return 'the record is not v=DKIM1';
  if (k !== publishedType[algorithm]) {
    return `the record is not of type k=${publishedType[algorithm]}`;
  }
  if (key === '') return 'the record revokes the key (empty p=)';
  return key === publicKey ? null : 'the record publishes another key';
}
