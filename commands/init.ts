// `svc init`: the setup of a daemon's first start, without starting the daemon. Steps:
// src/service/first-start.ts. With --production it installs the service (base/production/).
import { Flags } from '@oclif/core';
import { BaseCommand } from './base/command.ts';
import { print } from './base/output/output.ts';
import { modes } from './base/production/answers.ts';
import { readStoreConfig } from './base/session.ts';

export default class Init extends BaseCommand {
  static override summary = 'Create the store, its secret and a first API key';

  static override description =
    'The daemon creates them at its first start; other commands never do. ' +
    "Prints an owner's key, which is never shown again. If all of them exist already, " +
    'nothing is changed. --production asks for host name, mode and domain. As root, on a machine that systemd ' +
    'runs, it installs the service: the account svc, /etc/svc/config.yaml, /var/lib/svc and the unit. With ' +
    '--config or --data-dir, and everywhere else, it writes the configuration file, the store and the domain.';

  static override examples = [
    { description: 'Create them in ./data, or where ./config.yaml says', command: 'svc init' },
    {
      description: 'Create them as the user of a configured daemon',
      command: 'svc init --config /etc/svc/config.yaml',
    },
    {
      description: 'Show how the service would be installed',
      command: 'svc init --production --print',
    },
    {
      description: 'Install the service without questions',
      command: 'svc init --production --domain example.com --hostname mail.example.com',
    },
  ];

  static override flags = {
    production: Flags.boolean({ description: 'Install the service, or write its files' }),
    domain: Flags.string({
      description: 'First sending domain, such as example.com',
      dependsOn: ['production'],
    }),
    owner: Flags.string({
      description: 'Address of an owner, who gets the link that is printed',
      helpValue: 'EMAIL',
      dependsOn: ['production'],
    }),
    hostname: Flags.string({
      description: 'Public name of this machine (default: mail.DOMAIN)',
      dependsOn: ['production'],
    }),
    'public-url': Flags.string({
      description: 'Address of the API for others (default: https://HOSTNAME)',
      dependsOn: ['production'],
    }),
    mode: Flags.option({
      description: 'Route of mail: direct, relay or capture (default: direct)',
      dependsOn: ['production'],
      options: modes,
    })(),
    'relay-host': Flags.string({
      description: 'Smarthost of mode relay',
      dependsOn: ['production'],
    }),
    'data-dir': Flags.string({
      description: 'Directory of the store (default: ./data); installs no service',
      dependsOn: ['production'],
    }),
    print: Flags.boolean({
      description: 'Show what --production would do, and change nothing',
      dependsOn: ['production'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Init);
    if (flags.production) {
      const [{ runProduction }, { thisMachine: machine }, { usualAsk }] = await Promise.all([
        import('./base/production/production.ts'),
        import('./base/production/machine.ts'),
        import('./base/production/answers.ts'),
      ]);
      const { env } = process;
      return runProduction(flags, { machine, ask: usualAsk(), home: this.config.root, env });
    }
    const { madeText, makeStore } = await import('./base/production/store.ts');
    const made = await makeStore(await readStoreConfig(flags));
    const next = made.created ? '\n\nNext: svc daemon' : '';
    return print(flags, made, () => `${madeText(made)}${next}`);
  }
}
