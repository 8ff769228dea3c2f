// The text of an API key: `svc_live_` or `svc_test_`, 32 random base62 characters, 6 characters of
// checksum. The checksum rejects wrong texts without a look-up in the store.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '../../platform/runtime/random.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomCharacters = 32;
const checksumCharacters = 6;
const startCharacters = 14;
const format = /^svc_(?:live|test)_[0-9A-Za-z]{38}$/;
/**
 * Random bytes from this value on are rejected: they would favour the first characters of the
 * alphabet.
 */
const fairBytes = 256 - (256 % base62.length);

export type KeyMode = 'live' | 'test';

export interface KeyText {
  plaintext: string;
  /** SHA-256 of the plaintext, hex. Only this and `start` are stored. */
  hash: string;
  start: string;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let encoded = '';
  for (let i = 0; i < checksumCharacters; i++) {
    encoded = base62.charAt(rest % base62.length) + encoded;
    rest = Math.floor(rest / base62.length);
  }
  return encoded;
}

function randomBase62(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) {
      if (byte < fairBytes) text += base62.charAt(byte % base62.length);
    }
  }
  return text;
}

/** Makes a new key. It has 190 bits of randomness, so a plain fast hash is enough to store it. */
export function makeKey(random: Random, mode: KeyMode): KeyText {
  const body = `svc_${mode}_${randomBase62(random, randomCharacters)}`;
  const plaintext = body + checksum(body);
  return { plaintext, hash: hashKey(plaintext), start: plaintext.slice(0, startCharacters) };
}

/** Returns SHA-256 as hex. */
export function hashKey(plaintext: string): string {
  return hash('sha256', plaintext, 'hex');
}

/** Returns whether the text has the form of a key and a correct checksum. */
export function isKeyText(text: string): boolean {
  if (!format.test(text)) return false;
  const body = text.slice(0, -checksumCharacters);
  return checksum(body) === text.slice(-checksumCharacters);
}

/**
 * Returns whether the key is a test key, which reaches only simulator addresses and local
 * mailboxes. `start` is the stored beginning of the key.
 */
export function isTestKey(start: string): boolean {
  return start.startsWith('svc_test_');
}
