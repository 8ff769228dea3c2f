// All SQL on `api_keys` and `key_changes`. Rows only, no decisions.

import { type SqlBool, sql } from 'kysely';
import type { SendMode } from '../../core/api/route.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface KeyRow {
  id: string;
  organization_id: string;
  name: string | null;
  description: string | null;
  hash: string;
  start: string;
  role_name: string;
  /** Permissions as JSON; null if they follow from the role. */
  permissions: string | null;
  owner: 'person' | 'service';
  /** Constraints as JSON; null for none. */
  constraints: string | null;
  send_mode: SendMode;
  /** Id of the installation that uses the key; null for a key made by a person or a key. */
  installation_id: string | null;
  /**
   * Kinds of events that the installation may read, as JSON; null for keys without an installation.
   */
  events: string | null;
  /** Id of the first key in a chain of rotations. The last key of the chain has no replacement. */
  lineage: string;
  /** Id of the replacement by rotation; the key itself is active until it expires. */
  replaced_by: string | null;
  /** Member or key that made this key; null for the operator. */
  created_by: string | null;
  is_active: number;
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
}

interface KeyTables {
  api_keys: KeyRow;
  key_changes: { counter: number };
}

const own = ownTables<KeyTables>();

export const findKeyByHash = own.first((db, hash: string) =>
  db.selectFrom('api_keys').selectAll().where('hash', '=', hash),
);

/** Returns the names of these keys, by id. */
export const findKeyNames = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('api_keys')
      .select(['id', 'name'])
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map(({ id, name }) => [id, name])),
);

/** Counts changes of the fields that cached callers hold: rights, constraints and name. */
export const keyChanges = own.changeCounter('key_changes');

/** Rows by id or by page, including keys of installations. */
export const keys = own.rowsOf('api_keys', 'api-key');

/** Filter for keys that belong to no installation. */
export const madeByHand = { where: sql<SqlBool>`installation_id is null` };

/** Returns the active key of an installation. */
export const findKeyOfInstallation = own.first((db, installationId: string) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('installation_id', '=', installationId)
    .where('is_active', '=', 1),
);

/**
 * Returns the present successors of the keys `ids`: each key itself, or the replacement by
 * rotation. `made_id` is the id in `ids`. Leaves out keys without an active successor.
 */
export const findHeirs = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('api_keys as made')
    .innerJoin('api_keys as heir', 'heir.lineage', 'made.lineage')
    .selectAll('heir')
    .select('made.id as made_id')
    .where('made.id', ...isOneOf(db, ids))
    .where('heir.is_active', '=', 1)
    .where('heir.replaced_by', 'is', null),
);

/** Returns the key itself, or the replacement by rotations, while it is active. */
export function findHeir(db: Db, id: string): Promise<KeyRow | undefined> {
  return tables<KeyTables>(db)
    .selectFrom('api_keys as made')
    .innerJoin('api_keys as heir', 'heir.lineage', 'made.lineage')
    .selectAll('heir')
    .where('made.id', '=', id)
    .where('heir.is_active', '=', 1)
    .where('heir.replaced_by', 'is', null)
    .executeTakeFirst();
}

/**
 * Marks a key as replaced, with the end `expiresAt`. Returns false if the key is inactive or
 * already replaced: of two rotations only the first succeeds.
 */
export async function replaceKey(
  db: Db,
  id: string,
  { replacedBy, expiresAt }: { replacedBy: string; expiresAt: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tables<KeyTables>(db)
    .updateTable('api_keys')
    .set({ replaced_by: replacedBy, expires_at: expiresAt })
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .where('replaced_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the ids of the replaced keys of a lineage that are still active, in the order of ids. */
export async function findReplacedKeys(db: Db, lineage: string): Promise<string[]> {
  const rows = await tables<KeyTables>(db)
    .selectFrom('api_keys')
    .select('id')
    .where('lineage', '=', lineage)
    .where('is_active', '=', 1)
    .where('replaced_by', 'is not', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Deactivates a key. Returns false if it was inactive: of two callers the first wins. */
export async function deactivateKey(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tables<KeyTables>(db)
    .updateTable('api_keys')
    .set({ is_active: 0 })
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets `last_used_at`, never backwards: several daemons may write it. */
export const updateLastUsed = own.run((db, id: string, at: number) =>
  db
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)])),
);
