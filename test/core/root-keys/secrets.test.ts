// The installation's secret: its file, the texts encrypted with it, and the tokens signed with it.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openSecrets } from '../../../src/core/root-keys/secrets.ts';
import { ConfigError, InternalError } from '../../../src/platform/errors.ts';
import { seededRandom, systemRandom } from '../../../src/platform/runtime/random.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
const random = systemRandom();
let dataDir: string;
let count = 0;

beforeEach(() => {
  count += 1;
  dataDir = join(root, `deep/data-${count}`);
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('secret.key', () => {
  it('is made on the first start with its directory, readable by the owner alone', () => {
    openSecrets(dataDir, random);
    expect(modeOf(dataDir)).toBe('700');
    expect(modeOf(join(dataDir, 'secret.key'))).toBe('600');
    expect(readFileSync(join(dataDir, 'secret.key'))).toHaveLength(32);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  it('is kept by later starts', () => {
    const token = openSecrets(dataDir, seededRandom(1)).token('bounce', 'dlv_1');
    const before = readFileSync(join(dataDir, 'secret.key'));
    expect(openSecrets(dataDir, seededRandom(2)).verifyToken('bounce', token)).toBe('dlv_1');
    expect(readFileSync(join(dataDir, 'secret.key'))).toEqual(before);
  });

  it.each([0o640, 0o604, 0o620])('of mode %o is refused with the helpful command', (mode) => {
    openSecrets(dataDir, random);
    const file = join(dataDir, 'secret.key');
    chmodSync(file, mode);
    expect(() => openSecrets(dataDir, random)).toThrow(ConfigError);
    expect(() => openSecrets(dataDir, random)).toThrow(`run chmod 600 ${file}`);
  });

  it('that is truncated is refused, never replaced', () => {
    openSecrets(dataDir, random);
    const file = join(dataDir, 'secret.key');
    writeFileSync(file, 'short');
    expect(() => openSecrets(dataDir, random)).toThrow(/secret\.key is damaged \(5 bytes/);
    expect(readFileSync(file, 'utf8')).toBe('short');
  });

  it('that cannot be made is reported with its path', () => {
    writeFileSync(join(root, `file-${count}`), '');
    const below = join(root, `file-${count}`, 'data');
    expect(() => openSecrets(below, random)).toThrow(ConfigError);
    expect(() => openSecrets(below, random)).toThrow(join(below, 'secret.key'));
  });

  it('is the same for processes that start together on an empty directory', async () => {
    const [secretsModule, randomModule] = ['core/root-keys/secrets', 'platform/runtime/random'].map(
      (path) => JSON.stringify(new URL(`../../../src/${path}.ts`, import.meta.url).href),
    );
    const program = `
      import { openSecrets } from ${secretsModule};
      import { systemRandom } from ${randomModule};
      process.stdout.write(openSecrets(process.argv[1], systemRandom()).token('race', 'a'));`;
    const flags = ['--input-type=module', '--eval', program, dataDir];
    const run = () => promisify(execFile)(process.execPath, flags);
    const outputs = await Promise.all(Array.from({ length: 4 }, run));
    expect(outputs.map(({ stdout }) => stdout)).toEqual(
      Array(4).fill(openSecrets(dataDir, random).token('race', 'a')),
    );
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });
});

describe('an encrypted text', () => {
  it('is decrypted in the same context, for text and bytes', () => {
    const secrets = openSecrets(dataDir, random);
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, context) => {
        const plain = Buffer.from(bytes);
        expect(secrets.decrypt(secrets.encrypt(plain, context), context)).toEqual(plain);
      }),
    );
    expect(secrets.decrypt(secrets.encrypt('schlüssel', 'a'), 'a').toString()).toBe('schlüssel');
  });

  it('reveals neither its content nor equality', () => {
    const secrets = openSecrets(dataDir, random);
    const text = secrets.encrypt('hunter2hunter2', 'a');
    expect(text).toMatch(/^v1\.[0-9a-z]+\.[\w-]+$/);
    const sealed = Buffer.from(text.split('.')[2] ?? '', 'base64url');
    expect(sealed.toString('latin1')).not.toContain('hunter2');
    expect(secrets.encrypt('hunter2hunter2', 'a')).not.toBe(text);
  });

  it('cannot be read in another context, by another installation, or after any change', () => {
    const secrets = openSecrets(dataDir, random);
    const text = secrets.encrypt('-----BEGIN PRIVATE KEY-----', 'domainKey:dkim_1');
    const other = openSecrets(`${dataDir}-other`, random);
    expect(() => secrets.decrypt(text, 'domainKey:dkim_2')).toThrow(InternalError);
    expect(() => other.decrypt(text, 'domainKey:dkim_1')).toThrow(
      /a stored secret \(domainKey\) is encrypted with the root key \w+, which this process does not/,
    );
    const [version = '', key = '', body = ''] = text.split('.');
    const sealed = Buffer.from(body, 'base64url');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const changedText = `${version}.${key}.${changed.toString('base64url')}`;
      expect(() => secrets.decrypt(changedText, 'domainKey:dkim_1')).toThrow(InternalError);
    }
    for (const broken of [
      '',
      'v1.',
      `v1.${key}.AAAA`,
      `v1.${body}`,
      `v2.${key}.${body}`,
      text.slice(0, -5),
    ]) {
      expect(() => secrets.decrypt(broken, 'domainKey:dkim_1')).toThrow(InternalError);
    }
  });
});

describe('a token', () => {
  const id = 'dlv_0123456789abcdefghjkmnpq';

  it('returns any payload', () => {
    const secrets = openSecrets(dataDir, random);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (payload) => {
        fc.pre(Buffer.byteLength(payload) <= 512);
        const token = secrets.token('link', payload);
        expect(token).toMatch(/^[0-9a-z_-]+$/);
        expect(secrets.verifyToken('link', token)).toBe(payload);
        expect(secrets.verifyToken('link', token.toUpperCase())).toBe(payload);
      }),
    );
  });

  it('of an id fits the local part of a return path (RFC 5321, 4.5.3.1.1: 64 octets)', () => {
    const token = openSecrets(dataDir, random).token('bounce', id);
    expect(token.startsWith(`${id}-`)).toBe(true);
    expect(`bounce+${token}`.length).toBeLessThanOrEqual(64);
  });

  it('has a twin of the same payload that is never mistaken for it', () => {
    const secrets = openSecrets(dataDir, random);
    const { first, second } = secrets.twinTokens('bounce', id);
    expect(first).toBe(secrets.token('bounce', id));
    expect(second.slice(0, 29)).toBe(`${id}-`);
    expect(secrets.verifyToken('bounce', first)).toBe(id);
    expect(secrets.verifyToken('bounce', second, { twin: 'second' })).toBe(id);
    expect(secrets.verifyToken('bounce', first, { twin: 'second' })).toBeNull();
    expect(secrets.verifyToken('bounce', second)).toBeNull();
  });

  it('is invalid for another purpose or another installation', () => {
    const secrets = openSecrets(dataDir, random);
    const token = secrets.token('bounce', id);
    expect(secrets.verifyToken('unsubscribe', token)).toBeNull();
    expect(openSecrets(`${dataDir}-other`, random).verifyToken('bounce', token)).toBeNull();
  });

  it('is invalid after any changed, added or removed character', () => {
    const secrets = openSecrets(dataDir, random);
    for (const token of [secrets.token('bounce', id), secrets.token('bounce', 'Ab.1')]) {
      for (let at = 0; at < token.length; at++) {
        const other = token[at] === '7' ? '8' : '7';
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        expect(secrets.verifyToken('bounce', changed)).toBeNull();
        expect(secrets.verifyToken('bounce', token.slice(0, at))).toBeNull();
      }
      expect(secrets.verifyToken('bounce', `${token}0`)).toBeNull();
      expect(secrets.verifyToken('bounce', `0${token}`)).toBeNull();
    }
  });

  it('is null for any made-up text, without an exception', () => {
    const secrets = openSecrets(dataDir, random);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(secrets.verifyToken('bounce', text)).toBeNull();
        expect(secrets.verifyToken('bounce', `x-${text}-${'0'.repeat(26)}`)).toBeNull();
      }),
    );
    expect(secrets.verifyToken('bounce', 'a'.repeat(1_000_000))).toBeNull();
  });

  it('takes 1 to 512 bytes', () => {
    const secrets = openSecrets(dataDir, random);
    const longest = 'Ä'.repeat(256);
    expect(secrets.verifyToken('a', secrets.token('a', longest))).toBe(longest);
    expect(() => secrets.token('a', `${longest}a`)).toThrow(RangeError);
    expect(() => secrets.token('a', '')).toThrow(RangeError);
  });
});
