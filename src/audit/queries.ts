// All SQL on `audit_entries`. Rows only, no decisions.
import { bulkInsert, type Db, tables } from '../store/db.ts';

export interface AuditRow {
  id: string;
  organization_id: string;
  actor: 'key' | 'operator' | 'service';
  key_id: string | null;
  key_name: string | null;
  role: string | null;
  action: string;
  resource_id: string | null;
  /** JSON. */
  details: string | null;
  created_at: number;
}

interface AuditTables {
  audit_entries: AuditRow;
}

export const insertEntries = bulkInsert<AuditTables>('audit_entries', [
  'id',
  'organization_id',
  'actor',
  'key_id',
  'key_name',
  'role',
  'action',
  'resource_id',
  'details',
  'created_at',
]);

/** Of an entry that tells of several transactions. */
export async function updateDetails(db: Db, id: string, details: string | null): Promise<void> {
  await tables<AuditTables>(db)
    .updateTable('audit_entries')
    .set({ details })
    .where('id', '=', id)
    .execute();
}

export interface AuditFilter {
  action?: string | undefined;
  resourceId?: string | undefined;
  /** Ms since 1970; entries of that time and later. */
  since?: number | undefined;
  /** Only what comes after this entry in the list. */
  after?: { at: number; id: string } | undefined;
}

/** Newest first. */
export function selectEntries(
  db: Db,
  organizationId: string,
  { action, resourceId, since, after }: AuditFilter,
  limit: number,
): Promise<AuditRow[]> {
  return tables<AuditTables>(db)
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(action !== undefined, (q) => q.where('action', '=', action ?? ''))
    .$if(resourceId !== undefined, (q) => q.where('resource_id', '=', resourceId ?? ''))
    .$if(since !== undefined, (q) => q.where('created_at', '>=', since ?? 0))
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
