// `svc families remove`: the family and the template are the arguments.
import { BaseCommand } from '../base/command.ts';
import { changeMember, memberArgs } from '../base/nouns/family.ts';

export default class FamiliesRemove extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Remove a template from a family';

  static override description = 'The template stays, outside of the family.';

  static override examples = [
    {
      description: 'Remove a template by its slug',
      command: 'svc families remove tfam_06dq2k0qz8h3v5m1r9t4w7xy order-shipped',
    },
  ];

  static override args = memberArgs;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FamiliesRemove);
    await changeMember(
      flags,
      args,
      async () => (await import('../../src/content/families/routes.ts')).familyRoutes.remove,
    );
  }
}
