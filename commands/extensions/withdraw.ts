// `svc extensions withdraw`: the extension and the version are the arguments.
import { BaseCommand } from '../base/command.ts';
import { versionArgs } from '../base/nouns/extension.ts';
import { print } from '../base/output/output.ts';
import { callRoute } from '../base/route.ts';
import { versionView } from './version.ts';

export default class ExtensionsWithdraw extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Withdraw a version: nobody installs it any more';

  static override description = 'Its installations keep it. Nobody upgrades to it any more.';

  static override examples = [
    { description: 'Withdraw a version', command: 'svc extensions withdraw @last 1.0.0' },
  ];

  static override args = versionArgs;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ExtensionsWithdraw);
    const version = await callRoute(
      flags,
      async () => (await import('../../src/extensions/routes.ts')).extensionVersionRoutes.withdraw,
      { params: args },
    );
    await print(flags, version, () => versionView(version));
  }
}
