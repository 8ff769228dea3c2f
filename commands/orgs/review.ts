// `svc orgs review`. src/access/organizations/onboarding.ts describes the effect of the review.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { organizationCard } from '../base/input/fields.ts';
import { organizationIdFrom } from '../base/nouns/organization-id.ts';
import { UsageError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsReview extends BaseCommand {
  static override summary = 'Approve or reject the onboarding of an organization';

  static override description =
    'Until it is approved, an organization sends only to its own mailboxes and ' +
    '@simulator.test. A rejected one may apply again, which makes it pending and adds ' +
    'one to its generation.';

  static override examples = [
    { description: 'Show its application', command: 'svc orgs show acme' },
    { description: 'Let it send to everybody', command: 'svc orgs review acme --approve' },
    {
      description: 'Reject it unless it has applied again since',
      command: 'svc orgs review acme --reject --expected-generation 1 --note "No website"',
    },
  ];

  static override args = {
    organization: Args.string({
      description: 'Id (org_…) or name of the organization',
      required: true,
    }),
  };

  static override flags = {
    approve: Flags.boolean({ description: 'Let it send to everybody' }),
    reject: Flags.boolean({ description: 'Keep it from sending' }),
    note: Flags.string({ description: 'Reason, shown in the audit of the organization' }),
    'expected-generation': Flags.integer({
      description: 'Generation of the reviewed application; any other generation is a conflict',
      helpValue: 'N',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsReview);
    if (flags.approve === flags.reject) throw new UsageError('give either --approve or --reject');
    await withApp(flags, async (app) => {
      const id = await organizationIdFrom(app, args.organization);
      const { reviewOnboarding } = await import('../../src/access/organizations/onboarding.ts');
      const reviewed = await reviewOnboarding(app, id, {
        verdict: flags.approve ? 'approved' : 'rejected',
        ...given({ note: flags.note, expectedGeneration: flags['expected-generation'] }),
      });
      await printCard(flags, reviewed, organizationCard);
    });
  }
}
