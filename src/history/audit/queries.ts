// All SQL on `audit_entries`. Reads and writes rows, decides nothing.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export class AuditRow {
  id!: string;
  organization_id!: string;
  actor!: 'key' | 'installation' | 'member' | 'operator' | 'service';
  key_id!: string | null;
  key_name!: string | null;
  role!: string | null;
  member_id!: string | null;
  member_name!: string | null;
  member_email!: string | null;
  action!: string;
  resource_id!: string | null;
  /** Details as JSON; null without details. */
  details!: string | null;
  created_at!: number;
}

interface AuditTables {
  audit_entries: AuditRow;
}

const own = ownTables<AuditTables>();

export const insertEntries = own.bulkInsert('audit_entries', AuditRow);

/** Updates the details of an entry, for a change that spans several transactions. */
export async function updateDetails(db: Db, id: string, details: string | null): Promise<void> {
  await tables<AuditTables>(db)
    .updateTable('audit_entries')
    .set({ details })
    .where('id', '=', id)
    .execute();
}

/** Columns with texts that an erasure clears: of a resource, or of a member as the actor. */
const cleared = {
  details: { of: 'resource_id', kept: 'details', none: { details: null } },
  member: {
    of: 'member_id',
    kept: 'member_email',
    none: { member_name: null, member_email: null },
  },
} as const;

/**
 * Clears the details of up to `limit` entries of a resource, or the name and address of a member in
 * the entries of the member. Returns the number of entries.
 */
export async function clearEntries(
  trx: Db,
  what: keyof typeof cleared,
  { organizationId, id }: { organizationId: string; id: string },
  limit: number,
): Promise<number> {
  const { of, kept, none } = cleared[what];
  const found = tables<AuditTables>(trx)
    .selectFrom('audit_entries')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where(of, '=', id)
    .where(kept, 'is not', null)
    .limit(limit);
  const { numUpdatedRows } = await tables<AuditTables>(trx)
    .updateTable('audit_entries')
    .set(none)
    .where('id', 'in', found)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Deletes up to `limit` of the oldest entries before `before`. Returns their number. */
export async function deleteOldEntries(trx: Db, before: number, limit: number): Promise<number> {
  const old = tables<AuditTables>(trx)
    .selectFrom('audit_entries')
    .select('id')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate().skipLocked());
  const { numDeletedRows } = await tables<AuditTables>(trx)
    .deleteFrom('audit_entries')
    .where('id', 'in', old)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export interface AuditFilter {
  action?: string | undefined;
  resourceId?: string | undefined;
  /** Selects entries from this time on, ms since 1970. Entries at `to` or later are left out. */
  from?: number | undefined;
  to?: number | undefined;
  /** Selects entries that come after this entry in the list. */
  after?: { at: number; id: string } | undefined;
}

/** Returns up to `limit` entries of an organization that match the filter, newest first. */
export function selectEntries(
  db: Db,
  organizationId: string,
  { action, resourceId, from, to, after }: AuditFilter,
  limit: number,
): Promise<AuditRow[]> {
  return tables<AuditTables>(db)
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(action !== undefined, (q) => q.where('action', '=', action ?? ''))
    .$if(resourceId !== undefined, (q) => q.where('resource_id', '=', resourceId ?? ''))
    .$if(from !== undefined, (q) => q.where('created_at', '>=', from ?? 0))
    .$if(to !== undefined, (q) => q.where('created_at', '<', to ?? 0))
    .$if(after !== undefined, (q) =>
      q.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(after?.at ?? 0, after?.id ?? '')),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
