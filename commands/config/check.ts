// `svc config check`. src/core/config/config.ts reads and checks the configuration,
// src/core/config/check-files.ts the files that it names.

import type { LoadedConfig } from '../../src/core/config/config.ts';
import { ConfigError, NoStoreError } from '../../src/platform/errors.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { print } from '../base/output/output.ts';
import { readConfig, withApp } from '../base/session.ts';

/**
 * Returns a warning if the default sender may send only to own mailboxes, also for a store that
 * does not exist yet. Empty if mail stays on this machine, or the store cannot be read.
 */
async function sandboxDoubts(flags: CommonFlags, { config }: LoadedConfig): Promise<string[]> {
  const [{ doesMailLeave }, { newStoreDoubt, sandboxDoubt }] = await Promise.all([
    import('../../src/core/config/problems.ts'),
    import('../../src/service/first-start.ts'),
  ]);
  if (!doesMailLeave(config.delivery)) return [];
  try {
    const doubt = await withApp(flags, sandboxDoubt, { readsEarlier: true });
    return doubt === null ? [] : [doubt];
  } catch (error) {
    return error instanceof NoStoreError && error.lacks === 'store' ? [newStoreDoubt] : [];
  }
}

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Check the configuration without starting anything';

  static override description =
    'Names each mistake by its key, its line and the expected value, and ends with exit ' +
    'code 2. Also reads the files that the configuration names: delivery.providersFile ' +
    'and those of smtp.inbound.tls. In a mode that sends mail to others, reads the default ' +
    'sender from the store, if there is one.';

  static override examples = [
    {
      description: 'Check the configuration before a restart',
      command: 'svc config check --config /etc/svc/config.yaml',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigCheck);
    const loaded = await readConfig(flags);
    const { checkFiles } = await import('../../src/core/config/check-files.ts');
    const found = checkFiles(loaded, systemClock.now());
    if (found.problems.length > 0) throw new ConfigError(found.problems.join('\n'));
    const { file } = loaded;
    const warnings = [
      ...loaded.warnings,
      ...found.warnings,
      ...(await sandboxDoubts(flags, loaded)),
    ];
    await print(flags, { valid: true, file, warnings }, () =>
      [
        `${file ?? 'No configuration file: the defaults'} can be used.`,
        ...warnings.map((warning) => `warning: ${warning}`),
      ].join('\n'),
    );
  }
}
