// All SQL on `unsubscribe_groups` and `unsubscribe_addresses`. Reads and writes rows, decides
// nothing. src/consent/opt-in has the SQL of confirmations of groups.
import type { RowOf } from '../../core/api/field-table.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { groupFields } from './schema.ts';

export type UnsubscribeGroupRow = RowOf<typeof groupFields>;

/**
 * The recipient of a deleted delivery, so that mail to the address `unsub+…` still unsubscribes.
 */
export class UnsubscribeAddressRow {
  delivery_id!: string;
  organization_id!: string;
  unsubscribe_group_id!: string;
  address!: string;
}

interface GroupTables {
  unsubscribe_groups: UnsubscribeGroupRow;
  unsubscribe_addresses: UnsubscribeAddressRow;
}

const own = ownTables<GroupTables>();

export const unsubscribeGroups = own.rowsOf('unsubscribe_groups', 'unsubscribe-group');

/** Finds the organizations of groups. Hot: runs for sends that name a group. */
export const findGroupOwners = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('unsubscribe_groups')
    .select(['id', 'organization_id'])
    .where('id', ...isOneOf(db, ids)),
);

/** Returns the first `limit` public groups of an organization in the order of names. */
export const findPublicGroups = own.all((db, organizationId: string, limit: number) =>
  db
    .selectFrom('unsubscribe_groups')
    .select(['id', 'name', 'description'])
    .where('organization_id', '=', organizationId)
    .where('is_public', '=', 1)
    .orderBy('name')
    .orderBy('id')
    .limit(limit),
);

/** Stores the recipients of deliveries that are about to be deleted. */
export const insertUnsubscribeAddresses = own.bulkInsert(
  'unsubscribe_addresses',
  UnsubscribeAddressRow,
);

export function findUnsubscribeAddress(
  db: Db,
  deliveryId: string,
): Promise<UnsubscribeAddressRow | undefined> {
  return tables<GroupTables>(db)
    .selectFrom('unsubscribe_addresses')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst();
}
