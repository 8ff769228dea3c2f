// `svc config check`. Reading and checking is src/core/config/config.ts, and of the files that it
// names src/core/config/check-files.ts.

import { ConfigError } from '../../src/platform/errors.ts';
import { systemClock } from '../../src/platform/runtime/clock.ts';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output.ts';
import { readConfig } from '../base/session.ts';

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Check the configuration without starting anything';

  static override description =
    'Names each mistake by its key, its line and the expected value, and ends with exit ' +
    'code 2. Also reads the files that the configuration names: delivery.providersFile ' +
    'and those of smtp.inbound.tls.';

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
    const warnings = [...loaded.warnings, ...found.warnings];
    await print(flags, { valid: true, file, warnings }, () =>
      [
        `${file ?? 'No configuration file: the defaults'} can be used.`,
        ...warnings.map((warning) => `warning: ${warning}`),
      ].join('\n'),
    );
  }
}
