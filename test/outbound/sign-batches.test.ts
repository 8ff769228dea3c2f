import { createPublicKey, generateKeyPairSync, hash, type KeyObject, verify } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { DkimAlgorithm } from '../../src/domains/dkim-key.ts';
import { SignBatches } from '../../src/outbound/compose/sign-batches.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;

function isRight(algorithm: DkimAlgorithm, text: string, key: KeyObject, signature: string) {
  const bytes = Buffer.from(text);
  const publicKey = createPublicKey(key);
  const signed = Buffer.from(signature, 'base64');
  return algorithm === 'rsa-sha256'
    ? verify('sha256', bytes, publicKey, signed)
    : verify(null, hash('sha256', bytes, 'buffer'), publicKey, signed);
}

describe('SignBatches', () => {
  let batches: SignBatches;
  afterEach(() => batches.close());

  it.each([1, 3, 4, 33, 100])('signs %i at once, each with its own key and text', async (count) => {
    batches = new SignBatches();
    const wanted = Array.from({ length: count }, (_, index) => {
      const algorithm: DkimAlgorithm = index % 2 === 0 ? 'rsa-sha256' : 'ed25519-sha256';
      return {
        algorithm,
        text: `subject:grüße ${index}\r\n`,
        key: index % 2 === 0 ? rsa : ed25519,
      };
    });
    const signatures = await Promise.all(
      wanted.map(({ algorithm, text, key }) => batches.sign(algorithm, text, key)),
    );
    const checks = wanted.map(({ algorithm, text, key }, index) =>
      isRight(algorithm, text, key, signatures[index] ?? ''),
    );
    expect(checks).toEqual(wanted.map(() => true));
  });

  it('more keys than the worker remembers are all signed with', async () => {
    batches = new SignBatches();
    for (let round = 0; round < 5; round++) {
      const keys = Array.from({ length: 600 }, () => generateKeyPairSync('ed25519').privateKey);
      const signatures = await Promise.all(
        keys.map((key) => batches.sign('ed25519-sha256', 'text', key)),
      );
      const checks = keys.map((key, index) =>
        isRight('ed25519-sha256', 'text', key, signatures[index] ?? ''),
      );
      expect(checks.every(Boolean)).toBe(true);
    }
  });

  it('a key that cannot sign so is told with its fault, and spoils no neighbour', async () => {
    batches = new SignBatches();
    const publicKey = createPublicKey(rsa);
    const asked = [
      batches.sign('rsa-sha256', 'a', rsa),
      batches.sign('rsa-sha256', 'b', publicKey),
      batches.sign('rsa-sha256', 'c', rsa),
      batches.sign('rsa-sha256', 'd', rsa),
    ];
    const results = await Promise.allSettled(asked);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('what was under way when it was closed is signed all the same', async () => {
    batches = new SignBatches();
    const asked = Array.from({ length: 50 }, () => batches.sign('rsa-sha256', 'text', rsa));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await batches.close();
    const signatures = await Promise.all(asked);
    expect(signatures.every((one) => isRight('rsa-sha256', 'text', rsa, one))).toBe(true);
  });
});
