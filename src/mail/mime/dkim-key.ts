// Generates DKIM keys and the record values that publish them (RFC 6376 3.6.1, RFC 8463). Signing is in
// sign.ts.
import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { MadePair } from './key-worker.ts';

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A private key with the names under which sign.ts signs. */
export interface SigningKey {
  domain: string;
  selector: string;
  algorithm: DkimAlgorithm;
  privateKey: KeyObject;
}

export interface DkimKeyPair {
  /** PKCS#8. */
  privateKeyPem: string;
  /** The value of `p=`. */
  publicKey: string;
}

const rsaBits = 2048;
const ed25519Octets = 32;

const generate = promisify(generateKeyPair);

/** Generates a key pair; RSA-2048 takes about 100 ms, on a thread of its own (key-worker.ts). */
export function generateDkimKey(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  return algorithm === 'rsa-sha256' ? generateRsa() : generateEd25519();
}

async function generateRsa(): Promise<DkimKeyPair> {
  const worker = new Worker(new URL('./key-worker.ts', import.meta.url), {
    execArgv: [],
    workerData: { bits: rsaBits },
  });
  const [{ privateKeyPem, publicKeyPem }] = (await once(worker, 'message')) as [MadePair];
  const spki = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' });
  return { privateKeyPem, publicKey: spki.toString('base64') };
}

/** Generates an Ed25519 key pair; takes about 50 µs. */
async function generateEd25519(): Promise<DkimKeyPair> {
  const { privateKey, publicKey } = await generate('ed25519', {});
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    // RFC 8463 4 publishes the bare octets, which end the SPKI structure.
    publicKey: spki.subarray(-ed25519Octets).toString('base64'),
  };
}

/** Prefix of the bare octets of an Ed25519 key in its SPKI structure (RFC 8410 4). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Parses a value of `p=` made by `generateDkimKey`. */
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

/** Returns the selector for the nth generation of a domain's keys: `svc2rsa`, `svc2ed`. */
export function selectorOf(generation: number, algorithm: DkimAlgorithm): string {
  return `svc${generation}${algorithm === 'rsa-sha256' ? 'rsa' : 'ed'}`;
}

/**
 * Returns the reason why a published TXT value does not carry the key, or null if it does. Ignores white
 * space.
 */
export function dkimRecordProblem(
  text: string,
  algorithm: DkimAlgorithm,
  publicKey: string,
): string | null {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const key = tags.get('p')?.replace(/\s/g, '');
  if (key === undefined) return 'the record has no p= tag';
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1') return 'the record is not v=DKIM1';
  if ((tags.get('k') ?? 'rsa') !== publishedType[algorithm]) {
    return `the record is not of type k=${publishedType[algorithm]}`;
  }
  if (key === '') return 'the record revokes the key (empty p=)';
  return key === publicKey ? null : 'the record publishes another key';
}
