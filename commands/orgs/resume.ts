// `svc orgs resume`. src/outbound/queue/claiming/stops.ts describes the effect of a pause.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { organizationCard } from '../base/input/fields.ts';
import { organizationIdFrom } from '../base/nouns/organization-id.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsResume extends BaseCommand {
  static override summary = 'Resume sending for a paused organization';

  static override examples = [
    { description: 'Show the reason of the pause', command: 'svc orgs show acme' },
    {
      description: 'Resume sending after a review',
      command: 'svc orgs resume acme --note "The list was bought; it is deleted"',
    },
  ];

  static override args = {
    organization: Args.string({
      description: 'Id (org_…) or name of the organization',
      required: true,
    }),
  };

  static override flags = {
    note: Flags.string({ description: 'Findings of the review, shown by svc audit' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsResume);
    await withApp(flags, async (app) => {
      const id = await organizationIdFrom(app, args.organization);
      const { resumeSending } = await import('../../src/outbound/queue/desk/resume.ts');
      const resumed = await resumeSending(app, id, given({ note: flags.note }));
      await printCard(flags, resumed, organizationCard);
    });
  }
}
