// `svc domains show` (contract 6). Keys and records: src/domains/domains.ts; looking them up:
// verification.ts there.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { domainId } from '../base/domain-id.ts';
import { domainCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsShow extends BaseCommand {
  static override summary = 'Show a sending domain; "svc domains dns" shows its records';

  static override examples = [
    { description: 'By name', command: 'svc domains show example.com' },
    { description: 'By id', command: 'svc domains show dom_06dq2k0qz8h3v5m1r9t4w7xy' },
  ];

  static override args = {
    domain: Args.string({ description: 'Id (dom_…) or name', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsShow);
    await withCaller(flags, async (app, caller) => {
      const { getDomain } = await import('../../src/domains/domains.ts');
      const id = await domainId(app, caller, args.domain);
      await printCard(flags, await getDomain(app, caller, id), domainCard);
    });
  }
}
