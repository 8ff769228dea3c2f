import { Args } from '@oclif/core';
import { domainRoutes } from '../../src/identity/domains/routes.ts';
import {
  dnsRecordCard,
  domainCard,
  localhostWarning,
  uncheckedNote,
} from '../base/input/fields.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Register a sending domain and create its DKIM keys',
  description:
    'Shows the DNS records to publish. From then on the daemon checks them on its own; ' +
    '"svc domains verify" checks at once.',
  examples: [
    ['Register a domain', 'svc domains add example.com'],
    ['Register a domain with one kind of key only', 'svc domains add example.com --dkim rsa'],
  ],
  args: {
    domain: Args.string({ description: 'Domain name, such as example.com' }),
  },
  route: domainRoutes.add,
  warning: (added) => localhostWarning(added.dnsRecords),
  async view(added) {
    const { card, cards } = await import('../base/output/format.ts');
    const records = cards(added.dnsRecords, dnsRecordCard);
    return `${card(added, domainCard)}\n\nPublish these DNS records:\n\n${records}${uncheckedNote(added.dnsRecords, added.domain)}`;
  },
});
