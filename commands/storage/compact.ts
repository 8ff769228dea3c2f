// `svc storage compact`. src/platform/upkeep/compact.ts rewrites the store.

import { BaseCommand } from '../base/command.ts';
import { bytesInWords } from '../base/input/bytes.ts';
import { refuseDaemons } from '../base/no-daemon.ts';
import { print } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { asUnreachable, readStoreConfig } from '../base/session.ts';
import { inContext } from '../base/store-place.ts';

export default class StorageCompact extends BaseCommand {
  static override summary = 'Release the room of deleted rows to the disk';

  static override description =
    'New rows take the room of deleted ones, so this is only for a store that stays smaller: after a shorter retention, ' +
    'or a deletion of much mail. Stop all daemons before. On SQLite the disk needs twice the room of the rows ' +
    'meanwhile, on PostgreSQL that of the largest table. An interruption loses nothing.';

  static override examples = [
    { description: 'Make the store as small as its rows', command: 'svc storage compact' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(StorageCompact);
    const loaded = await readStoreConfig(flags);
    const { database, dataDir } = loaded.config;
    const { storeLocation, describeLocation, requireStore } = await import(
      '../../src/platform/store/open.ts'
    );
    const { compactSqlite, compactPostgres } = await import('../../src/platform/upkeep/compact.ts');
    const location = storeLocation(database.url, dataDir);
    const place = describeLocation(location);
    const isFile = location.kind === 'sqlite';
    // SQLite does not report the progress of this operation.
    const progress = isFile ? null : await startProgress(flags, 'compacted');
    try {
      await requireStore(database, dataDir);
      if (!isFile) await refuseDaemons(loaded.config);
      const sizes = isFile
        ? compactSqlite(location.file)
        : await compactPostgres(database, (done, total) => progress?.update(done, total));
      progress?.stop();
      const words = `${bytesInWords(sizes.before)} before, ${bytesInWords(sizes.after)} now`;
      const message = `Compacted ${place}: ${words}`;
      await print(flags, { success: true, message, ...sizes }, () => `${message}.`);
    } catch (error) {
      throw asUnreachable(await inContext(error, loaded));
    } finally {
      progress?.stop();
    }
  }
}
