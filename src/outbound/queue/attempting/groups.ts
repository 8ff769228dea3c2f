// Groups of the deliveries of an attempt: each group has a route and is sent in one SMTP
// transaction. Chooses the route of each recipient.
import type { App } from '../../../core/app.ts';
import { isLocalAddress } from '../../../identity/mailboxes/receivers.ts';
import {
  type ChooseRoute,
  type NetworkRoute,
  type Route,
  routeKey,
} from '../../../mail/smtp/route.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import { travelsAlone } from '../carrier/copy.ts';
import { signaturesKey } from '../carrier/signatures.ts';
import type { ClaimedMessage } from '../claiming/claim.ts';

export interface Group {
  route: Route;
  deliveries: DeliveryRow[];
}

export interface NetworkGroup extends Group {
  route: NetworkRoute;
}

export function isOverNetwork(group: Group): group is NetworkGroup {
  return group.route.kind !== 'simulator' && group.route.kind !== 'capture';
}

/**
 * Groups recipients of the same domain and route into one transaction. A blind copy has a separate
 * transaction, as no server may see that address beside the visible recipients. With individual
 * copies, each recipient has a separate transaction.
 */
export async function groupByDestination(
  app: App,
  claimed: ClaimedMessage,
  chooseRoute: ChooseRoute,
): Promise<Group[]> {
  const { message, deliveries, recipients } = claimed;
  const sender = { organizationId: message.organization_id, email: message.from_email };
  const isAlone = travelsAlone(claimed, deliveries[0]);
  const blind = new Set(recipients.filter(({ kind }) => kind === 'bcc').map(({ id }) => id));
  const groups = new Map<string, Group>();
  for (const delivery of deliveries) {
    let route = chooseRoute(delivery.email, false, sender);
    // Only captured mail can be for our own mailboxes, so a different route needs no look-up.
    if (route.kind === 'capture') {
      const isLocal = await isLocalAddress(app.store.db, delivery.email);
      route = chooseRoute(delivery.email, isLocal, sender);
    }
    const isOwn = isAlone || route.kind === 'simulator' || blind.has(delivery.recipient_id);
    const shared = `${routeKey(route)} ${signaturesKey(route)} ${delivery.domain}`;
    const key = isOwn ? delivery.id : shared;
    const group = groups.get(key);
    if (group) group.deliveries.push(delivery);
    else groups.set(key, { route, deliveries: [delivery] });
  }
  return [...groups.values()];
}
