// `svc backup verify`. src/platform/upkeep/backup.ts checks the backup.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { asUnmet, UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';

export default class BackupVerify extends BaseCommand {
  static override summary = 'Check that a backup can be restored; change nothing';

  static override description =
    'Reads the whole backup: its integrity, that it is a store of svc, that no newer ' +
    'version of svc made it, and that each table has its digest of the day when it was made. Ends with exit code 8 if one of these fails.';

  static override examples = [
    { description: 'Check the backup of each night', command: 'svc backup verify /backup/svc.db' },
  ];

  static override args = {
    file: Args.string({ description: 'Backup made by "svc backup"', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BackupVerify);
    const { verifyBackup } = await import('../../src/platform/upkeep/backup.ts');
    const file = resolve(args.file);
    if (!existsSync(file)) throw new UsageError(`${file}: there is no such file`);
    const { migration, hasSecret, tables } = sound(() => verifyBackup(file));
    await print(flags, { valid: true, file, migration, hasSecret, tables }, () =>
      [
        `${file} can be restored. Its schema: ${migration}.`,
        tables
          ? `Its ${tables.length} tables have the content of the day when it was made.`
          : 'An earlier version made it: without digests of its tables.',
        hasSecret
          ? 'It includes secret.key.'
          : 'It has no secret.key: restoring needs that file beside it.',
      ].join('\n'),
    );
  }
}

function sound<T>(look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw asUnmet(error);
  }
}
