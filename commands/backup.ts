// `svc backup`. src/platform/upkeep/backup.ts makes the copy.
import { createReadStream, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Args, Flags } from '@oclif/core';
import { ConflictError, NoStoreError } from '../src/platform/errors.ts';
import { systemClock } from '../src/platform/runtime/clock.ts';
import type { BackupSource } from '../src/platform/upkeep/backup.ts';
import { fileOperation, isRootsPath } from './base/account/file-broker.ts';
import { BaseCommand } from './base/command.ts';
import { asUnmet, UsageError } from './base/output/failure.ts';
import { print, writeWarning } from './base/output/output.ts';
import { startProgress } from './base/output/progress.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { inContext } from './base/store-place.ts';

const standardOutput = '-';
/** Nice value of the copying process, above the daemon's: mail is more urgent than a copy. */
const priority = 10;

export default class Backup extends BaseCommand {
  static override summary = 'Copy the store to a file while the service runs';

  static override description =
    'The copy is consistent and complete, except for the secret key of the installation ' +
    '(secret.key in the data directory), which encrypts its DKIM keys. Keep that file ' +
    'too, in another place than the backup. Or include it by --with-secret, and guard ' +
    'the backup as you guard the key. On PostgreSQL the file has the same form: one of SQLite.';

  static override examples = [
    { description: 'Make a new file each night', command: 'svc backup /backup/svc-$(date +%F).db' },
    {
      description: 'Replace the same file, once the new one is checked',
      command: 'svc backup /backup/svc.db --overwrite --verify',
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
    verify: Flags.boolean({
      description: 'Read the whole backup again, as "svc backup verify" does',
    }),
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
    if (toOutput && flags.verify) {
      throw new UsageError('backup -: --verify reads a file again; name one instead of -');
    }
    setPriority(priority);
    const loaded = await readStoreConfig(flags);
    const { database, dataDir, secret: settings } = loaded.config;
    const { describeLocation, readMigrationStatus, storeLocation } = await import(
      '../src/platform/store/open.ts'
    );
    const { saveBackup } = await import('../src/platform/upkeep/backup.ts');
    const { recordBackup } = await import('../src/platform/upkeep/last-backup.ts');
    const { readSecret, secretFile } = await import('../src/platform/runtime/key-ring.ts');
    const location = storeLocation(database.url, dataDir);
    const secret = flags['with-secret'] ? readSecret(dataDir, settings) : undefined;
    const hasSecret = secret !== undefined;
    if (flags['with-secret'] && !hasSecret) {
      throw new NoStoreError(
        `There is no secret to include: ${secretFile(dataDir, settings)} does not exist. Leave out ` +
          '--with-secret',
        'secret',
      );
    }
    const source: BackupSource =
      location.kind === 'sqlite'
        ? location
        : { ...location, database, clock: systemClock, rests: true };
    // SQLite writes further files beside a copy. So a backup to standard output, or to a file that
    // only root may write, is first written beside the data.
    const target = toOutput ? standardOutput : resolve(args.file);
    const isRoots = !toOutput && isRootsPath(target);
    const isStaged = toOutput || isRoots;
    const copy = isStaged ? join(dataDir, `backup-${process.pid}.db`) : target;
    if (isRoots && !flags.overwrite && (await fileOperation('look', target))) {
      throw new ConflictError('backup', `${target} exists already: --overwrite replaces it`);
    }
    const progress = await startProgress(flags, 'copied');
    const { overwrite, verify } = flags;
    const options = { overwrite, secret, verify, digests: true, onProgress: progress.update };
    try {
      // Refuses a store of another version: the copy could not be restored.
      await readMigrationStatus(database, dataDir);
      const bytes = await saveBackup(source, copy, options).finally(progress.stop);
      if (isRoots) await fileOperation('place', target, copy, process.pid);
      recordBackup(dataDir, { at: systemClock.now(), file: target });
      const reminder = hasSecret
        ? ''
        : `The backup lacks ${secretFile(dataDir, settings)}: keep a copy of that file in another ` +
          'place, or use --with-secret';
      if (toOutput) {
        await pipeline(createReadStream(copy), process.stdout, { end: false });
        if (!hasSecret) writeWarning(reminder);
        return;
      }
      const message = `Backed up ${describeLocation(location)} to ${target}`;
      await print(
        flags,
        { success: true, message, file: target, bytes, hasSecret, verified: verify },
        () => {
          const done = `${message} (${bytes} bytes).${verify ? ' It can be restored.' : ''}`;
          return hasSecret ? done : `${done}\n${reminder}.`;
        },
      );
    } catch (error) {
      throw asUnreachable(await inContext(asUnmet(error), loaded));
    } finally {
      if (isStaged) rmSync(copy, { force: true });
    }
  }
}
