import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type DkimAlgorithm,
  dkimRecordProblem,
  dkimRecordValue,
  generateDkimKey,
  selectorOf,
} from '../../../src/mail/mime/dkim/dkim-key.ts';

/** SubjectPublicKeyInfo header of the 32 octets of an Ed25519 key (RFC 8410). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

function publicKeyOf(algorithm: DkimAlgorithm, published: string) {
  const octets = Buffer.from(published, 'base64');
  const der = algorithm === 'rsa-sha256' ? octets : Buffer.concat([ed25519Prefix, octets]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

describe.each(['rsa-sha256', 'ed25519-sha256'] as const)('a DKIM key of %s', (algorithm) => {
  it('creates signatures that its published half verifies', async () => {
    const { privateKeyPem, publicKey } = await generateDkimKey(algorithm);
    const digest = algorithm === 'rsa-sha256' ? 'sha256' : null;
    const data = Buffer.from('header');
    const signature = sign(digest, data, createPrivateKey(privateKeyPem));
    expect(verify(digest, data, publicKeyOf(algorithm, publicKey), signature)).toBe(true);
  });

  it('is found in its own record with any spacing', async () => {
    const { publicKey } = await generateDkimKey(algorithm);
    const value = dkimRecordValue(algorithm, publicKey);
    expect(dkimRecordProblem(value, algorithm, publicKey)).toBeNull();
    const spaced = value.replaceAll('; ', ' ;\t').replace(/p=(.{10})/, 'p = $1 ');
    expect(dkimRecordProblem(`${spaced};`, algorithm, publicKey)).toBeNull();
  });
});

describe('a published DKIM record', () => {
  it('has a key of the known length for RSA-2048 and Ed25519', async () => {
    const rsa = await generateDkimKey('rsa-sha256');
    const ed25519 = await generateDkimKey('ed25519-sha256');
    expect(publicKeyOf('rsa-sha256', rsa.publicKey).asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(Buffer.from(ed25519.publicKey, 'base64')).toHaveLength(32);
  });

  it.each([
    ['v=DKIM1; k=rsa; p=other', 'the record publishes another key'],
    ['v=DKIM1; k=rsa; p=', 'the record revokes the key (empty p=)'],
    ['v=DKIM1; k=ed25519; p=abc', 'the record is not of type k=rsa'],
    ['v=DKIM2; p=abc', 'the record is not v=DKIM1'],
    ['google-site-verification=abc', 'the record has no p= tag'],
    ['', 'the record has no p= tag'],
    ['p=abc', null],
    ['v=DKIM1; h=sha256; p=a b c', null],
  ])('such as %j has the problem: %s', (text, problem) => {
    expect(dkimRecordProblem(text, 'rsa-sha256', 'abc')).toBe(problem);
  });
});

describe('selectors', () => {
  it('count the generations of keys', () => {
    expect(selectorOf(12, 'rsa-sha256')).toBe('svc12rsa');
    expect(selectorOf(12, 'ed25519-sha256')).toBe('svc12ed');
  });
});
