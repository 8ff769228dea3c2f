// `svc restore`. src/platform/upkeep/restore.ts checks the backup and keeps the replaced store.
import { resolve } from 'node:path';
import { Args } from '@oclif/core';
import type { Restored } from '../src/platform/upkeep/restore.ts';
import { BaseCommand, yesFlag } from './base/command.ts';
import { confirmed } from './base/input/ask.ts';
import { inWords, membersIn } from './base/nouns/restored-members.ts';
import { print, writeWarning } from './base/output/output.ts';
import { startProgress } from './base/output/progress.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';

export default class Restore extends BaseCommand {
  static override summary = 'Replace the store by a backup';

  static override description =
    'Checks the backup first, and keeps the replaced store beside the new one under ' +
    'another name. On PostgreSQL the database must be empty; an interrupted restore continues if it is repeated. Owner and mode of the file stay. A secret.key in the backup is ' +
    'restored too. Stop the daemon before. The next daemon delivers the messages that ' +
    'were waiting at the time of the backup, even if they have been delivered since: ' +
    'delete those that must not be sent twice. Campaign runs that were scheduled or running ' +
    'come up paused: "svc campaigns resume" continues one. Sessions and links of the console end. Asks for confirmation on a terminal; ' +
    'elsewhere it needs --yes.';

  static override examples = [
    { description: 'Restore a backup in a script', command: 'svc restore /backup/svc.db --yes' },
  ];

  static override args = {
    file: Args.string({ description: 'Backup made by "svc backup"', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore);
    const { config } = await readStoreConfig(flags);
    const { systemClock } = await import('../src/platform/runtime/clock.ts');
    const { systemRandom } = await import('../src/platform/runtime/random.ts');
    const { secretFile } = await import('../src/platform/runtime/key-ring.ts');
    const { describeLocation, storeLocation } = await import('../src/platform/store/open.ts');
    const { restoreBackup } = await import('../src/platform/upkeep/restore.ts');
    const location = storeLocation(config.database.url, config.dataDir);
    const place = describeLocation(location);
    const isFile = location.kind === 'sqlite';
    const question = isFile
      ? `Replace the store ${place} by`
      : `Fill the empty database ${place} from`;
    await confirmed(`${question} ${args.file}?`, flags.yes);
    const { dataDir, database, secret: settings } = config;
    const { pauseOfRestored } = await import('../src/run-ledger/walk-queries.ts');
    const { activeOfRestored } = await import('../src/access/members/queries.ts');
    const { endsOfRestored } = await import('../src/outbound/sending/people/restored.ts');
    const backup = resolve(args.file);
    const target = {
      dataDir,
      secretFile: settings.key === null ? secretFile(dataDir, settings) : null,
      clock: systemClock,
      random: systemRandom(),
      changes: [pauseOfRestored, ...endsOfRestored],
      list: activeOfRestored,
    };
    const message = `Restored ${place} from ${backup}`;
    let secret: Restored['secret'];
    if (isFile) {
      const { file } = location;
      const done = restore(() => restoreBackup(backup, { ...target, file }));
      secret = done.secret;
      const { keptAs } = done;
      const members = membersIn(done.listed);
      await print(flags, { success: true, message, file, keptAs, secret, ...members }, () => {
        const kept = keptAs === null ? '' : `\nThe replaced store: ${keptAs}`;
        return `${message}.${kept}${inWords(members)}`;
      });
    } else {
      const { restoreToPostgres } = await import('../src/platform/upkeep/restore-to-postgres.ts');
      const progress = await startProgress(flags, 'restored');
      const onProgress = progress.update;
      const done = await restoreToPostgres(backup, { ...target, database, onProgress })
        .catch((error: unknown) => {
          throw asUnreachable(error);
        })
        .finally(progress.stop);
      secret = done.secret;
      const rows = done.tables.reduce((sum, table) => sum + table.rows, 0);
      const { tables } = done;
      const members = membersIn(done.listed);
      await print(
        flags,
        { success: true, message, database: place, secret, tables, ...members },
        () =>
          `${message}: ${rows} rows in ${tables.length} tables, compared with the backup.${inWords(members)}`,
      );
    }
    if (secret === 'missing') {
      writeWarning(
        `${secretFile(dataDir, settings)} is missing, and the backup holds none: copy it there ` +
          'from the machine that made the backup, or nothing can use this store',
      );
    }
  }
}

function restore<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asUnreachable(error);
  }
}
