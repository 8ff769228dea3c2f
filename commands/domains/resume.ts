// `svc domains resume`. src/outbound/queue/claiming/stops.ts has the effect of a hold,
// src/identity/reputation/domain-holds.ts the causes.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { domainCard } from '../base/input/fields.ts';
import { domainArg, domainId } from '../base/nouns/domain-id.ts';
import { printCard } from '../base/output/output.ts';
import { storeOf, withSession } from '../base/route.ts';

export default class DomainsResume extends BaseCommand {
  static override summary = 'Resume sending from a held domain';

  static override description =
    'A domain is held when too much of its mail bounces or is reported as spam, while ' +
    'the mail of its organization as a whole does not. Waiting mail goes at once, and ' +
    'earlier bounces and complaints no longer count.';

  static override examples = [
    { description: 'Show why a domain is held', command: 'svc domains show example.com' },
    {
      description: 'Resume a domain after a review',
      command: 'svc domains resume example.com --note "An old list was removed"',
    },
  ];

  static override args = domainArg;

  static override flags = {
    note: Flags.string({ description: 'Findings of the review, shown in the event' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsResume);
    await withSession(flags, async (session) => {
      const { app, caller } = await storeOf(session, 'Resuming a domain');
      const { resumeDomain } = await import('../../src/outbound/queue/desk/resume.ts');
      const id = await domainId(session, args.domain);
      const resumed = await resumeDomain(app, caller, id, given({ note: flags.note }));
      await printCard(flags, resumed, domainCard);
    });
  }
}
