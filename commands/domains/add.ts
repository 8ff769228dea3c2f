import { Args, Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { dnsRecordCard, domainCard, uncheckedNote } from '../base/fields.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Register a sending domain and make its DKIM keys',
  description:
    'Shows the DNS records to publish. The daemon looks for them by itself from then on; ' +
    '"svc domains verify" looks at once.',
  examples: [
    ['Register', 'svc domains add example.com'],
    ['With one kind of key only', 'svc domains add example.com --dkim rsa'],
  ],
  args: {
    domain: Args.string({ description: 'Name, such as example.com' }),
  },
  flags: {
    dkim: Flags.string({ description: 'Keys to make: both (default), rsa or ed25519' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/domains/routes.ts')).domainRoutes.add,
  async view(added) {
    const { card, cards } = await import('../base/format.ts');
    const records = cards(added.dnsRecords, dnsRecordCard);
    return `${card(added, domainCard)}\n\nPublish these DNS records:\n\n${records}${uncheckedNote(added.dnsRecords, added.domain)}`;
  },
});
