// The view of a domain after a change of DKIM keys: the domain, and the records of the keys.
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { dnsRecordCard, domainCard } from '../input/fields.ts';

export async function dkimView(domain: Domain): Promise<string> {
  const { card, cards } = await import('../output/format.ts');
  const records = domain.dnsRecords.filter(({ purpose }) => purpose === 'dkim');
  return `${card(domain, domainCard)}\n\n${cards(records, dnsRecordCard)}`;
}
