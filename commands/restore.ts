// `svc restore`. src/platform/store/restore.ts checks the backup and keeps the replaced store.
import { resolve } from 'node:path';
import { Args } from '@oclif/core';
import { ValidationError } from '../src/platform/errors.ts';
import { confirmed } from './base/ask.ts';
import { BaseCommand, yesFlag } from './base/command.ts';
import { print, writeWarning } from './base/output.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';

export default class Restore extends BaseCommand {
  static override summary = 'Replace the store by a backup';

  static override description =
    'Checks the backup first, and keeps the replaced store beside the new one under ' +
    'another name. Owner and mode of the file stay. A secret.key in the backup is ' +
    'restored too. Stop the daemon before. The next daemon delivers the messages that ' +
    'were waiting at the time of the backup, even if they have been delivered since: ' +
    'delete those that must not be sent twice. Campaign runs that were scheduled or running ' +
    'come up paused: "svc campaigns resume" continues one. Asks for confirmation on a terminal; ' +
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
    const { secretFile } = await import('../src/platform/runtime/secrets.ts');
    const { storeLocation } = await import('../src/platform/store/open.ts');
    const { restoreBackup } = await import('../src/platform/store/restore.ts');
    const location = storeLocation(config.database.url, config.dataDir);
    if (location.kind === 'postgres') {
      throw new ValidationError('The store is on PostgreSQL: restore it with pg_restore');
    }
    await confirmed(`Replace the store ${location.file} by ${args.file}?`, flags.yes);
    const { dataDir } = config;
    const { pauseOfRestored } = await import('../src/people/runs/walk-queries.ts');
    const target = {
      file: location.file,
      dataDir,
      clock: systemClock,
      random: systemRandom(),
      changes: [pauseOfRestored],
    };
    const { keptAs, secret } = restore(() => restoreBackup(resolve(args.file), target));
    const message = `Restored ${location.file} from ${resolve(args.file)}`;
    await print(flags, { success: true, message, file: location.file, keptAs, secret }, () =>
      keptAs === null ? `${message}.` : `${message}.\nThe replaced store: ${keptAs}`,
    );
    if (secret === 'missing') {
      writeWarning(
        `${secretFile(dataDir)} is missing, and the backup holds none: copy it there ` +
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
