// `svc restore`. Checks, and the kept store: src/store/restore.ts.
import { resolve } from 'node:path';
import { Args } from '@oclif/core';
import { ValidationError } from '../src/errors.ts';
import { confirmed } from './base/ask.ts';
import { BaseCommand, yesFlag } from './base/command.ts';
import { print, writeWarning } from './base/output.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';

export default class Restore extends BaseCommand {
  static override summary = 'Put a backup in the place of the store';

  static override description =
    'The backup is checked first; the store it replaces is kept next to it under another ' +
    'name. Owner and mode of the file stay. A secret.key in the backup is put back too. Stop the daemon before. Messages that were waiting when the backup was made are ' +
    'delivered by the next daemon, even if they have been delivered since: delete those you ' +
    'do not want sent twice. Asks first on a terminal; elsewhere it needs --yes.';

  static override examples = [
    { description: 'In a script', command: 'svc restore /backup/svc.db --yes' },
  ];

  static override args = {
    file: Args.string({ description: 'Backup made with "svc backup"', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore);
    const { config } = await readStoreConfig(flags);
    const { systemClock } = await import('../src/runtime/clock.ts');
    const { systemRandom } = await import('../src/runtime/random.ts');
    const { secretFile } = await import('../src/runtime/secrets.ts');
    const { storeLocation } = await import('../src/store/open.ts');
    const { restoreBackup } = await import('../src/store/restore.ts');
    const location = storeLocation(config.database.url, config.dataDir);
    if (location.kind === 'postgres') {
      throw new ValidationError('The store is on PostgreSQL: restore it with pg_restore');
    }
    await confirmed(`Replace the store ${location.file} by ${args.file}?`, flags.yes);
    const { dataDir } = config;
    const target = { file: location.file, dataDir, clock: systemClock, random: systemRandom() };
    const { keptAs, secret } = restore(() => restoreBackup(resolve(args.file), target));
    const message = `Restored ${location.file} from ${resolve(args.file)}`;
    await print(flags, { success: true, message, file: location.file, keptAs, secret }, () =>
      keptAs === null ? `${message}.` : `${message}.\nThe store as it was: ${keptAs}`,
    );
    if (secret === 'missing') {
      writeWarning(
        `there is no ${secretFile(dataDir)}, and the backup holds none: copy it there from where ` +
          'the backup was made, or nothing can use this store',
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
