// How the tests run: every test/**/*.test.ts, one process per file, two at a time.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/bench/**'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/postgres.ts'],
    // Processes, not threads: native modules, signals and the working directory are per process.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    // Of what is asked again until it is so: a busy machine is slow, and that is no failure.
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
});
