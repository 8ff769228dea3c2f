// `svc backup`. How the copy is made: src/store/restore.ts.
import { createReadStream, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Args, Flags } from '@oclif/core';
import { NoStoreError, ValidationError } from '../src/errors.ts';
import { BaseCommand } from './base/command.ts';
import { UsageError } from './base/failure.ts';
import { print, writeWarning } from './base/output.ts';
import { startProgress } from './base/progress.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { withConfiguration } from './base/store-place.ts';

const standardOutput = '-';

export default class Backup extends BaseCommand {
  static override summary = 'Copy the store to a file while everything goes on';

  static override description =
    'The copy is consistent and complete but for the secret key of the installation ' +
    '(secret.key in the data directory), which its DKIM keys are encrypted with. Keep that file ' +
    'too, elsewhere than the backup; or take it along with --with-secret and guard the backup as ' +
    'you guard the key. On PostgreSQL use pg_dump.';

  static override examples = [
    { description: 'Every night', command: 'svc backup /backup/svc-$(date +%F).db' },
    { description: 'Always to the same file', command: 'svc backup /backup/svc.db --overwrite' },
    {
      description: 'All that a new machine needs, encrypted, to another host',
      command: 'svc backup - --with-secret | age -r KEY | ssh backup "cat > svc.db.age"',
    },
  ];

  static override args = {
    file: Args.string({ description: 'File to write, or - for standard output', required: true }),
  };

  static override flags = {
    overwrite: Flags.boolean({ description: 'Replace the file if there is one' }),
    'with-secret': Flags.boolean({ description: 'Take secret.key along, in the same file' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Backup);
    const toOutput = args.file === standardOutput;
    if (toOutput && (flags.json || process.stdout.isTTY)) {
      throw new UsageError('backup -: standard output takes the copy: no --json, no terminal');
    }
    const loaded = await readStoreConfig(flags);
    const { database, dataDir } = loaded.config;
    const { storeLocation } = await import('../src/store/open.ts');
    const { saveBackup } = await import('../src/store/restore.ts');
    const { readSecret, secretFile } = await import('../src/runtime/secrets.ts');
    const location = storeLocation(database.url, dataDir);
    if (location.kind === 'postgres') {
      throw new ValidationError('The store is on PostgreSQL: back it up with pg_dump');
    }
    const secret = flags['with-secret'] ? readSecret(dataDir) : undefined;
    const hasSecret = secret !== undefined;
    if (flags['with-secret'] && !hasSecret) {
      throw new NoStoreError(
        `There is no secret to take along: no file ${secretFile(dataDir)}`,
        'secret',
      );
    }
    // SQLite copies into a file only, so a backup to standard output first lies beside the store.
    const target = toOutput ? `${location.file}.backup-${process.pid}` : resolve(args.file);
    const progress = await startProgress(flags, 'copied');
    const { overwrite } = flags;
    const options = { overwrite, secret, onProgress: progress.update };
    try {
      const bytes = await saveBackup(location.file, target, options).finally(progress.stop);
      const reminder = hasSecret
        ? ''
        : `${secretFile(dataDir)} is not in it: keep a copy of that file elsewhere, or say --with-secret`;
      if (toOutput) {
        await pipeline(createReadStream(target), process.stdout, { end: false });
        if (!hasSecret) writeWarning(reminder);
        return;
      }
      const message = `Backed up ${location.file} to ${target}`;
      await print(flags, { success: true, message, file: target, bytes, hasSecret }, () => {
        const done = `${message} (${bytes} bytes).`;
        return hasSecret ? done : `${done}\n${reminder}.`;
      });
    } catch (error) {
      throw asUnreachable(withConfiguration(error, loaded));
    } finally {
      if (toOutput) rmSync(target, { force: true });
    }
  }
}
