// Describes the store and the configuration of a command: for `config show --origin`, and for
// errors about a missing store.
import type { LoadedConfig } from '../../src/core/config/config.ts';
import { NoStoreError } from '../../src/platform/errors.ts';

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
 * Adds to the error of a missing store which configuration named it, and how to name the daemon's.
 * Returns any other error unchanged.
 */
export function withConfiguration(error: unknown, loaded: LoadedConfig): unknown {
  if (!(error instanceof NoStoreError)) return error;
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
