import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { dnsRecordCard, domainCard } from '../base/fields.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Create new DKIM keys for a domain',
  description:
    'The old keys sign until the new ones are found in DNS, so no mail loses its ' +
    'signature while records change.',
  examples: [['Replace the keys once a year', 'svc domains rotate example.com']],
  args,
  find,
  route: async () => (await import('../../src/identity/domains/routes.ts')).domainRoutes.rotateDkim,
  async view(domain) {
    const { card, cards } = await import('../base/format.ts');
    const records = domain.dnsRecords.filter(({ purpose }) => purpose === 'dkim');
    return `${card(domain, domainCard)}\n\n${cards(records, dnsRecordCard)}`;
  },
});
