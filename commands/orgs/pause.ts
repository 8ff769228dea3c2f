// `svc orgs pause`. src/access/organizations/organizations.ts describes the effect of a pause.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { organizationCard } from '../base/input/fields.ts';
import { organizationIdFrom } from '../base/nouns/organization-id.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsPause extends BaseCommand {
  static override summary = 'Pause sending for an organization until it is resumed';

  static override description =
    'Every send is refused, with the reason. Mail that was accepted before waits.';

  static override examples = [
    {
      description: 'Pause with a reason that its senders will read',
      command: 'svc orgs pause acme --note "A leaked key sends spam"',
    },
    { description: 'Let it send again later', command: 'svc orgs resume acme' },
  ];

  static override args = {
    organization: Args.string({
      description: 'Id (org_…) or name of the organization',
      required: true,
    }),
  };

  static override flags = {
    note: Flags.string({
      description: 'Reason, shown in each refusal of a send',
      aliases: ['reason'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsPause);
    await withApp(flags, async (app) => {
      const id = await organizationIdFrom(app, args.organization);
      const { pauseOrganization } = await import('../../src/access/organizations/organizations.ts');
      const input = given({ note: flags.note });
      const paused = await pauseOrganization(app, id, input);
      await printCard(flags, paused, organizationCard);
    });
  }
}
