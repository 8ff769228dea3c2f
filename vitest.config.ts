// How the tests run, by command: file after file in four processes, as a file waits for a quarter of its time. To load the service and to warm up costs
// more than most files, so a process does it once: a file leaves the process as it was.
import { globSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import SlowFirst from './test/support/slow-first.ts';

/** The commands `npm test`, `npm run test:postgres` and `npm run test:long`. */
export type TestCommand = 'test' | 'postgres' | 'long';

declare module 'vitest' {
  export interface ProvidedContext {
    testCommand: TestCommand;
  }
}

// Node keeps what it has compiled of the packages for the second process, and for the next run.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');
// Stores that live for seconds need not reach a disk: their daemons wait for it at each commit.
process.env.TMPDIR ??= memoryFolder();

/** Returns a folder in memory where four gigabytes are free, else the usual one. */
function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize > 2 ** 32) return '/dev/shm';
  } catch {}
  return tmpdir();
}

/** What all tests have in common. */
export const suite = {
  // Processes, not threads: native modules, signals and the working directory are per process.
  pool: 'forks',
  // Against hangs: some files fill a store for 40 s, and twice as long on a busy machine.
  testTimeout: 180_000,
  // Of what is asked again until it is so: a busy machine is slow, and that is no failure.
  expect: { poll: { timeout: 10_000 } },
  hookTimeout: 180_000,
} as const;

/**
 * Each has a process of its own: most change whom their process trusts, and Node keeps that, or replace a module. Fills and escapes measure
 * stalls: the heap of other tests adds pauses that a daemon does not have, and 0.4 s for each collection of garbage.
 */
const alone = [
  'test/faults/long-holders.test.ts',
  'test/content/git/flattened-trees.test.ts',
  'test/content/rendering/escapes.test.ts',
  'test/content/rendering/fill.test.ts',
  'test/identity/domains/registrar.test.ts',
  'test/service/doctor/doctor.test.ts',
  ...['mta-sts', 'mta-sts-kept', 'transport'].map((name) => `test/mail/smtp/${name}.test.ts`),
  ...['hosts', 'pebble'].map((name) => `test/outbound/tracking/custom/${name}.test.ts`),
];

/** Finds the test files of a command by their names, and by the words of test/support/command.ts in them. */
function filesOf(command: TestCommand): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).sort();
  const isLong = (file: string) => file.endsWith('.long.test.ts');
  if (command === 'test') return files.filter((file) => !isLong(file));
  const words = command === 'long' ? /\binLong\(/ : /\beach\(stores\)/;
  return files.filter((file) => {
    if (isLong(file)) return command === 'long';
    return words.test(readFileSync(join(import.meta.dirname, file), 'utf8'));
  });
}

/** Returns the configuration of a command. */
export function testsOf(command: TestCommand): ViteUserConfig {
  const files = filesOf(command);
  const common = { ...suite, provide: { testCommand: command } };
  const shared = files.filter((file) => !alone.includes(file));
  const apart = files.filter((file) => alone.includes(file));
  const projects = [{ test: { ...common, name: 'shared', isolate: false, include: shared } }];
  const others = { test: { ...common, name: 'alone', isolate: true, include: apart } };
  return defineConfig({
    root: import.meta.dirname,
    test: {
      reporters: ['default', './test/support/summary-reporter.ts'],
      globalSetup: ['test/support/postgres.ts'],
      maxWorkers: 4,
      sequence: { sequencer: SlowFirst },
      projects: apart.length > 0 ? [...projects, others] : projects,
    },
  });
}

export default testsOf('test');
