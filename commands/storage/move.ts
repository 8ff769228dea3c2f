// `svc storage move`. src/core/blobs/move.ts has the steps.
import { Flags } from '@oclif/core';
import type { StorageDriver } from '../../src/core/blobs/move.ts';
import { BaseCommand } from '../base/command.ts';
import { bytesInWords } from '../base/input/bytes.ts';
import { UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { withApp } from '../base/session.ts';

const drivers: StorageDriver[] = ['database', 'filesystem', 's3'];

export default class StorageMove extends BaseCommand {
  static override summary = 'Move large attachments and raw mail to another place';

  static override description =
    'Daemons keep running. An interrupted move continues if it is repeated. Files below ' +
    'storage.inlineBytes stay in the database. New files go where storage.driver says: set it first, and ' +
    'start the daemons again, or new files follow the old setting. Files that were moved into the database leave ' +
    'their old place a day later.';

  static override examples = [
    { description: 'Move to the bucket of storage.s3', command: 'svc storage move --to s3' },
    { description: 'Move all files into the database', command: 'svc storage move --to database' },
  ];

  static override flags = {
    to: Flags.option({
      options: drivers,
      required: true,
      helpValue: 'database|filesystem|s3',
      description: 'New place',
    })(),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(StorageMove);
    const progress = await startProgress(flags, 'moved');
    try {
      const { moved, driver } = await withApp(flags, async (app) => {
        const { storage } = app.config;
        const { bucketIn } = await import('../../src/core/blobs/blobs.ts');
        if (flags.to === 's3' && !bucketIn(app.config)) {
          throw new UsageError(
            '--to s3: set storage.s3.endpoint, bucket, accessKeyId and secretAccessKey first',
          );
        }
        const { moveBlobs } = await import('../../src/core/blobs/move.ts');
        const done = await moveBlobs(app, flags.to, progress.update);
        return { moved: done, driver: storage.driver };
      });
      progress.stop();
      const files = `${moved.files} file${moved.files === 1 ? '' : 's'}`;
      const message = `Moved ${files} (${bytesInWords(moved.bytes)}) to ${flags.to}`;
      const result = { success: true, message, ...moved, to: flags.to, driver };
      await print(flags, result, () =>
        driver === flags.to
          ? `${message}.`
          : `${message}.\nNext: set storage.driver to ${flags.to}. New files still go to ${driver}.`,
      );
    } finally {
      progress.stop();
    }
  }
}
