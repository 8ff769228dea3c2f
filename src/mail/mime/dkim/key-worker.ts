// The thread of dkim-key.ts: generates an RSA key pair and ends. It uses none of libuv's four
// threads: every sync of the store needs one.
import { generateKeyPairSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

/** Both halves of a key pair, as PEM. */
export interface MadePair {
  privateKeyPem: string;
  publicKeyPem: string;
}

const { bits } = workerData as { bits: number };
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
parentPort?.postMessage({
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
} satisfies MadePair);
