// The words for permissions, which a person reads before granting them.
import { expect, it } from 'vitest';
import { everyPermission } from '../../../src/core/api/permission.ts';
import { permissionWords } from '../../../src/core/api/permission-words.ts';

it('each permission has words of its own, and no others have', () => {
  expect(new Set(Object.keys(permissionWords))).toEqual(new Set(everyPermission()));
  const words = Object.values(permissionWords);
  expect(new Set(words).size).toBe(words.length);
});

it.each(Object.entries(permissionWords))('%s completes the sentence "it may …"', (_name, words) => {
  expect(words).toMatch(/^[a-z]+,?(?: [a-zA-Z,()]+)+$/);
  expect(words.length).toBeLessThanOrEqual(80);
});
