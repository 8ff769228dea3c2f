// `svc extensions publish`: only for the operator, so the API has no route for it.
import { Flags } from '@oclif/core';
import { idPath } from '../../src/core/api/resource-schema.ts';
import { extensionNoun } from '../../src/extensions/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { idsInStore, parseTyped } from '../base/input/whole-id.ts';
import { extensionArg, extensionCard } from '../base/nouns/extension.ts';
import { UsageError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';
import { withCaller } from '../base/session.ts';

export default class ExtensionsPublish extends BaseCommand {
  static override summary = 'Publish an extension to all organizations, or take it back';

  static override description =
    'All organizations of this service then see and install it. Only its own organization ' +
    'publishes versions. With --no-to-all it is private again; installations elsewhere stay.';

  static override examples = [
    {
      description: 'Publish it to all organizations',
      command: 'svc extensions publish @last --to-all',
    },
    {
      description: 'Let only its own organization see it',
      command: 'svc extensions publish @last --no-to-all',
    },
  ];

  static override args = extensionArg;

  static override flags = {
    'to-all': Flags.boolean({
      description: 'Publish it to all organizations',
      allowNo: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ExtensionsPublish);
    const { 'to-all': isPublic } = flags;
    if (isPublic === undefined) {
      throw new UsageError('say to whom: add --to-all, or --no-to-all to take it back');
    }
    const extension = await withCaller(flags, async (app, caller) => {
      const path = idPath(extensionNoun, 'an extension');
      const { id } = await parseTyped(idsInStore(app, caller.organizationId), path, args, 'path');
      const { publishExtension } = await import('../../src/extensions/extensions.ts');
      return publishExtension(app, caller, id, isPublic);
    });
    await printCard(flags, extension, extensionCard);
  }
}
