// Opens the service for a command and closes it afterwards: configuration, store, and the operator
// as the caller in `--org`. Imports large modules only when a command runs.

import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { LoadedConfig } from '../../src/core/config/config.ts';
import { CapacityError, ConfigError, UnreachableError } from '../../src/platform/errors.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { takeAccountOfStore } from './account/account.ts';
import type { CommonFlags } from './command.ts';
import { withoutRoute } from './remote/server.ts';
import { refuseForeignStore } from './same-store.ts';
import { inContext } from './store-place.ts';

/** The configuration that root has read before changing to the account of the store. */
let readByRoot: LoadedConfig | null = null;

/**
 * Reads the configuration as the daemon does. A command of root then changes to the account that
 * owns `dataDir`. @throws ConfigError; UnreachableError if the change of account fails
 */
export async function readConfig(
  flags: CommonFlags,
  options: { withoutSecrets?: boolean; staysRoot?: boolean } = {},
): Promise<LoadedConfig> {
  if (flags.server !== undefined) {
    throw withoutRoute('What these words ask for', flags.server);
  }
  // After the change of account, the process may not enter folders of root.
  if (readByRoot && process.geteuid?.() !== 0) return readByRoot;
  const { withoutSecrets = false, staysRoot = flags.staysRoot } = options;
  const { loadConfig } = await import('../../src/core/config/config.ts');
  const request = { file: flags.config, env: process.env, cwd: process.cwd(), withoutSecrets };
  const loaded = loadConfig(request);
  if (staysRoot !== true && takeAccountOfStore(loaded.config)) readByRoot = loaded;
  return loaded;
}

/**
 * Reads the configuration for a command that uses only the store: secrets may be missing.
 * @throws ConfigError; UnreachableError if the daemon of `dataDir` works on a different store
 */
export async function readStoreConfig(
  flags: CommonFlags,
  { usesStore = true } = {},
): Promise<LoadedConfig> {
  const loaded = await readConfig(flags, { withoutSecrets: true });
  if (usesStore) await refuseForeignStore(loaded);
  return loaded;
}

/**
 * Turns a refused system call, or a store without capacity, into an UnreachableError. Returns a
 * different error unchanged.
 */
export function asUnreachable(error: unknown): unknown {
  if (error instanceof CapacityError) return new UnreachableError(error.message, { cause: error });
  if (!(error instanceof Error && 'syscall' in error) || error instanceof ConfigError) return error;
  return new UnreachableError(`The data directory cannot be used: ${error.message}`, {
    cause: error,
  });
}

/**
 * Opens the service, runs `work`, closes the service. With `readsEarlier` it only reads, and
 * accepts a store of an earlier schema. @throws NoStoreError if no store exists yet (`svc init`);
 * OlderStoreError for an earlier schema
 */
export async function withApp<T>(
  flags: CommonFlags,
  work: (app: App) => Promise<T>,
  { readsEarlier = false } = {},
): Promise<T> {
  const loaded = await readStoreConfig(flags);
  const [{ openService }, { createLogger }] = await Promise.all([
    import('../../src/service/service.ts'),
    import('../../src/platform/runtime/log.ts'),
  ]);
  const clock = await clockOf(loaded);
  // Writes no log: a command reports on standard output and standard error.
  const log = await createLogger({ level: 'silent', pretty: false });
  const options = { mustExist: true, readsEarlier, ...(clock && { clock }) };
  const app = await openService(loaded.config, log, options).catch(async (error: unknown) => {
    throw asUnreachable(await inContext(error, loaded));
  });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Returns the clock of a store with virtual time, stopped at the daemon's time; else undefined. */
async function clockOf({ config }: LoadedConfig): Promise<Clock | undefined> {
  const { readClockFile } = await import('../../src/service/virtual-clock/clock-file.ts');
  const file = readClockFile(config.dataDir);
  if (!file) return undefined;
  const { StandingClock } = await import('../../src/platform/runtime/standing-clock.ts');
  return new StandingClock(file.now);
}

/** Runs `withApp` as the operator in the organization of `--org`. */
export function withCaller<T>(
  flags: CommonFlags,
  work: (app: App, caller: Caller) => Promise<T>,
): Promise<T> {
  return withApp(flags, async (app) => {
    const { organizationIdFrom } = await import('./nouns/organization-id.ts');
    const { operatorOf } = await import('../../src/access/keys/roles.ts');
    return work(app, operatorOf(await organizationIdFrom(app, flags.org)));
  });
}
