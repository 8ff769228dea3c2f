import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { composeFile, lastingHome, systemdUnit } from '../base/nouns/unit.ts';
import { print } from '../base/output/output.ts';

const usualConfig = '/etc/svc/config.yaml';

export default class DaemonUnit extends BaseCommand {
  static override summary = 'Print a systemd unit or a compose file for the daemon';

  static override description =
    'The unit runs the daemon as a user of its own, with few rights, and restarts it always. The compose ' +
    'file builds the Dockerfile of this program. Both use the file of --config, or /etc/svc/config.yaml.';

  static override examples = [
    {
      description: 'Install the unit of systemd',
      command: 'svc daemon unit > /etc/systemd/system/svc.service',
    },
    { description: 'Write a compose file', command: 'svc daemon unit --docker > compose.yaml' },
  ];

  static override flags = {
    docker: Flags.boolean({ description: 'Print a compose file instead' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonUnit);
    const home = lastingHome(this.config.root);
    const places = { home, config: resolve(flags.config ?? usualConfig) };
    const unit = (flags.docker ? composeFile : systemdUnit)(places).trimEnd();
    await print(flags, { unit }, () => unit);
  }
}
