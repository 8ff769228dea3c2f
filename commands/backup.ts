// `svc backup`. src/platform/store/restore.ts makes the copy.
import { createReadStream, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Args, Flags } from '@oclif/core';
import { NoStoreError, ValidationError } from '../src/platform/errors.ts';
import { systemClock } from '../src/platform/runtime/clock.ts';
import { BaseCommand } from './base/command.ts';
import { UsageError } from './base/failure.ts';
import { print, writeWarning } from './base/output.ts';
import { startProgress } from './base/progress.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { withConfiguration } from './base/store-place.ts';

const standardOutput = '-';

export default class Backup extends BaseCommand {
  static override summary = 'Copy the store to a file while the service runs';

  static override description =
    'The copy is consistent and complete, except for the secret key of the installation ' +
    '(secret.key in the data directory), which encrypts its DKIM keys. Keep that file ' +
    'too, in another place than the backup. Or include it by --with-secret, and guard ' +
    'the backup as you guard the key. On PostgreSQL use pg_dump.';

  static override examples = [
    { description: 'Make a new file each night', command: 'svc backup /backup/svc-$(date +%F).db' },
    {
      description: 'Replace the same file each time',
      command: 'svc backup /backup/svc.db --overwrite',
    },
    {
      description: 'Send all that a new machine needs to another host, encrypted',
      command: 'svc backup - --with-secret | age -r KEY | ssh backup "cat > svc.db.age"',
    },
  ];

  static override args = {
    file: Args.string({ description: 'File to write, or - for standard output', required: true }),
  };

  static override flags = {
    overwrite: Flags.boolean({ description: 'Replace the file if it exists' }),
    'with-secret': Flags.boolean({ description: 'Include secret.key in the same file' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Backup);
    const toOutput = args.file === standardOutput;
    if (toOutput && (flags.json || process.stdout.isTTY)) {
      throw new UsageError(
        'backup -: the copy goes to standard output; leave out --json, and redirect it to a ' +
          'file or a pipe',
      );
    }
    const loaded = await readStoreConfig(flags);
    const { database, dataDir } = loaded.config;
    const { storeLocation } = await import('../src/platform/store/open.ts');
    const { saveBackup } = await import('../src/platform/store/restore.ts');
    const { noteBackup } = await import('../src/platform/store/last-backup.ts');
    const { readSecret, secretFile } = await import('../src/platform/runtime/secrets.ts');
    const location = storeLocation(database.url, dataDir);
    if (location.kind === 'postgres') {
      throw new ValidationError('The store is on PostgreSQL: back it up with pg_dump');
    }
    const secret = flags['with-secret'] ? readSecret(dataDir) : undefined;
    const hasSecret = secret !== undefined;
    if (flags['with-secret'] && !hasSecret) {
      throw new NoStoreError(
        `There is no secret to include: ${secretFile(dataDir)} does not exist. Leave out ` +
          '--with-secret',
        'secret',
      );
    }
    // SQLite copies only into a file, so a backup to standard output is first written beside the
    // store.
    const target = toOutput ? `${location.file}.backup-${process.pid}` : resolve(args.file);
    const progress = await startProgress(flags, 'copied');
    const { overwrite } = flags;
    const options = { overwrite, secret, onProgress: progress.update };
    try {
      const bytes = await saveBackup(location.file, target, options).finally(progress.stop);
      noteBackup(dataDir, { at: systemClock.now(), file: toOutput ? standardOutput : target });
      const reminder = hasSecret
        ? ''
        : `The backup lacks ${secretFile(dataDir)}: keep a copy of that file in another ` +
          'place, or use --with-secret';
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
