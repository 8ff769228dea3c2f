// Send checks for a paused organization and for a used-up daily quota (quota.ts). Due scheduled
// mail skips both checks, because it waits instead of being refused
// (src/outbound/queue/schedule/scheduled.ts).
import type { SendCheck } from '../../core/api/send-check.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Allowances } from './quota.ts';

type ByOrganization = { organizationId: string };

export const pausedCheck = (allowances: Allowances): SendCheck<'accepting', ByOrganization> => ({
  name: 'paused',
  asked: 'accepting',
  prepare:
    () =>
    ({ organizationId }) =>
      allowances.paused(organizationId),
});

interface Counted extends ByOrganization {
  addresses: readonly string[];
  scheduledFor: number | undefined;
}

/** Takes quota for each send that passes, so no check that can refuse a send may follow. */
export const quotaCheck = (allowances: Allowances): SendCheck<'accepting', Counted> => ({
  name: 'quota',
  asked: 'accepting',
  prepare:
    () =>
    ({ organizationId, addresses, scheduledFor }) =>
      // Scheduled mail counts on the day of delivery, so it takes no quota now.
      scheduledFor === undefined ? allowances.take(organizationId, countEmails(addresses)) : null,
});

/** Counts an email for each address, even if it is named several times. */
function countEmails(addresses: readonly string[]): number {
  return new Set(addresses.map(foldAddress)).size;
}
