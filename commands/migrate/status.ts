// `svc migrate status`. Migrations themselves: src/platform/store/migrate.ts.
import { BaseCommand, tableFlags } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { asUnreachable, readStoreConfig } from '../base/session.ts';
import { withConfiguration } from '../base/store-place.ts';

export default class MigrateStatus extends BaseCommand {
  static override summary = 'Show the applied migrations without running any';

  static override description =
    'The daemon and all other commands migrate the store when they open it; on SQLite ' +
    'they keep a copy of the earlier file beside it.';

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
    const status = await readMigrationStatus(database, dataDir).catch((error: unknown) => {
      throw asUnreachable(withConfiguration(error, loaded));
    });
    const items = status.map(({ name, appliedAt }) => ({ name, appliedAt: isoTime(appliedAt) }));
    await printList(flags, { items }, ['name', 'appliedAt'], 'The store has no migrations.');
  }
}
