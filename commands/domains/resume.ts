// `svc domains resume`. Effect of a hold: src/queue/stops.ts; its causes: src/usage/domain-holds.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { domainArg, domainId } from '../base/domain-id.ts';
import { domainCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsResume extends BaseCommand {
  static override summary = 'Let mail from a held domain go again';

  static override description =
    'A domain is held when too much of its mail bounces or is reported as spam, while that of its ' +
    'organization as a whole does not. What waits goes at once, and what was counted until now ' +
    'counts no more.';

  static override examples = [
    { description: 'Why it is held', command: 'svc domains show example.com' },
    {
      description: 'After a look at it',
      command: 'svc domains resume example.com --note "An old list was removed"',
    },
  ];

  static override args = domainArg;

  static override flags = {
    note: Flags.string({ description: 'What the review found; the event says it' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsResume);
    await withCaller(flags, async (app, caller) => {
      const { resumeDomain } = await import('../../src/queue/desk/resume.ts');
      const id = await domainId(app, caller, args.domain);
      const resumed = await resumeDomain(app, caller, id, given({ note: flags.note }));
      await printCard(flags, resumed, domainCard);
    });
  }
}
