import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isKeyText, isTestKey, makeKey } from '../../../src/access/keys/key-format.ts';
import { seededRandom, systemRandom } from '../../../src/platform/runtime/random.ts';

describe('the text of a key', () => {
  it.each(['live', 'test'] as const)('is svc_%s_, 32 random and 6 check characters', (mode) => {
    const key = makeKey(systemRandom(), mode);
    expect(key.plaintext).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{38}$`));
    expect(key.start).toBe(key.plaintext.slice(0, 14));
    expect(key.hash).toBe(createHash('sha256').update(key.plaintext).digest('hex'));
    expect(isKeyText(key.plaintext)).toBe(true);
    expect(isTestKey(key.start)).toBe(mode === 'test');
  });

  it('is unique in 500 keys', () => {
    const random = systemRandom();
    const made = new Set(Array.from({ length: 500 }, () => makeKey(random, 'live').plaintext));
    expect(made.size).toBe(500);
  });

  it('uses all characters of base62 evenly', () => {
    const random = seededRandom(7);
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      for (const one of makeKey(random, 'live').plaintext.slice(9, 41)) {
        counts.set(one, (counts.get(one) ?? 0) + 1);
      }
    }
    const mean = (2_000 * 32) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(mean * 0.2);
  });

  it('fails its checksum after one changed character', () => {
    const { plaintext } = makeKey(seededRandom(3), 'live');
    for (let i = 9; i < plaintext.length; i++) {
      const other = plaintext[i] === 'a' ? 'b' : 'a';
      const changed = plaintext.slice(0, i) + other + plaintext.slice(i + 1);
      expect(isKeyText(changed), changed).toBe(false);
    }
  });

  it.each([
    '',
    'svc_live_',
    'svc_prod_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA000000',
    'x'.repeat(100_000),
    `svc_live_${'A'.repeat(38)}\n`,
  ])('is told from other texts (%#)', (text) => {
    expect(isKeyText(text)).toBe(false);
  });
});
