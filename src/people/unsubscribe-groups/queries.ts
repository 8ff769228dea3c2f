// All SQL on `unsubscribe_groups` and `unsubscribe_addresses`. Reads and writes rows, decides nothing.
import type { Kysely } from 'kysely';
import {
  bulkInsert,
  type Db,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import { rowsOf } from '../../platform/store/rows.ts';

export interface UnsubscribeGroupRow {
  id: string;
  organization_id: string;
  name: string;
  description: string | null;
  created_at: number;
  updated_at: number;
}

/** The recipient of a deleted delivery. */
export interface UnsubscribeAddressRow {
  delivery_id: string;
  organization_id: string;
  unsubscribe_group_id: string;
  address: string;
}

interface GroupTables {
  unsubscribe_groups: UnsubscribeGroupRow;
  unsubscribe_addresses: UnsubscribeAddressRow;
}

export const unsubscribeGroups = rowsOf<UnsubscribeGroupRow>(
  'unsubscribe_groups',
  'unsubscribe-group',
);

const selectOwners = statement(
  (db: Kysely<GroupTables>, parameter: ParameterOf<{ ids: unknown }>) =>
    db
      .selectFrom('unsubscribe_groups')
      .select(['id', 'organization_id'])
      .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Finds the organizations of groups. Hot: sends that name a group ask. */
export function findGroupOwners(
  db: Db,
  ids: readonly string[],
): Promise<Pick<UnsubscribeGroupRow, 'id' | 'organization_id'>[]> {
  return selectOwners(db, { ids: idList(db, ids) });
}

/** Keeps the recipients of deliveries that are about to be deleted. */
export const insertUnsubscribeAddresses = bulkInsert<GroupTables>('unsubscribe_addresses', [
  'delivery_id',
  'organization_id',
  'unsubscribe_group_id',
  'address',
]);

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
