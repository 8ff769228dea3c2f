// The installation's secret: one key file under dataDir, from which the keys for what is stored
// encrypted (DKIM keys, webhook secrets) and for signed tokens (return paths, links) are derived.
// Who encrypts what is up to the areas; a lost file makes what was encrypted unreadable for good.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ConfigError, codeOf, InternalError, NoStoreError } from '../errors.ts';
import type { Random } from './random.ts';

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const textVersion = 'v1.';

const macBytes = 16;
/** Where each of two twins lies in the digest: who knows the one half can tell nothing of the other. */
const halves = { first: 0, second: macBytes } as const;
const macCharacters = 26;
/** Of `sixTags`: 60 of the 64 bytes of a digest. */
export const tagsPerDigest = 6;
const shortTagBytes = 10;
export const shortTagCharacters = 16;
const longestPayload = 512;
const longestToken = 1024;
/** The alphabet of ids (specification 2.1): safe in URLs, and in mail addresses in either case. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type Twin = keyof typeof halves;

function reasonOf(error: unknown): string {
  return codeOf(error) || String(error);
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The key in the file, or undefined if there is no file. */
function findKey(path: string): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new ConfigError(`${path} cannot be read (${reasonOf(error)})`, { cause: error });
  }
  try {
    const { mode, size } = fstatSync(descriptor);
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8);
      throw new ConfigError(`${path} is open to others (mode ${octal}): run chmod 600 ${path}`);
    }
    if (size !== keyBytes) {
      throw new ConfigError(
        `${path} is damaged (${size} bytes, expected ${keyBytes}): put it back from a backup`,
      );
    }
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes the key aside and links it to its place, so that the file appears whole or not at all and
 * of two processes that start together one wins.
 */
function createKey(dataDir: string, path: string, key: Uint8Array, random: Random): void {
  const aside = `${path}.${process.pid}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  const descriptor = openSync(aside, 'wx', 0o600);
  try {
    writeSync(descriptor, key);
    fsyncSync(descriptor);
    linkSync(aside, path);
    syncDirectory(dataDir);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(aside, { force: true });
  }
}

/** Where the secret of an installation lies. */
export function secretFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

function loadMasterKey(dataDir: string, random: Random, mustExist: boolean): Buffer {
  const path = secretFile(dataDir);
  const there = findKey(path);
  if (there) return there;
  if (mustExist) {
    const text = `There is a store, but its secret is missing: no file ${path}`;
    throw new NoStoreError(text, 'secret');
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    createKey(dataDir, path, random.bytes(keyBytes), random);
  } catch (error) {
    throw new ConfigError(`${path} cannot be made (${reasonOf(error)})`, { cause: error });
  }
  const made = findKey(path);
  if (!made) throw new ConfigError(`${path} vanished while it was made`);
  return made;
}

function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet.charAt((held >> (bits - 5)) & 31);
  }
  return bits > 0 ? text + alphabet.charAt((held << (5 - bits)) & 31) : text;
}

/** Undefined for text that `encodeBase32` would not have written. */
function decodeBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    held = ((held << 5) | alphabet.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  const decoded = Buffer.from(bytes);
  return encodeBase32(decoded) === text ? decoded : undefined;
}

function macOf(digest: Buffer, twin: Twin): string {
  const start = halves[twin];
  return encodeBase32(digest.subarray(start, start + macBytes));
}

const plainPayload = /^[0-9a-z_]+$/;
const encodedMark = 'x-';

function writePayload(payload: string): string {
  const bytes = Buffer.byteLength(payload);
  if (bytes === 0 || bytes > longestPayload) throw new RangeError(`payload of ${bytes} bytes`);
  if (plainPayload.test(payload)) return payload;
  return encodedMark + encodeBase32(Buffer.from(payload, 'utf8'));
}

function readPayload(text: string): string | undefined {
  if (plainPayload.test(text)) return text;
  if (!text.startsWith(encodedMark)) return undefined;
  return decodeBase32(text.slice(encodedMark.length))?.toString('utf8');
}

export class Secrets {
  readonly #master: Buffer;
  readonly #random: Random;
  readonly #derived = new Map<string, KeyObject>();

  constructor(master: Buffer, random: Random) {
    this.#master = master;
    this.#random = random;
  }

  /** One key per purpose (HKDF-SHA256, RFC 5869); purposes are constants of the program. */
  #keyFor(purpose: string): KeyObject {
    let key = this.#derived.get(purpose);
    if (!key) {
      // A key object: from bytes, Node would make one at each use, four times the cost of the MAC.
      key = createSecretKey(
        new Uint8Array(hkdfSync('sha256', this.#master, '', `svc v1 ${purpose}`, keyBytes)),
      );
      this.#derived.set(purpose, key);
    }
    return key;
  }

  /**
   * AES-256-GCM. `context` says what the value belongs to (`domainKey:dkim_…`): the text can be
   * decrypted only with the same context, so it cannot be moved to another row.
   */
  encrypt(plain: string | Uint8Array, context: string): string {
    const iv = this.#random.bytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keyFor('encrypt'), iv);
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const body = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final()]);
    return textVersion + Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
  }

  /** @throws InternalError if the text was changed, has another context or is of another key file. */
  decrypt(text: string, context: string): Buffer {
    const sealed = Buffer.from(text.slice(textVersion.length), 'base64url');
    try {
      if (!text.startsWith(textVersion)) throw new RangeError('unknown version');
      const iv = sealed.subarray(0, ivBytes);
      const tag = sealed.subarray(Math.max(ivBytes, sealed.length - tagBytes));
      const decipher = createDecipheriv('aes-256-gcm', this.#keyFor('encrypt'), iv, {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(context, 'utf8'));
      decipher.setAuthTag(tag);
      const body = sealed.subarray(ivBytes, sealed.length - tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]);
    } catch (error) {
      const kind = context.split(':', 1)[0];
      const text = `a stored secret (${kind}) cannot be decrypted: is secret.key the one it was made with?`;
      throw new InternalError(text, 'store', { cause: error });
    }
  }

  /**
   * A text that only this installation can read or make: AES-256-GCM, its nonce a MAC of the payload, so
   * that the same payload gives the same text (as RFC 5297 does) and mail is the same at each attempt.
   */
  seal(purpose: string, payload: string): string {
    const iv = createHmac('sha256', this.#keyFor(`nonce ${purpose}`))
      .update(payload, 'utf8')
      .digest()
      .subarray(0, ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keyFor(`seal ${purpose}`), iv);
    const body = Buffer.concat([cipher.update(payload, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
  }

  /** The payload of such a text, null for any other. */
  unseal(purpose: string, text: string): string | null {
    if (text.length > longestToken || !/^[\w-]+$/.test(text)) return null;
    const sealed = Buffer.from(text, 'base64url');
    if (sealed.length <= ivBytes + tagBytes || sealed.toString('base64url') !== text) return null;
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#keyFor(`seal ${purpose}`),
      sealed.subarray(0, ivBytes),
      { authTagLength: tagBytes },
    );
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    try {
      const body = decipher.update(sealed.subarray(ivBytes, sealed.length - tagBytes));
      return Buffer.concat([body, decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }

  #digest(purpose: string, payload: string): Buffer {
    const key = this.#keyFor(`token ${purpose}`);
    return createHmac('sha256', key).update(payload, 'utf8').digest();
  }

  /**
   * `payload` (1 to 512 bytes) with a signature that only this installation can make, HMAC-SHA256
   * cut to 128 bits (RFC 2104, 5). Lower-case letters, digits, `_` and `-` only; 27 characters
   * longer than a payload of lower-case letters, digits and `_`, so that an id fits a local part.
   */
  token(purpose: string, payload: string): string {
    return `${writePayload(payload)}-${macOf(this.#digest(purpose, payload), 'first')}`;
  }

  /** That token and another of the same payload, for the price of one: who has either cannot make the other. */
  twinTokens(purpose: string, payload: string): Record<Twin, string> {
    const digest = this.#digest(purpose, payload);
    const start = `${writePayload(payload)}-`;
    return { first: start + macOf(digest, 'first'), second: start + macOf(digest, 'second') };
  }

  /**
   * Six tags of one payload, for the price of one: HMAC-SHA512 cut to 80 bits each, which is the least
   * that RFC 2104 (5) takes. Who has some of them cannot make the others. An HMAC costs 3 µs, which a
   * mail with many links would pay for each of them.
   */
  sixTags(purpose: string, payload: string): string[] {
    const key = this.#keyFor(`tags ${purpose}`);
    const digest = createHmac('sha512', key).update(payload, 'utf8').digest();
    const text = encodeBase32(digest.subarray(0, tagsPerDigest * shortTagBytes));
    return Array.from({ length: tagsPerDigest }, (_, at) =>
      text.slice(at * shortTagCharacters, (at + 1) * shortTagCharacters),
    );
  }

  /** Whether a tag, in either case of letters, is the one at this place (0 to 5). */
  isTag(purpose: string, payload: string, place: number, tag: string): boolean {
    const given = Buffer.from(tag.toLowerCase(), 'utf8');
    const right = Buffer.from(this.sixTags(purpose, payload)[place] ?? '', 'utf8');
    return given.length === right.length && timingSafeEqual(given, right);
  }

  /**
   * The payload of a token of this purpose, in either case of letters; null for anything else, the
   * other twin too.
   */
  verifyToken(purpose: string, token: string, twin: Twin = 'first'): string | null {
    if (token.length > longestToken) return null;
    const folded = token.toLowerCase();
    const at = folded.length - macCharacters - 1;
    if (at < 1 || folded[at] !== '-') return null;
    const payload = readPayload(folded.slice(0, at));
    if (payload === undefined) return null;
    const given = Buffer.from(folded.slice(at + 1), 'utf8');
    const right = Buffer.from(macOf(this.#digest(purpose, payload), twin), 'utf8');
    return given.length === right.length && timingSafeEqual(given, right) ? payload : null;
  }
}

/** The secret's bytes, to be kept beside a backup; undefined where there is none. @throws ConfigError */
export function readSecret(dataDir: string): Buffer | undefined {
  return findKey(secretFile(dataDir));
}

/**
 * Puts a secret from a backup in its place; another one that lies there is kept as `keptAs`.
 * @returns whether the file was written: it was not where the same secret lay there.
 * @throws ConfigError if what lies there is damaged or cannot be read.
 */
export function putSecret(dataDir: string, key: Buffer, keptAs: string, random: Random): boolean {
  const path = secretFile(dataDir);
  const there = findKey(path);
  if (there?.equals(key)) return false;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (there) renameSync(path, keptAs);
  createKey(dataDir, path, key, random);
  return true;
}

/**
 * Opens the secret of the installation at `dataDir`; on the first start makes the directory (mode
 * 0700) and `secret.key` (32 random bytes, mode 0600), durably, unless it `mustExist`.
 * @throws ConfigError if the file is damaged, open to others, or cannot be read or made;
 * NoStoreError where it must exist and does not.
 */
export function openSecrets(dataDir: string, random: Random, mustExist = false): Secrets {
  return new Secrets(loadMasterKey(dataDir, random, mustExist), random);
}
