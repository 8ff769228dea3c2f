// How the tests run: every test/**/*.test.ts, in three processes, file after file. To load the service
// and to warm up costs more than most files, so a process does it once: a file leaves it as it was.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Node keeps what it has compiled of the packages for the second process, and for the next run.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** What all tests have in common. */
export const suite = {
  // Processes, not threads: native modules, signals and the working directory are per process.
  pool: 'forks',
  testTimeout: 60_000,
  // Of what is asked again until it is so: a busy machine is slow, and that is no failure.
  expect: { poll: { timeout: 10_000 } },
  hookTimeout: 60_000,
} as const;

const all = 'test/**/*.test.ts';
/**
 * Each has a process of its own: most change whom their process trusts, and Node keeps that. The fills measure stalls,
 * and the heap of other tests adds pauses that a daemon does not have.
 */
const alone = [
  'test/content/rendering/fill.test.ts',
  'test/identity/domains/registrar.test.ts',
  'test/service/doctor/doctor.test.ts',
  'test/mail/smtp/{mta-sts,mta-sts-kept,transport}.test.ts',
  'test/outbound/tracking/custom/{hosts,pebble}.test.ts',
];
const never = ['**/node_modules/**', 'test/bench/**'];

export default defineConfig({
  test: {
    reporters: ['default', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/postgres.ts'],
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...suite,
          name: 'shared',
          isolate: false,
          include: [all],
          exclude: [...never, ...alone],
        },
      },
      { test: { ...suite, name: 'alone', include: alone, exclude: never } },
    ],
  },
});
