// `svc migrate status`. src/platform/store/migrate.ts migrates a store.
import { BaseCommand, tableFlags } from '../base/command.ts';
import { printList } from '../base/output/output.ts';
import { asUnreachable, readStoreConfig } from '../base/session.ts';
import { inContext } from '../base/store-place.ts';

export default class MigrateStatus extends BaseCommand {
  static override summary = 'Show the applied migrations without running any';

  static override description =
    'Only the start of a daemon migrates a store; on SQLite it keeps a copy of the earlier file beside it. Until then ' +
    'this command, backup, doctor, status and config read the store, and all others end with exit code 7.';

  static override examples = [
    { description: 'Look at the migrations before an upgrade', command: 'svc migrate status' },
  ];

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(MigrateStatus);
    const loaded = await readStoreConfig(flags);
    const { database, dataDir } = loaded.config;
    const { readMigrationStatus } = await import('../../src/platform/store/open.ts');
    const { isoTime } = await import('../../src/platform/runtime/clock.ts');
    const status = await readMigrationStatus(database, dataDir).catch(async (error: unknown) => {
      throw asUnreachable(await inContext(error, loaded));
    });
    const items = status.map(({ name, appliedAt }) => ({ name, appliedAt: isoTime(appliedAt) }));
    await printList(flags, { items }, ['name', 'appliedAt'], 'The store has no migrations.');
  }
}
