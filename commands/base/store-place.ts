// Describes the store and the configuration of a command: for `config show --origin`, and for
// errors about a missing store, or a store of an earlier schema.
import type { LoadedConfig } from '../../src/core/config/config.ts';
import { NoStoreError, OlderStoreError } from '../../src/platform/errors.ts';

/** Returns the configuration file in use, or the places where none was found. */
export function configFileInWords({ file, usualPlaces }: LoadedConfig): string {
  return file ?? `none, using the defaults; looked for ${usualPlaces.join(', ')}`;
}

/** Describes the place of the store, and whether a store exists there. */
export async function storeInWords({ config }: LoadedConfig): Promise<string> {
  const { database, dataDir } = config;
  const { describeLocation, isStoreThere, storeLocation } = await import(
    '../../src/platform/store/open.ts'
  );
  const place = describeLocation(storeLocation(database.url, dataDir));
  const state = await isStoreThere(database, dataDir).then(
    (isThere) => (isThere ? '' : ' (does not exist yet)'),
    () => ' (cannot be reached)',
  );
  return `${place}${state}`;
}

/**
 * Adds context to errors of the store. A missing store: the configuration that named it, and how to
 * name the daemon's store. An earlier schema: the daemon on that store. Returns a different error
 * unchanged.
 */
export async function inContext(error: unknown, loaded: LoadedConfig): Promise<unknown> {
  if (error instanceof OlderStoreError) return withDaemon(error, loaded);
  return error instanceof NoStoreError ? withConfiguration(error, loaded) : error;
}

/** Adds the version of the running daemon, which needs the earlier schema. */
async function withDaemon(error: OlderStoreError, { config }: LoadedConfig): Promise<unknown> {
  const { daemonPid, isDaemonRunning, storeLocation } = await import(
    '../../src/platform/store/open.ts'
  );
  const { readiness } = await import('../../src/service/status.ts');
  const location = storeLocation(config.database.url, config.dataDir);
  const isRunning = isDaemonRunning(location);
  if (isRunning === false) return error;
  const answer = await readiness(config);
  // A daemon of a different store may answer at this address.
  const isOfStore = location.kind === 'postgres' || answer.pid === daemonPid(location.file);
  if (isRunning === null && (answer.pid === null || !isOfStore)) return error;
  const { version } = answer;
  const named = isOfStore && version !== null ? `The daemon of version ${version}` : 'A daemon';
  const words = `${error.message}. ${named} runs on it: stop it before`;
  return new OlderStoreError(words, { cause: error });
}

function withConfiguration(error: NoStoreError, loaded: LoadedConfig): NoStoreError {
  const lines = [
    `${error.message}.`,
    `Configuration file: ${configFileInWords(loaded)}.`,
    'Name the configuration of the daemon with --config FILE or SVC_CONFIG, or its data ' +
      'directory with SVC_DATA_DIR.',
    error.lacks === 'store'
      ? 'Run "svc init" to create a new store.'
      : 'If it was lost, restore it from your copy: the store cannot be used without it.',
  ];
  return new NoStoreError(lines.join('\n'), error.lacks, { cause: error });
}
