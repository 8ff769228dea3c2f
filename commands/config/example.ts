// `svc config example`. src/core/config/config.ts reads and checks the configuration,
// src/core/config/show.ts shows the configuration.
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';

export default class ConfigExample extends BaseCommand {
  static override summary = 'Print a configuration file with all keys and defaults';

  static override examples = [
    {
      description: 'Write a first configuration file',
      command: 'svc config example > config.yaml',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigExample);
    const { configExample } = await import('../../src/core/config/show.ts');
    const example = configExample().trimEnd();
    await print(flags, { example }, () => example);
  }
}
