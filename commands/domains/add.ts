// `svc domains add` (contract 6). Keys and records: src/domains/domains.ts; looking them up:
// verification.ts there.
import { Args, Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { dnsRecordCard, domainCard } from '../base/fields.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsAdd extends BaseCommand {
  static override summary = 'Register a sending domain and make its DKIM keys';

  static override description =
    'Shows the DNS records to publish. The daemon looks for them by itself from then on; ' +
    '"svc domains verify" looks at once.';

  static override examples = [
    { description: 'Register', command: 'svc domains add example.com' },
    {
      description: 'With one kind of key only',
      command: 'svc domains add example.com --dkim rsa',
    },
  ];

  static override args = {
    domain: Args.string({ description: 'Name, such as example.com' }),
  };

  static override flags = {
    dkim: Flags.string({ description: 'Keys to make: both (default), rsa or ed25519' }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsAdd);
    const { domain } = args;
    const input = { ...(await readData(flags.data)), ...given({ domain, dkim: flags.dkim }) };
    await withCaller(flags, async (app, caller) => {
      const { addDomain } = await import('../../src/domains/domains.ts');
      const { addDomainInput } = await import('../../src/domains/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const added = await addDomain(app, caller, parseWith(addDomainInput, input, 'body'));
      await print(flags, added, async () => {
        const { card, cards } = await import('../base/format.ts');
        const records = cards(added.dnsRecords, dnsRecordCard);
        return `${card(added, domainCard)}\n\nPublish these DNS records:\n\n${records}`;
      });
    });
  }
}
