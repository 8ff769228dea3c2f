// Counts mail of warming domains in the open window, in the transaction that accepts it
// (specification 3).
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { accepted } from './queries.ts';
import { warmedDomains } from './warmed-domains.ts';

/** A message that was accepted, or a scheduled message that is due. */
interface AcceptedMessage {
  organization_id: string;
  /** Null for a domain that the organization has not registered. */
  sender_domain_id: string | null;
  /** Number of recipients. */
  delivery_count: number;
  /** The campaign run that made the message and counted it (run-places.ts); null without a run. */
  campaign_run_id: string | null;
}

/**
 * Counts the recipients of messages from warming domains, except messages of campaign runs. The
 * counts are written at the end of the transaction. Hot.
 */
export async function countInWindows(
  app: App,
  trx: Db,
  messages: readonly AcceptedMessage[],
): Promise<void> {
  const known = warmedDomains(app);
  for (const message of messages) {
    const { organization_id, sender_domain_id: domainId, delivery_count: count } = message;
    if (domainId === null || message.campaign_run_id !== null) continue;
    // Awaits only if the domains are not in memory.
    const domains = known.get(organization_id) ?? (await known.find(trx, organization_id));
    if (!domains.has(domainId)) continue;
    accepted.add(trx, { domainId }, { count });
  }
}
