// Keys and the time of signatures in tests. A file of its own: making an RSA key costs more than
// most tests.
import { generateKeyPairSync } from 'node:crypto';
import type { SigningKey } from '../../../src/mail/mime/dkim/dkim-key.ts';

/** Time of the signatures. */
export const timestampSeconds = 1_763_692_020;

export const rsaKey: SigningKey = {
  domain: 'sandbox.test',
  selector: 'r1',
  algorithm: 'rsa-sha256',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

export const ed25519Key = (domain = 'sandbox.test'): SigningKey => ({
  domain,
  selector: 'e1',
  algorithm: 'ed25519-sha256',
  privateKey: generateKeyPairSync('ed25519').privateKey,
});
