// Reads the holds of the operator, and finds the hold on a delivery. Holds are created and released
// in src/outbound/queue/desk/holds.ts.
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { type HoldRow, lockActiveHolds, selectHolds } from './hold-queries.ts';
import type { DeliveryRow } from './queries.ts';

/** The target of a hold; a null field matches anything. */
export type HoldScope = Pick<HoldRow, 'organization_id' | 'domain' | 'message_id' | 'delivery_id'>;

const anything: HoldScope = {
  organization_id: null,
  domain: null,
  message_id: null,
  delivery_id: null,
};

/** Formats the scope as in the column `scope`. */
export function scopeOf(scope: HoldScope): string {
  const { organization_id, domain, message_id, delivery_id } = scope;
  return [organization_id, domain, message_id, delivery_id].map((part) => part ?? '').join(' ');
}

export type Holdable = Pick<DeliveryRow, 'id' | 'message_id' | 'organization_id' | 'domain'>;

/** Finds the hold on a delivery among the holds that were in force when they were read. */
export interface Holds {
  /** Returns the narrowest hold on a delivery, or null. Mail of the service is never held. */
  of(row: Holdable): HoldRow | null;
}

/** Reads the holds in force. They stay in force until the transaction ends. */
export async function readHolds(trx: Db): Promise<Holds> {
  return holdsOver(await lockActiveHolds(trx));
}

/** No holds, for mail that does not wait. */
export const noHolds: Holds = { of: () => null };

/**
 * Reads the holds in force without a lock; `noHolds` if none of the deliveries waits. At most a
 * thousand holds exist (src/outbound/queue/desk/holds.ts).
 */
export async function findHolds(
  db: Db,
  rows: readonly Pick<DeliveryRow, 'due_at'>[],
): Promise<Holds> {
  if (rows.every(({ due_at }) => due_at === null)) return noHolds;
  const active = (await selectHolds(db)).filter(({ released_at }) => released_at === null);
  return holdsOver(active);
}

function holdsOver(rows: readonly HoldRow[]): Holds {
  const byScope = new Map(rows.map((row) => [row.scope, row]));
  return {
    of({ id, message_id, organization_id, domain }) {
      if (byScope.size === 0 || organization_id === serviceOrganizationId) return null;
      const scopes: Partial<HoldScope>[] = [
        { delivery_id: id },
        { message_id },
        { organization_id, domain },
        { domain },
        { organization_id },
      ];
      const found = scopes.map((scope) => byScope.get(scopeOf({ ...anything, ...scope })));
      return found.find((hold) => hold !== undefined) ?? null;
    },
  };
}
