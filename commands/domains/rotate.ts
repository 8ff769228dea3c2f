// `svc domains rotate` (contract 6). Keys and records: src/domains/domains.ts; looking them up:
// verification.ts there.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { domainId } from '../base/domain-id.ts';
import { dnsRecordCard, domainCard } from '../base/fields.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsRotate extends BaseCommand {
  static override summary = 'Make new DKIM keys for a domain';

  static override description =
    'The old keys sign until the new ones are found in DNS, so nothing is lost while ' +
    'records change.';

  static override examples = [
    { description: 'Once a year', command: 'svc domains rotate example.com' },
  ];

  static override args = {
    domain: Args.string({ description: 'Id (dom_…) or name', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsRotate);
    await withCaller(flags, async (app, caller) => {
      const { rotateDkim } = await import('../../src/domains/domains.ts');
      const id = await domainId(app, caller, args.domain);
      const domain = await rotateDkim(app, caller, id);
      const records = domain.dnsRecords.filter(({ purpose }) => purpose === 'dkim');
      await print(flags, domain, async () => {
        const { card, cards } = await import('../base/format.ts');
        return `${card(domain, domainCard)}\n\n${cards(records, dnsRecordCard)}`;
      });
    });
  }
}
