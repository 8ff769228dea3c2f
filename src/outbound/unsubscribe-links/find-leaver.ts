// Finds the recipient behind an address `unsub+…@`: by the delivery, or after its deletion by the
// row stored in its place.
import type { App } from '../../core/app.ts';
import { findUnsubscribeAddress } from '../../people/unsubscribe-groups/queries.ts';
import { findDelivery } from '../deliveries/queries.ts';
import type { Leaver } from './tokens.ts';

export async function findLeaver({ store }: App, deliveryId: string): Promise<Leaver | null> {
  const delivery = await findDelivery(store.db, deliveryId);
  if (delivery) {
    const { organization_id, unsubscribe_group_id: groupId, message_id, email } = delivery;
    if (groupId === null) return null;
    return { organizationId: organization_id, groupId, messageId: message_id, address: email };
  }
  const kept = await findUnsubscribeAddress(store.db, deliveryId);
  if (!kept) return null;
  const { organization_id: organizationId, unsubscribe_group_id: groupId, address } = kept;
  return { organizationId, groupId, address, messageId: null };
}
