// `svc orgs show`. src/access/organizations/organizations.ts has the operation.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { organizationCard } from '../base/input/fields.ts';
import { organizationIdFrom } from '../base/nouns/organization-id.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsShow extends BaseCommand {
  static override summary = 'Show an organization: its plan and whether it may send';

  static override examples = [
    { description: 'Show an organization by its name', command: 'svc orgs show default' },
    {
      description: 'Show an organization by its id',
      command: 'svc orgs show org_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = {
    organization: Args.string({
      description: 'Id (org_…) or name of the organization',
      required: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsShow);
    await withApp(flags, async (app) => {
      const id = await organizationIdFrom(app, args.organization);
      const { getOrganization } = await import('../../src/access/organizations/organizations.ts');
      await printCard(flags, await getOrganization(app, id), organizationCard);
    });
  }
}
