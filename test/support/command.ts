// The part of each test command: `npm test`, `npm run test:postgres`, `npm run test:long`.
// vitest.config.ts finds the files of a command by these words.
import { inject } from 'vitest';

const command = inject('testCommand');

export type TestStore = 'sqlite' | 'postgres';

/**
 * Both engines in `npm test`, for SQL of an engine, for several daemons and for suites of all
 * nouns.
 */
export const bothStores = ['sqlite', 'postgres'] as const satisfies TestStore[];

/**
 * SQLite in `npm test`, PostgreSQL in `npm run test:postgres`: `describe.each(stores)('… on %s',
 * (store) => …)`.
 */
export const stores: readonly TestStore[] = command === 'postgres' ? ['postgres'] : ['sqlite'];

/**
 * Returns `many` in `npm run test:long`, and `few` in the other commands: seeds, rounds, points of
 * death.
 */
export function inLong<T>(many: T, few: T): T {
  return command === 'long' ? many : few;
}
