// The root keys of an installation: in a file (`secret.key` under dataDir, or `secret.file`), or in
// the environment (`SVC_SECRET_KEY`). The file contains keys of 32 bytes each, the newest last.
// Older keys verify tokens of their time (secrets.ts).
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
import { dirname, join } from 'node:path';
import { ConfigError, codeOf, NoStoreError } from '../errors.ts';
import { heldFile, readHeldFile } from './held-files.ts';
import type { Random } from './random.ts';

export const keyBytes = 32;
/** Most keys of an installation, because checking a forged token may take a try with each key. */
const mostKeys = 16;

/** Settings below `secret` in the configuration. */
export interface SecretSettings {
  /** Absolute path; null for `secret.key` under dataDir. */
  readonly file: string | null;
  /** Keys in base64, separated by commas; null to read the file. */
  readonly key: string | null;
}

/** Source of the root keys: a file or the configuration. */
export interface KeySource {
  /** Name for messages: the path of the file, or the environment variable. */
  readonly name: string;
  /** Path of the file; null if the keys come from the configuration. */
  readonly file: string | null;
  /** Returns the keys, the newest last. @throws ConfigError; NoStoreError if the file is missing */
  read(): Buffer[];
  /** Appends a key to the file, durably. @throws ConfigError if that fails, or without a file */
  add(key: Uint8Array): void;
}

const variable = 'SVC_SECRET_KEY';

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

/**
 * Returns the bytes of the key file; undefined without the file.
 * @throws ConfigError for a file that is unreadable or damaged, or that users besides the owner can
 * read
 */
function findKeys(path: string): Buffer | undefined {
  const held = heldFile(path);
  let descriptor: number;
  try {
    descriptor = held ?? openSync(path, 'r');
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
    if (size === 0 || size % keyBytes !== 0 || size > mostKeys * keyBytes) {
      throw new ConfigError(
        `${path} is damaged (${size} bytes, expected ${keyBytes} for each of at most ${mostKeys} keys): ` +
          'restore it from a backup',
      );
    }
    return readHeldFile(path) ?? readFileSync(descriptor);
  } finally {
    if (held === undefined) closeSync(descriptor);
  }
}

/**
 * Writes the bytes to a temporary file, which `place` then links or renames to `path`, so that the
 * file is never incomplete.
 */
function writeKeys(
  path: string,
  bytes: Uint8Array,
  random: Random,
  place: (aside: string, path: string) => void,
): void {
  const aside = `${path}.${process.pid}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  const descriptor = openSync(aside, 'wx', 0o600);
  try {
    writeSync(descriptor, bytes);
    fsyncSync(descriptor);
    place(aside, path);
    syncDirectory(dirname(path));
  } finally {
    closeSync(descriptor);
    rmSync(aside, { force: true });
  }
}

/**
 * Creates the key file unless it exists. A link replaces no file, so of two processes only the
 * first creates the file.
 */
function createKeys(path: string, bytes: Uint8Array, random: Random): void {
  try {
    writeKeys(path, bytes, random, linkSync);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function split(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length / keyBytes }, (_, at) =>
    bytes.subarray(at * keyBytes, (at + 1) * keyBytes),
  );
}

/** Returns the path of the key file of an installation, which need not exist. */
export function secretFile(dataDir: string, settings?: SecretSettings): string {
  return settings?.file ?? join(dataDir, 'secret.key');
}

/** Parses the keys in the configuration. @throws ConfigError */
function parseKeys(text: string): Buffer[] {
  const parts = text.split(',').map((part) => part.trim());
  const keys = parts.map((part) => Buffer.from(part, 'base64'));
  const isRight = (key: Buffer, at: number) =>
    key.length === keyBytes && key.toString('base64') === parts[at];
  if (keys.every(isRight) && keys.length <= mostKeys) return keys;
  throw new ConfigError(
    `secret.key (${variable}): expected ${keyBytes} bytes in base64, as of "openssl rand -base64 ${keyBytes}"; ` +
      `several keys, at most ${mostKeys}, are separated by commas, the newest last`,
  );
}

function keysInText(text: string): KeySource {
  const keys = parseKeys(text);
  return {
    name: variable,
    file: null,
    read: () => keys,
    add() {
      throw new ConfigError(
        `${variable} has no new key: append one, as of "openssl rand -base64 ${keyBytes}", after a comma, in ` +
          'the environment of every daemon and of this command; restart the daemons; then repeat this command',
      );
    },
  };
}

function keysInFile(path: string, random: Random): KeySource {
  return {
    name: path,
    file: path,
    read() {
      const bytes = findKeys(path);
      if (bytes) return split(bytes);
      const text =
        `There is a store, but its secret is missing: ${path} does not exist. Copy it there from ` +
        'the machine that made the store';
      throw new NoStoreError(text, 'secret');
    },
    add(key) {
      const bytes = findKeys(path) ?? Buffer.alloc(0);
      if (bytes.length >= mostKeys * keyBytes) {
        throw new ConfigError(
          `${path} has ${mostKeys} keys, which is the most: remove the oldest ${keyBytes} bytes. Links in mail of ` +
            'their time then stop working',
        );
      }
      try {
        writeKeys(path, Buffer.concat([bytes, key]), random, renameSync);
      } catch (error) {
        throw new ConfigError(
          `${path} cannot be written (${reasonOf(error)}): append ${keyBytes} random bytes to it yourself, then ` +
            'repeat this command',
          { cause: error },
        );
      }
    },
  };
}

/**
 * Returns the source of the root keys. Creates a missing key file, unless `mustExist`: then `read`
 * throws a NoStoreError.
 * @throws ConfigError for invalid keys, or for a file that cannot be read or created
 */
export function openKeySource(
  dataDir: string,
  settings: SecretSettings | undefined,
  { random, mustExist }: { random: Random; mustExist: boolean },
): KeySource {
  if (settings?.key) return keysInText(settings.key);
  const path = secretFile(dataDir, settings);
  const source = keysInFile(path, random);
  if (mustExist || findKeys(path)) return source;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createKeys(path, random.bytes(keyBytes), random);
  } catch (error) {
    throw new ConfigError(`${path} cannot be created (${reasonOf(error)})`, { cause: error });
  }
  return source;
}

/**
 * Returns the bytes of all root keys, for a backup; undefined without a key file.
 * @throws ConfigError for invalid keys, or for a file that cannot be read
 */
export function readSecret(dataDir: string, settings?: SecretSettings): Buffer | undefined {
  if (settings?.key) return Buffer.concat(parseKeys(settings.key));
  return findKeys(secretFile(dataDir, settings));
}

/**
 * Restores the root keys of a backup into a file. Renames a file with different keys to `keptAs`.
 * Returns true if the file was written, false if it already had these keys.
 * @throws ConfigError if the present file is damaged or cannot be read
 */
export function putSecret(path: string, keys: Buffer, keptAs: string, random: Random): boolean {
  const there = findKeys(path);
  if (there?.equals(keys)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (there) renameSync(path, keptAs);
  createKeys(path, keys, random);
  return true;
}
