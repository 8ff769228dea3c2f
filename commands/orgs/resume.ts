// `svc orgs resume` (contract 2, 3). What a pause does: src/outbound/pauses.ts.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { organizationCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsResume extends BaseCommand {
  static override summary = 'Let a paused organization send again';

  static override examples = [
    { description: 'What paused it', command: 'svc orgs show acme' },
    { description: 'After a look at it', command: 'svc orgs resume acme' },
  ];

  static override args = {
    organization: Args.string({ description: 'Id (org_…) or name', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsResume);
    await withApp(flags, async (app) => {
      const { resumeSending } = await import('../../src/outbound/pauses.ts');
      const resumed = await resumeSending(app, args.organization);
      await printCard(flags, resumed, organizationCard);
    });
  }
}
