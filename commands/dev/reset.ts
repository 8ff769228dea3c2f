import { rm } from 'node:fs/promises';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import { isDaemonAlive } from '../base/no-daemon.ts';
import { print } from '../base/output/output.ts';
import { asUnreachable, readStoreConfig } from '../base/session.ts';
import { inContext, storeInWords } from '../base/store-place.ts';

export default class DevReset extends BaseCommand {
  static override summary = 'Empty the store: the next daemon makes its first start';

  static override description =
    "For stores of tests, with a virtual clock or with the system's. Refuses a configuration in which mail " +
    'leaves this machine, and while a daemon runs. The secret of the installation stays. Asks for ' +
    'confirmation on a terminal; elsewhere it needs --yes.';

  static override examples = [
    { description: 'Empty the store of a test', command: 'svc dev reset --yes' },
  ];

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(DevReset);
    const loaded = await readStoreConfig(flags);
    const { database, dataDir, delivery } = loaded.config;
    const { doesMailLeave } = await import('../../src/core/config/problems.ts');
    const { requireStore, storeLocation } = await import('../../src/platform/store/open.ts');
    const { ConfigError, UnreachableError } = await import('../../src/platform/errors.ts');
    if (doesMailLeave(delivery)) {
      throw new ConfigError(
        'Mail of this configuration leaves the machine (delivery.mode), so its store is no store of a test: ' +
          'nothing was changed',
      );
    }
    const place = await storeInWords(loaded);
    await requireStore(database, dataDir).catch(async (error: unknown) => {
      throw asUnreachable(await inContext(error, loaded));
    });
    await confirmed(`Delete everything in the store ${place}?`, flags.yes);
    const { emptyStore } = await import('../../src/platform/upkeep/empty-store.ts');
    const { removeClockFile } = await import('../../src/service/virtual-clock/clock-file.ts');
    const { systemClock } = await import('../../src/platform/runtime/clock.ts');
    const { blobFolder } = await import('../../src/core/blobs/blobs.ts');
    try {
      const isFile = storeLocation(database.url, dataDir).kind === 'sqlite';
      if (!isFile && (await isDaemonAlive(loaded.config))) {
        throw new UnreachableError(`A daemon already runs on ${place}: stop it first`);
      }
      await emptyStore(database, dataDir, systemClock);
      await rm(blobFolder(dataDir), { recursive: true, force: true });
    } catch (error) {
      throw asUnreachable(error);
    }
    removeClockFile(dataDir);
    const message = `Emptied the store ${place}`;
    await print(flags, { success: true, message }, () => `${message}.`);
  }
}
