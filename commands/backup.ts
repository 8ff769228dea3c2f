// `svc backup` (contract 2). How the copy is made: src/store/restore.ts.
import { resolve } from 'node:path';
import { Args, Flags } from '@oclif/core';
import { ValidationError } from '../src/errors.ts';
import { BaseCommand } from './base/command.ts';
import { print } from './base/output.ts';
import { startProgress } from './base/progress.ts';
import { asUnreachable, readConfig } from './base/session.ts';

export default class Backup extends BaseCommand {
  static override summary = 'Copy the store to a file while everything goes on';

  static override description =
    'The copy is consistent and complete but for the secret key of the installation ' +
    '(secret.key in the data directory), which its DKIM keys are encrypted with: keep that ' +
    'file too, elsewhere than the backup. On PostgreSQL use pg_dump.';

  static override examples = [
    { description: 'Every night', command: 'svc backup /backup/svc-$(date +%F).db' },
    { description: 'Always to the same file', command: 'svc backup /backup/svc.db --overwrite' },
  ];

  static override args = {
    file: Args.string({ description: 'File to write', required: true }),
  };

  static override flags = {
    overwrite: Flags.boolean({ description: 'Replace the file if there is one' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Backup);
    const { config } = await readConfig(flags);
    const { storeLocation } = await import('../src/store/open.ts');
    const { saveBackup } = await import('../src/store/restore.ts');
    const location = storeLocation(config.database.url, config.dataDir);
    if (location.kind === 'postgres') {
      throw new ValidationError('The store is on PostgreSQL: back it up with pg_dump');
    }
    const target = resolve(args.file);
    const progress = await startProgress(flags, 'copied');
    const bytes = await saveBackup(location.file, target, flags.overwrite, progress.update)
      .catch((error: unknown) => {
        throw asUnreachable(error);
      })
      .finally(progress.stop);
    const message = `Backed up ${location.file} to ${target}`;
    await print(flags, { success: true, message, file: target, bytes }, () => {
      return `${message} (${bytes} bytes).`;
    });
  }
}
