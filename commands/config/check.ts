// `svc config check` (contract 1). Reading and checking is src/config.ts, showing
// src/config-show.ts.
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output.ts';
import { readConfig } from '../base/session.ts';

export default class ConfigCheck extends BaseCommand {
  static override summary = 'Check the configuration without starting anything';

  static override description =
    'A mistake is named by its key, its line and what was expected, and the exit code is 2.';

  static override examples = [
    { description: 'Before a restart', command: 'svc config check --config /etc/svc/config.yaml' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigCheck);
    const { file, warnings } = await readConfig(flags);
    await print(flags, { valid: true, file, warnings }, () =>
      [
        `${file ?? 'No configuration file: the defaults'} can be used.`,
        ...warnings.map((warning) => `warning: ${warning}`),
      ].join('\n'),
    );
  }
}
