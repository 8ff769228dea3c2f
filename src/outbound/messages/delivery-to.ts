// Finds the delivery of a recipient by address.
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';

/** Returns the delivery to this address, ignoring case. @throws ResourceNotFoundError */
export function deliveryTo(deliveries: readonly DeliveryRow[], recipient: string): DeliveryRow {
  const folded = foldAddress(recipient);
  const found = deliveries.find(({ email }) => foldAddress(email) === folded);
  if (!found) throw new ResourceNotFoundError('recipient', recipient);
  return found;
}
