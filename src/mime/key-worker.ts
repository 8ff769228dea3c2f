// The thread of dkim-key.ts: makes one RSA key pair and ends. On a thread of its own, not of libuv's: its
// four are what every sync of the store waits for.
import { generateKeyPairSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

/** Both halves as PEM. */
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
