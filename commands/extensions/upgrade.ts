// `svc extensions upgrade`: shows the difference of the grants in words, and changes the version
// once a person accepts the new grants.
import { Flags } from '@oclif/core';
import type { Upgraded } from '../../src/extensions/installation-schema.ts';
import { BaseCommand } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import { given } from '../base/input/body.ts';
import { grantLines, installationArg } from '../base/nouns/extension.ts';
import { print, writeNote } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class ExtensionsUpgrade extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Change the version of an installation';

  static override description =
    'Goes to the latest version, or to another one: an older one rolls back. New grants are shown ' +
    'in words and accepted on a terminal, or with --accept. Credentials, scope and send mode stay.';

  static override examples = [
    {
      description: 'Show what the latest version would change',
      command: 'svc extensions upgrade @last --dry-run',
    },
    { description: 'Upgrade to it', command: 'svc extensions upgrade @last' },
    {
      description: 'Restore an older version in a script',
      command: 'svc extensions upgrade @last --version 1.0.0 --accept permission:contacts:read',
    },
  ];

  static override args = installationArg;

  static override flags = {
    version: Flags.string({ description: 'Version, or its id (default: the latest)' }),
    accept: Flags.string({
      description: 'New grant to accept, such as permission:contacts:read; may be repeated',
      helpValue: 'GRANT',
      multiple: true,
    }),
    'dry-run': Flags.boolean({ description: 'Show the difference and change nothing' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ExtensionsUpgrade);
    const upgraded = await withSession(flags, async (session) => {
      const { upgrade } = (await import('../../src/extensions/installation-routes.ts'))
        .installationRoutes;
      const ask = (more: object) =>
        session.ask(upgrade, {
          params: args,
          body: { ...given({ version: flags.version }), ...more },
        });
      if (flags['dry-run']) return ask({ dryRun: true });
      if (flags.accept) return ask({ acceptPermissions: flags.accept });
      const { permissionDiff, toVersion, fromVersion } = await ask({ dryRun: true });
      const { added } = permissionDiff;
      if (added.length > 0) {
        for (const line of await grantLines(added)) writeNote(line);
        const question = `Upgrade to ${toVersion.version} with these ${added.length} new grants?`;
        await confirmed(question, false, 'add --accept for each of them.');
      }
      // Makes exactly the change that was shown, even if a new version is published in between.
      return ask({
        version: toVersion.id,
        acceptPermissions: added,
        expectedVersion: fromVersion.id,
      });
    });
    await print(flags, upgraded, () => viewOf(upgraded));
  }
}

async function viewOf({
  fromVersion,
  toVersion,
  permissionDiff,
  dryRun,
}: Upgraded): Promise<string> {
  const { added, removed } = permissionDiff;
  const verb = dryRun ? 'would go' : 'went';
  const list = async (title: string, grants: string[]) =>
    grants.length === 0 ? [] : [title, ...(await grantLines(grants))];
  return [
    `It ${verb} from ${fromVersion.version} to ${toVersion.version}.`,
    ...(await list('New grants:', added)),
    ...(await list('Lost grants:', removed)),
  ].join('\n');
}
