// The installation's secret: one key file under dataDir. Keys derived from it encrypt values (DKIM
// keys, webhook secrets) and sign tokens (return paths, links). Callers choose which values to
// encrypt. Without the file, encrypted values are lost for ever.
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
/** Offset of each twin in the digest. The halves are independent: one reveals nothing about the other. */
const halves = { first: 0, second: macBytes } as const;
const macCharacters = 26;
/** Number of tags of `sixTags`, which use 60 of the 64 bytes of a digest. */
export const tagsPerDigest = 6;
const shortTagBytes = 10;
export const shortTagCharacters = 16;
const longestPayload = 512;
const longestToken = 1024;
/**
 * Alphabet of ids (specification 2.1): safe in URLs, and in mail addresses, in which other systems
 * may change the case.
 */
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

/** Returns the key in the file, or undefined if the file does not exist. */
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
      throw new ConfigError(`other users can read ${path} (mode ${octal}): run chmod 600 ${path}`);
    }
    if (size !== keyBytes) {
      throw new ConfigError(
        `${path} is damaged (${size} bytes, expected ${keyBytes}): restore it from a backup`,
      );
    }
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes the key to a temporary file and links that to its place. So the file appears complete or
 * not at all, and only one of two processes that start together creates it.
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

/** Returns the path of an installation's secret. */
export function secretFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

function loadMasterKey(dataDir: string, random: Random, mustExist: boolean): Buffer {
  const path = secretFile(dataDir);
  const there = findKey(path);
  if (there) return there;
  if (mustExist) {
    const text =
      `There is a store, but its secret is missing: ${path} does not exist. Copy it there from ` +
      'the machine that made the store';
    throw new NoStoreError(text, 'secret');
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    createKey(dataDir, path, random.bytes(keyBytes), random);
  } catch (error) {
    throw new ConfigError(`${path} cannot be created (${reasonOf(error)})`, { cause: error });
  }
  const made = findKey(path);
  if (!made) throw new ConfigError(`${path} vanished while it was created`);
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

/** Decodes text; returns undefined if `encodeBase32` would not have written it. */
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

  /** Derives one key per purpose (HKDF-SHA256, RFC 5869); purposes are constants of the program. */
  #keyFor(purpose: string): KeyObject {
    let key = this.#derived.get(purpose);
    if (!key) {
      // Stores a key object. From bytes, Node would build one at each use, at four times the cost
      // of the MAC.
      key = createSecretKey(
        new Uint8Array(hkdfSync('sha256', this.#master, '', `svc v1 ${purpose}`, keyBytes)),
      );
      this.#derived.set(purpose, key);
    }
    return key;
  }

  /**
   * Encrypts with AES-256-GCM. `context` names the owner of the value (`domainKey:dkim_…`): decryption needs
   * the same context, so a text cannot be moved to another row.
   */
  encrypt(plain: string | Uint8Array, context: string): string {
    const iv = this.#random.bytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keyFor('encrypt'), iv);
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const body = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final()]);
    return textVersion + Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
  }

  /**
   * Decrypts a text of `encrypt`.
   * @throws InternalError if the text was changed, or belongs to another context or key file
   */
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
      const text =
        `a stored secret (${kind}) cannot be decrypted: check that secret.key belongs to ` +
        'this store';
      throw new InternalError(text, 'store', { cause: error });
    }
  }

  /**
   * Encrypts a text so that only this installation can read or make it: AES-256-GCM with a MAC of
   * the payload as nonce. Equal payloads give equal texts (as with RFC 5297), so each attempt of a
   * mail has the same bytes.
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

  /** Decrypts a text of `seal`; returns null for any other. */
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
   * Returns `payload` (1 to 512 bytes) with a signature that only this installation can make: HMAC-SHA256 cut
   * to 128 bits (RFC 2104, 5). The token has lower-case letters, digits, `_` and `-` only. It is 27
   * characters longer than a payload of lower-case letters, digits and `_`, so that an id fits a local part.
   */
  token(purpose: string, payload: string): string {
    return `${writePayload(payload)}-${macOf(this.#digest(purpose, payload), 'first')}`;
  }

  /**
   * Returns two tokens of one payload for the cost of one: knowing either does not help to make the other.
   */
  twinTokens(purpose: string, payload: string): Record<Twin, string> {
    const digest = this.#digest(purpose, payload);
    const start = `${writePayload(payload)}-`;
    return { first: start + macOf(digest, 'first'), second: start + macOf(digest, 'second') };
  }

  /**
   * Returns six tags of one payload for the cost of one: HMAC-SHA512 cut to 80 bits each, the minimum of
   * RFC 2104 (5). Knowing some does not help to make the others. An HMAC costs 3 µs, which a mail with many
   * links would otherwise pay for each link.
   */
  sixTags(purpose: string, payload: string): string[] {
    const key = this.#keyFor(`tags ${purpose}`);
    const digest = createHmac('sha512', key).update(payload, 'utf8').digest();
    const text = encodeBase32(digest.subarray(0, tagsPerDigest * shortTagBytes));
    return Array.from({ length: tagsPerDigest }, (_, at) =>
      text.slice(at * shortTagCharacters, (at + 1) * shortTagCharacters),
    );
  }

  /** Returns true if a tag, in upper or lower case, is the one at this place (0 to 5). */
  isTag(purpose: string, payload: string, place: number, tag: string): boolean {
    const given = Buffer.from(tag.toLowerCase(), 'utf8');
    const right = Buffer.from(this.sixTags(purpose, payload)[place] ?? '', 'utf8');
    return given.length === right.length && timingSafeEqual(given, right);
  }

  /**
   * Returns the payload of a token of this purpose, in upper or lower case. Returns null for any
   * other text, including the other twin.
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

/**
 * Returns the secret's bytes, for a backup; undefined if the file does not exist.
 * @throws ConfigError
 */
export function readSecret(dataDir: string): Buffer | undefined {
  return findKey(secretFile(dataDir));
}

/**
 * Restores a secret from a backup. A different one in its place is kept as `keptAs`.
 * @returns true if the file was written, false if it already held this secret
 * @throws ConfigError if the present file is damaged or cannot be read
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
 * Opens the secret of the installation at `dataDir`. On the first start creates the directory (mode 0700) and
 * `secret.key` (32 random bytes, mode 0600) durably, unless `mustExist`.
 * @throws ConfigError if the file is damaged, open to others, or cannot be read or made; NoStoreError if it
 * must exist and does not
 */
export function openSecrets(dataDir: string, random: Random, mustExist = false): Secrets {
  return new Secrets(loadMasterKey(dataDir, random, mustExist), random);
}
