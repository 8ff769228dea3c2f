// `svc orgs reapply` (specification 4.8, 5.6), as `POST /v1/organizations/onboarding/reapply`. The
// organization is that of `--org`. What it does: src/organizations/onboarding.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { organizationCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class OrgsReapply extends BaseCommand {
  static override summary = 'Apply again for the onboarding review, after a rejection';

  static override examples = [
    { description: 'The generation, and why it was rejected', command: 'svc audit --org acme' },
    {
      description: 'As an owner or admin of it would by HTTP',
      command: 'svc orgs reapply --org acme --expected-generation 1 --note "We have a website now"',
    },
  ];

  static override flags = {
    'expected-generation': Flags.integer({
      description: 'The generation that was rejected; another is a conflict',
      helpValue: 'N',
      required: true,
    }),
    note: Flags.string({ description: 'What the reviewer should know' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(OrgsReapply);
    await withCaller(flags, async (app, caller) => {
      const { reapplyOnboarding } = await import('../../src/organizations/onboarding.ts');
      const expectedGeneration = flags['expected-generation'];
      const input = { expectedGeneration, ...given({ note: flags.note }) };
      await printCard(flags, await reapplyOnboarding(app, caller, input), organizationCard);
    });
  }
}
