// The worker thread of dkim-key.ts: generates an RSA key pair and ends. Uses none of libuv's four
// threads, because the syncs of the store need them.
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
