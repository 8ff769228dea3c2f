// `svc families add`: the family and the template are the arguments.
import { BaseCommand } from '../base/command.ts';
import { changeMember, memberArgs } from '../base/nouns/family.ts';

export default class FamiliesAdd extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Add a template to a family';

  static override description = 'A template is in one family at most.';

  static override examples = [
    {
      description: 'Add a template by its slug',
      command: 'svc families add tfam_06dq2k0qz8h3v5m1r9t4w7xy order-shipped',
    },
  ];

  static override args = memberArgs;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FamiliesAdd);
    await changeMember(
      flags,
      args,
      async () => (await import('../../src/content/families/routes.ts')).familyRoutes.add,
    );
  }
}
