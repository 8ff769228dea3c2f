// Recipients that a report may concern. A token proves that the reporter has a copy of an SMTP
// transaction, so the report counts only for the recipients of that transaction. It never counts
// for recipients at different domains or under a blind copy, even if the report names them. Pure.

import { foldAddress } from '../../platform/net/address.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import { lastTransactionOf, type NamedTransaction } from '../queue/attempting/return-path.ts';

/** The recipients of a transaction, and all recipients of the message. */
export interface ReportedCopies {
  /** At least one copy. */
  copies: DeliveryRow[];
  siblings: readonly DeliveryRow[];
}

/**
 * Returns the delivery that began the transaction, and all deliveries with the last attempt in it.
 * A blind copy begins a separate transaction. Returns null if the delivery does not belong to this
 * message.
 */
export function copiesOf(
  { transaction, deliveryId }: NamedTransaction,
  siblings: readonly DeliveryRow[],
): ReportedCopies | null {
  const first = siblings.find(({ id }) => id === deliveryId);
  if (!first) return null;
  const others = siblings.filter(
    (row) => row !== first && lastTransactionOf(row) === transaction && row.domain === first.domain,
  );
  return { copies: [first, ...others], siblings };
}

/**
 * Returns the copies of a message that went to all recipients in one transaction; else null.
 */
export function soleTransaction(siblings: readonly DeliveryRow[]): ReportedCopies | null {
  for (const row of siblings) {
    const named = { transaction: lastTransactionOf(row), deliveryId: row.id };
    const found = copiesOf(named, siblings);
    if (found?.copies.length === siblings.length) return found;
  }
  return null;
}

/**
 * Returns the copy that the addresses of a report name. Unknown addresses name a single copy too,
 * as a reported address may be an alias. Returns undefined if the addresses name a recipient of a
 * different copy, or none of several copies.
 */
export function meantBy(
  told: readonly string[],
  { copies, siblings }: ReportedCopies,
): DeliveryRow | undefined {
  const folded = told.map(foldAddress);
  const isTold = ({ email }: DeliveryRow) => folded.includes(foldAddress(email));
  const found = copies.find(isTold);
  if (found || copies.length > 1 || siblings.some(isTold)) return found;
  return copies[0];
}
