// Shows the tracking host of a domain to people: the state, and the required records.
import type { CustomTracking } from '../../../src/outbound/tracking/custom/schema.ts';
import { trackingCard, trackingRecordCard } from '../input/fields.ts';

export async function trackingView({ customTracking }: CustomTracking): Promise<string> {
  if (customTracking === null)
    return 'No tracking host. Enable one: svc tracking enable DOMAIN --label links';
  const { card, cards } = await import('../output/format.ts');
  const shown = card(customTracking, trackingCard);
  const { tracking, dcvDelegation } = customTracking.dnsRecords;
  const records = [tracking, dcvDelegation].filter(({ required }) => required);
  if (customTracking.status === 'disabled' || customTracking.status === 'tearing-down')
    return shown;
  return `${shown}\n\nRequired DNS records:\n\n${cards(records, trackingRecordCard)}`;
}
