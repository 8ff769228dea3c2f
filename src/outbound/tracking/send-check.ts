// Refuses mail that leaves the machine if only this machine could open the links in it: to
// unsubscribe, and to track opens and clicks.
import type { SendCheck } from '../../core/api/send-check.ts';
import { firstOutward } from '../../identity/senders/outward.ts';
import type { ResolvedSender } from '../../identity/senders/resolve.ts';
import { ValidationError } from '../../platform/errors.ts';
import { hasPublicBase } from './base-url.ts';
import type { Tracking } from './content.ts';
import { refreshActiveHosts } from './custom/active-hosts.ts';

interface Linked {
  organizationId: string;
  addresses: readonly string[];
  unsubscribeGroupId: string | null;
  tracking: Tracking;
  /** Set for mail of the service, whose links begin with the public address of the service. */
  onBehalfOf: string | null;
  sender: ResolvedSender | null;
}

/** Returns the error for mail with links that recipients could not open. */
export const unreachableLinks = () =>
  ValidationError.of(
    'http.publicUrl',
    'is not set in the configuration: recipients could not open the links of this mail (to unsubscribe, ' +
      'to confirm, or to track opens and clicks). Set it to the address at which others reach this service, such as ' +
      'https://mail.example.com',
  );

function senderOf({ organizationId, sender }: Linked) {
  return { organizationId, email: sender?.email ?? '' };
}

function needsLink({ unsubscribeGroupId, tracking }: Linked): boolean {
  return unsubscribeGroupId !== null || tracking.opens || tracking.clicks;
}

export const publicLinkCheck: SendCheck<'accepting', Linked> = {
  name: 'public-link',
  asked: 'accepting',
  async prepare(app, _trx, sends) {
    const isLost = (send: Linked) =>
      needsLink(send) &&
      !hasPublicBase(app, send.onBehalfOf === null ? (send.sender?.domainId ?? null) : null) &&
      firstOutward(app, send.addresses, senderOf(send)) !== undefined;
    // Loads the tracking hosts before refusing, as a command does not keep them in memory: a link
    // at such a host needs no public URL of the service.
    if (sends.some(isLost)) await refreshActiveHosts(app);
    return (send) => (isLost(send) ? unreachableLinks() : null);
  },
};
