// All SQL on `organizations` and `organization_changes`. Reads and writes rows, decides nothing.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { IdsEnding } from '../../platform/store/rows/ids-ending.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  /** 1 for the operator's own organization, the default of commands without `--org`. */
  is_first: number;
  plan: string;
  payment_method_on_file: number;
  timezone: string;
  sending_status: 'enabled' | 'paused';
  paused_at: number | null;
  pause_reason: string | null;
  onboarding_status: 'approved' | 'pending' | 'rejected';
  onboarding_generation: number;
  /** 1 if opens (`track_clicks`: clicks) of sends without a setting of their own are tracked. */
  track_opens: number;
  track_clicks: number;
  /** `strong`: only a passkey or single sign-on opens the console. */
  sign_in: 'any' | 'strong';
  /**
   * Days after which messages are deleted (`content_days`: only the content); null for the days of
   * the configuration.
   */
  messages_days: number | null;
  content_days: number | null;
  /** JSON of keys of metadata that are searched by index. */
  metadata_keys: string | null;
  /** Id up to which messages are indexed by `metadata_keys`; null once all messages are. */
  metadata_indexed_to: string | null;
  created_at: number;
  updated_at: number;
}

interface OrganizationTables {
  organizations: OrganizationRow;
  organization_changes: { counter: number };
}

const own = ownTables<OrganizationTables>();

/** Finds organizations, in no order. Hot: every send reads an organization. */
export const findOrganizations = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('organizations')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

export const organizationChanges = own.changeCounter('organization_changes');

export const findOrganization = own.first((db, id: string) =>
  db.selectFrom('organizations').selectAll().where('id', '=', id),
);

export const findFirstOrganization = own.first((db) =>
  db.selectFrom('organizations').selectAll().where('is_first', '=', 1),
);

export function findOrganizationByName(db: Db, name: string): Promise<OrganizationRow | undefined> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .selectAll()
    .where('name', '=', name)
    .where('id', '<>', serviceOrganizationId)
    .executeTakeFirst();
}

/** Returns the SQL condition that an organization has metadata keys to index. */
export function hasMetadataKeys(organizationId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(select o.metadata_keys from organizations o where o.id = ${organizationId}) is not null`;
}

/** Returns the SQL condition that an organization indexes this metadata key. */
export function indexesMetadataKey(
  db: Db,
  organizationId: RawBuilder<unknown>,
  key: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const keys =
    engineOf(db) === 'postgres'
      ? sql`jsonb_array_elements_text(o.metadata_keys::jsonb) k(value)`
      : sql`json_each(o.metadata_keys) k`;
  return sql`exists (select 1 from organizations o, ${keys}
    where o.id = ${organizationId} and k.value = ${key})`;
}

/** Returns an organization with messages to index by metadata keys; undefined if all are done. */
export const firstToIndex = own.first((db) =>
  db
    .selectFrom('organizations')
    .select(['id', 'metadata_indexed_to'])
    .where('metadata_indexed_to', 'is not', null)
    .orderBy('id')
    .limit(1)
    .$castTo<{ id: string; metadata_indexed_to: string }>(),
);

/**
 * Moves the progress of the index by metadata keys from `from` to `to`. Changes nothing if the
 * progress differs from `from`, as after a change of the keys.
 */
export const moveIndexedTo = own.run((db, id: string, from: string, to: string | null) =>
  db
    .updateTable('organizations')
    .set({ metadata_indexed_to: to })
    .where('id', '=', id)
    .where('metadata_indexed_to', '=', from),
);

/** Returns up to `limit` ids with this ending, newest first; the empty ending selects all. */
export const organizationIdsEnding: IdsEnding = async (db, _organizationId, ending, limit) => {
  const rows = await tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .select('id')
    .where('id', 'like', `%${ending}`)
    .where('id', '<>', serviceOrganizationId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
};

/**
 * Inserts an organization. Returns false if the name is taken. On PostgreSQL, waits for a process
 * that inserts the same name.
 */
export async function insertOrganization(db: Db, row: OrganizationRow): Promise<boolean> {
  const inserted = await tables<OrganizationTables>(db)
    .insertInto('organizations')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/**
 * Returns the paused organizations. Hot: every claim reads them. On PostgreSQL they stay paused
 * until the transaction ends.
 */
export const lockPausedOrganizations = own.all(
  (db) => {
    const rows = db.selectFrom('organizations').select('id').where('sending_status', '=', 'paused');
    return engineOf(db) === 'postgres' ? rows.forShare() : rows;
  },
  (rows) => rows.map(({ id }) => id),
);

/** Returns the few organizations that track sends without a setting of their own. */
export function findTrackingOrganizations(
  db: Db,
): Promise<Pick<OrganizationRow, 'id' | 'track_opens' | 'track_clicks'>[]> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .select(['id', 'track_opens', 'track_clicks'])
    .where((where) => where.or([where('track_opens', '=', 1), where('track_clicks', '=', 1)]))
    .execute();
}

/**
 * Returns the next `limit` organizations after an id that have a period of retention of their own.
 */
export function findRetainingOrganizations(
  db: Db,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<OrganizationRow, 'id' | 'messages_days' | 'content_days'>[]> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .select(['id', 'messages_days', 'content_days'])
    .where('id', '>', after)
    .where((where) =>
      where.or([where('messages_days', 'is not', null), where('content_days', 'is not', null)]),
    )
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns a range of organizations, in order of creation. */
export function selectOrganizations(
  db: Db,
  range: { limit: number; offset: number },
): Promise<OrganizationRow[]> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .selectAll()
    .where('id', '<>', serviceOrganizationId)
    .orderBy('id')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

export async function countOrganizations(db: Db): Promise<number> {
  const { count } = await tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('id', '<>', serviceOrganizationId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Locks the row until the end of the transaction (SQLite has a single writer anyway). */
export async function lockOrganization(db: Db, id: string, now: number): Promise<void> {
  await tables<OrganizationTables>(db)
    .updateTable('organizations')
    .set({ updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Returns the row, locked until the transaction ends, for a change that depends on it. */
export const lockOrganizationRow = own.first((db, id: string) => {
  const rows = db.selectFrom('organizations').selectAll().where('id', '=', id);
  return engineOf(db) === 'postgres' ? rows.forUpdate() : rows;
});

export type OrganizationChanges = Partial<
  Pick<
    OrganizationRow,
    | 'name'
    | 'plan'
    | 'payment_method_on_file'
    | 'timezone'
    | 'sending_status'
    | 'paused_at'
    | 'pause_reason'
    | 'onboarding_status'
    | 'onboarding_generation'
    | 'track_opens'
    | 'track_clicks'
    | 'sign_in'
    | 'messages_days'
    | 'content_days'
    | 'updated_at'
  >
>;

/**
 * Changes a row. Returns undefined and changes nothing if the row is missing or the sending status
 * is not `whileStatus`. Change several rows in the order of ids, then call
 * `organizationChanges.note`.
 */
export function updateOrganization(
  db: Db,
  id: string,
  set: OrganizationChanges,
  whileStatus?: OrganizationRow['sending_status'],
): Promise<OrganizationRow | undefined> {
  return tables<OrganizationTables>(db)
    .updateTable('organizations')
    .set(set)
    .where('id', '=', id)
    .$if(whileStatus !== undefined, (q) => q.where('sending_status', '=', whileStatus ?? 'enabled'))
    .returningAll()
    .executeTakeFirst();
}
