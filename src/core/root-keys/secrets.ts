// The installation's root keys (src/platform/runtime/key-ring.ts). Keys derived from them
// (root-key.ts) encrypt values (DKIM keys, webhook secrets) and sign tokens (return paths, links).
// Without the root keys, encrypted values are lost for ever.
//
// The store says when each root key was in force (src/core/root-keys). A token is signed by the key
// in force at the time of the token, such as the time of the mail, and verified by that key alone.
// So a replaced key verifies old links for ever but cannot forge later links, and a mail composed
// again has the same bytes.
import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { InternalError } from '../../platform/errors.ts';
import {
  type KeySource,
  openKeySource,
  type SecretSettings,
} from '../../platform/runtime/key-ring.ts';
import type { Random } from '../../platform/runtime/random.ts';
import {
  decryptWith,
  digestOf,
  ivBytes,
  RootKey,
  tagBytes,
  tagsOf,
  unsealWith,
} from './root-key.ts';
import {
  macCharacters,
  macOf,
  readPayload,
  type TimeOfPayload,
  type TokenTime,
  type Twin,
  writePayload,
} from './token-text.ts';

/** Version of the texts of `encrypt`: they contain the id of their key, `v1.<id>.…`. */
const textVersion = 'v1';
/**
 * Tolerance for the time of a token: a daemon that was stopped or has a wrong clock may use a key
 * for some time after the replacement.
 */
const slackMs = 10 * 60_000;

const longestToken = 1024;

/** Time for which a root key is in force, ms since 1970; the last key has no end. */
export interface KeyTerm {
  id: string;
  from: number;
  until: number | null;
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(right, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}

export class Secrets {
  readonly source: KeySource;
  readonly #random: Random;
  #ring: readonly RootKey[] = [];
  #terms: readonly KeyTerm[] = [];

  /** Reads the keys of the source. @throws ConfigError; NoStoreError if the source has no key */
  constructor(source: KeySource, random: Random) {
    this.source = source;
    this.#random = random;
    this.reload();
  }

  /** Ids of the root keys of this process, the oldest first. An id does not reveal the key. */
  get keyIds(): string[] {
    return this.#ring.map(({ id }) => id);
  }

  /** Reads the root keys again: another process may have added a key. @throws ConfigError */
  reload(): void {
    const known = new Map(this.#ring.map((key) => [key.id, key]));
    this.#ring = this.source.read().map((master) => {
      const key = new RootKey(master);
      return known.get(key.id) ?? key;
    });
  }

  /** Sets the times at which each key was in force, the earliest first. */
  learn(terms: readonly KeyTerm[]): void {
    this.#terms = terms;
  }

  #find(id: string): RootKey | undefined {
    return this.#ring.find((key) => key.id === id);
  }

  #newest(): RootKey {
    const key = this.#find(this.keyInForce);
    if (key) return key;
    const text = `${this.source.name} lacks the root key ${this.keyInForce}: add it there`;
    throw new InternalError(text, 'store');
  }

  /** Id of the key that encrypts now, as far as this process knows. */
  get keyInForce(): string {
    return this.#terms.at(-1)?.id ?? this.#ring.at(-1)?.id ?? '';
  }

  /** Tells whether a text of `encrypt` was encrypted with the key in force. */
  isInForce(text: string): boolean {
    return text.startsWith(this.prefixOf(this.keyInForce));
  }

  /** Returns the key that signs at this time. If that key was removed, the newest key signs. */
  #signerAt(at: number): RootKey {
    const term = this.#terms.find(({ until }) => until === null || at < until);
    return (term && this.#find(term.id)) ?? this.#newest();
  }

  /** Returns the keys that may have signed within this time. */
  #signersIn(time: TokenTime | undefined): RootKey[] {
    if (!time || this.#terms.length < 2) return [...this.#ring];
    return this.#terms.flatMap(({ id, from, until }) => {
      const isWithin =
        time.until >= from - slackMs && (until === null || time.from <= until + slackMs);
      return (isWithin && this.#find(id)) || [];
    });
  }

  /** Returns the beginning of the texts that `encrypt` makes with this key. */
  prefixOf(keyId: string): string {
    return `${textVersion}.${keyId}.`;
  }

  /** Tells whether this process has the key. Reads the source again if the key is unknown. */
  hasKey(id: string): boolean {
    if (!this.#find(id)) this.reload();
    return this.#find(id) !== undefined;
  }

  /**
   * Encrypts with AES-256-GCM. `context` names the owner of the value (`domainKey:dkim_…`):
   * decryption needs the same context, so a text cannot be moved to a different row. `holdRootKey`
   * (root-keys.ts) ensures that the key is still in force when the text is stored.
   */
  encrypt(plain: string | Uint8Array, context: string): string {
    const key = this.#newest();
    const iv = this.#random.bytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key.keyFor('encrypt'), iv);
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const body = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final()]);
    const sealed = Buffer.concat([iv, body, cipher.getAuthTag()]);
    return this.prefixOf(key.id) + sealed.toString('base64url');
  }

  /**
   * Decrypts a text of `encrypt`.
   * @throws InternalError if the text was changed, or belongs to a different context or root key
   */
  decrypt(text: string, context: string): Buffer {
    const kind = context.split(':', 1)[0];
    const [version, id = ''] = text.split('.');
    if (version === textVersion && !this.hasKey(id)) {
      const text =
        `a stored secret (${kind}) is encrypted with the root key ${id}, which this process does not ` +
        `have: add that key to ${this.source.name}`;
      throw new InternalError(text, 'store');
    }
    const plain = this.#open(text, context)?.plain;
    if (plain) return plain;
    throw new InternalError(
      `a stored secret (${kind}) cannot be decrypted: check that ${this.source.name} belongs to this store`,
      'store',
    );
  }

  /** Returns the id of the key that decrypts a text of `encrypt`; null if no key does. */
  keyOf(text: string, context: string): string | null {
    return this.#open(text, context)?.key.id ?? null;
  }

  #open(text: string, context: string): { key: RootKey; plain: Buffer } | null {
    const [version, id = '', sealed = ''] = text.split('.');
    const key = version === textVersion ? this.#find(id) : undefined;
    const plain = key && decryptWith(key, Buffer.from(sealed, 'base64url'), context);
    return key && plain ? { key, plain } : null;
  }

  /**
   * Encrypts a text so that only this installation can read or make it: AES-256-GCM with a MAC of
   * the payload as nonce. Equal payloads give equal texts (as with RFC 5297), so each attempt of a
   * mail has the same bytes. `at` is the time of the payload.
   */
  seal(purpose: string, payload: string, at = Infinity): string {
    const key = this.#signerAt(at);
    const iv = createHmac('sha256', key.keyFor(`nonce ${purpose}`))
      .update(payload, 'utf8')
      .digest()
      .subarray(0, ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key.keyFor(`seal ${purpose}`), iv);
    const body = Buffer.concat([cipher.update(payload, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
  }

  /**
   * Decrypts a text of `seal`; returns null for any other text, and if the key was
   * not in force at the time of the text.
   */
  unseal(purpose: string, text: string, timeOf?: TimeOfPayload): string | null {
    if (text.length > longestToken || !/^[\w-]+$/.test(text)) return null;
    const sealed = Buffer.from(text, 'base64url');
    if (sealed.length <= ivBytes + tagBytes || sealed.toString('base64url') !== text) return null;
    for (const key of this.#ring) {
      const payload = unsealWith(key, purpose, sealed);
      if (payload === null) continue;
      return this.#signersIn(timeOf?.(payload)).includes(key) ? payload : null;
    }
    return null;
  }

  /**
   * Returns `payload` (1 to 512 bytes) with a signature that only this installation can make:
   * HMAC-SHA256 cut to 128 bits (RFC 2104, 5). The token has lower-case letters, digits, `_` and
   * `-` only. It is 27 characters longer than a payload of lower-case letters, digits and `_`, so
   * that an id fits a local part. `at` is the time of the payload.
   */
  token(purpose: string, payload: string, at = Infinity): string {
    const digest = digestOf(this.#signerAt(at), purpose, payload);
    return `${writePayload(payload)}-${macOf(digest, 'first')}`;
  }

  /**
   * Returns two tokens of a payload for the cost of a single token. Neither token helps to forge
   * its twin.
   */
  twinTokens(purpose: string, payload: string, at = Infinity): Record<Twin, string> {
    const digest = digestOf(this.#signerAt(at), purpose, payload);
    const start = `${writePayload(payload)}-`;
    return { first: start + macOf(digest, 'first'), second: start + macOf(digest, 'second') };
  }

  /**
   * Returns six tags of a payload for the cost of a single tag: HMAC-SHA512 cut to 80 bits each,
   * the minimum of RFC 2104 (5). A known tag does not help to forge the rest. An HMAC costs 3 µs,
   * which a mail would otherwise pay for each link.
   */
  sixTags(purpose: string, payload: string, at = Infinity): string[] {
    return tagsOf(this.#signerAt(at), purpose, payload);
  }

  /** Returns true if a tag, in upper or lower case, is the tag at this index (0 to 5). */
  isTag(
    purpose: string,
    payload: string,
    { place, tag, time }: { place: number; tag: string; time?: TokenTime },
  ): boolean {
    const given = tag.toLowerCase();
    return this.#signersIn(time).some((key) =>
      isSame(given, tagsOf(key, purpose, payload)[place] ?? ''),
    );
  }

  /**
   * Returns the payload of a token of this purpose, in upper or lower case. Returns null for any
   * other text, including the twin token, and if the key was not in force at the time of the
   * payload.
   */
  verifyToken(
    purpose: string,
    token: string,
    { twin = 'first', timeOf }: { twin?: Twin; timeOf?: TimeOfPayload } = {},
  ): string | null {
    if (token.length > longestToken) return null;
    const folded = token.toLowerCase();
    const at = folded.length - macCharacters - 1;
    if (at < 1 || folded[at] !== '-') return null;
    const payload = readPayload(folded.slice(0, at));
    if (payload === undefined) return null;
    const given = folded.slice(at + 1);
    const isOurs = this.#signersIn(timeOf?.(payload)).some((key) =>
      isSame(given, macOf(digestOf(key, purpose, payload), twin)),
    );
    return isOurs ? payload : null;
  }
}

/** Place of the root keys, and whether they must exist. */
interface OpenSecretsOptions {
  settings?: SecretSettings | undefined;
  mustExist?: boolean;
}

/**
 * Opens the root keys of the installation at `dataDir`. On the first start creates the directory
 * (mode 0700) and `secret.key` (32 random bytes, mode 0600) durably, unless `mustExist`.
 * @throws ConfigError if they are damaged, open to other accounts, or cannot be read or made;
 * NoStoreError if they must exist and do not
 */
export function openSecrets(
  dataDir: string,
  random: Random,
  { settings, mustExist = false }: OpenSecretsOptions = {},
): Secrets {
  return new Secrets(openKeySource(dataDir, settings, { random, mustExist }), random);
}
