// Names of the test commands: `npm test`, `npm run test:postgres`, `npm run test:long`.
// vitest.config.ts selects the files of a command by these words.
import { inject } from 'vitest';

const command = inject('testCommand');

export type TestStore = 'sqlite' | 'postgres';

/**
 * Both engines in `npm test`: for SQL that differs by engine, for several daemons, and for suites
 * over all nouns.
 */
export const bothStores = ['sqlite', 'postgres'] as const satisfies TestStore[];

/**
 * SQLite in `npm test`, PostgreSQL in `npm run test:postgres`: `describe.each(stores)('… on %s',
 * (store) => …)`.
 */
export const stores: readonly TestStore[] = command === 'postgres' ? ['postgres'] : ['sqlite'];

/** Returns `many` in `npm run test:long`, else `few`: for seeds, rounds and points of failure. */
export function inLong<T>(many: T, few: T): T {
  return command === 'long' ? many : few;
}
