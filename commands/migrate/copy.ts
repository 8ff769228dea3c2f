// `svc migrate copy`. src/platform/upkeep/copying/ copies and compares.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Flags } from '@oclif/core';
import type { Config } from '../../src/core/config/config.ts';
import { ConflictError } from '../../src/platform/errors.ts';
import type { DatabaseSettings } from '../../src/platform/store/postgres/settings.ts';
import type { TableDigest } from '../../src/platform/upkeep/copying/digest.ts';
import { fileOperation, isRootsPath } from '../base/account/file-broker.ts';
import { BaseCommand } from '../base/command.ts';
import { refuseDaemons } from '../base/no-daemon.ts';
import { inWords, membersIn } from '../base/nouns/restored-members.ts';
import { UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { type Progress, startProgress } from '../base/output/progress.ts';
import { asUnreachable, readStoreConfig } from '../base/session.ts';
import { inContext } from '../base/store-place.ts';

export default class MigrateCopy extends BaseCommand {
  static override summary = 'Copy the store to the other engine, and compare both';

  static override description =
    'From SQLite to an empty database of PostgreSQL, or from PostgreSQL to a new SQLite file. Stop all daemons ' +
    'before. The store stays as it is; start no daemon on it again, or mail is sent twice. At the end each ' +
    'table is compared by its rows and its digest. To PostgreSQL an interrupted copy continues with the next ' +
    'table if it is repeated. Then set database.url, and keep secret.key: both stores need the same.';

  static override examples = [
    {
      description: 'Copy the store to PostgreSQL',
      command: 'svc migrate copy --to postgres://svc@db.example.com/svc',
    },
    {
      description: 'Copy it back to one file',
      command: 'svc migrate copy --to sqlite:/var/lib/svc/svc.db',
    },
  ];

  static override flags = {
    to: Flags.string({
      description: 'Database of the copy: postgres://… or sqlite:FILE',
      required: true,
      helpValue: 'URL',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MigrateCopy);
    const loaded = await readStoreConfig(flags);
    const { database, dataDir } = loaded.config;
    const { describeLocation, storeLocation } = await import('../../src/platform/store/open.ts');
    const { databaseUrl } = await import('../../src/core/config/values.ts');
    if (!databaseUrl.safeParse(flags.to).success) {
      throw new UsageError('--to: expected postgres://USER@HOST/DATABASE or sqlite:FILE');
    }
    const [from, to] = [storeLocation(database.url, dataDir), storeLocation(flags.to, dataDir)];
    if (from.kind === to.kind) {
      const tool = from.kind === 'sqlite' ? 'svc backup' : 'pg_dump';
      throw new UsageError(`--to: the store is on the same engine already; copy it by ${tool}`);
    }
    const progress = await startProgress(flags, 'copied');
    try {
      const { tables, listed } =
        to.kind === 'postgres'
          ? await toPostgres({ database, dataDir }, { ...database, url: to.url }, progress)
          : await toSqlite(loaded.config, to.file, progress);
      progress.stop();
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      const message = `Copied ${describeLocation(from)} to ${describeLocation(to)}`;
      const members = membersIn(listed);
      await print(flags, { success: true, message, tables, ...members }, () =>
        [
          `${message}: ${rows} rows in ${tables.length} tables, equal on both sides.${inWords(members)}`,
          `Next: set database.url to the copy, and start no daemon on the old store again.`,
        ].join('\n'),
      );
    } catch (error) {
      throw asUnreachable(await inContext(error, loaded));
    } finally {
      progress.stop();
    }
  }
}

interface Copied {
  tables: TableDigest[];
  /** Active members of the copy. */
  listed: unknown[];
}

async function copied(tables: TableDigest[], file: string): Promise<Copied> {
  const { listIn } = await import('../../src/platform/upkeep/copying/tables.ts');
  const { activeOfRestored } = await import('../../src/access/members/queries.ts');
  return { tables, listed: listIn(file, activeOfRestored) };
}

/** Copies from the SQLite file. No daemon may use the file meanwhile. */
async function toPostgres(
  { database, dataDir }: { database: DatabaseSettings; dataDir: string },
  target: DatabaseSettings,
  progress: Progress,
): Promise<Copied> {
  const { lockDaemon, openStore, storeLocation } = await import('../../src/platform/store/open.ts');
  const { systemClock } = await import('../../src/platform/runtime/clock.ts');
  const { loadIntoPostgres } = await import('../../src/platform/upkeep/copying/to-postgres.ts');
  const location = storeLocation(database.url, dataDir);
  const options = { mustExist: true, earlier: 'read' } as const;
  const store = await openStore(database, dataDir, systemClock, options);
  await store.close();
  const lock = lockDaemon(location);
  try {
    const file = location.kind === 'sqlite' ? location.file : '';
    const { mailToPersonsOfRestored } = await import('../../src/outbound/deliveries/queries.ts');
    const ends = [mailToPersonsOfRestored];
    return await copied(await loadIntoPostgres(file, target, progress.update, ends), file);
  } finally {
    lock.release();
  }
}

/** Copies from the database to a new file. No daemon may run on the database. */
async function toSqlite(config: Config, file: string, progress: Progress): Promise<Copied> {
  if (await fileOperation('look', file)) {
    throw new ConflictError('store', `${file} exists already: name a new file`);
  }
  await refuseDaemons(config);
  const { systemClock: clock } = await import('../../src/platform/runtime/clock.ts');
  const { saveBackup } = await import('../../src/platform/upkeep/backup.ts');
  const { changeIn, digestsOfFile } = await import('../../src/platform/upkeep/copying/tables.ts');
  const { mailToPersonsOfRestored } = await import('../../src/outbound/deliveries/queries.ts');
  // The file gets the final name only after it is complete and was compared with the database.
  const source = { kind: 'postgres', database: config.database, clock } as const;
  const isRoots = isRootsPath(file);
  const copy = isRoots ? join(config.dataDir, `copy-${process.pid}.db`) : file;
  try {
    await saveBackup(source, copy, { overwrite: false, onProgress: progress.update });
    const digests = digestsOfFile(copy);
    changeIn(copy, [mailToPersonsOfRestored]);
    const done = await copied(digests, copy);
    if (isRoots) await fileOperation('place', file, copy, process.pid);
    return done;
  } finally {
    if (isRoots) rmSync(copy, { force: true });
  }
}
