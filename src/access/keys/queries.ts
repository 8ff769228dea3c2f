// All SQL on `api_keys` and `key_changes`. Rows only, no decisions.
import type { SendMode } from '../../core/api/route.ts';
import { changeCounter } from '../../platform/store/change-counter.ts';
import { type Db, idList, isOneOf, statement, tables } from '../../platform/store/db.ts';
import { rowsOf } from '../../platform/store/rows.ts';

export interface KeyRow {
  id: string;
  organization_id: string;
  name: string | null;
  description: string | null;
  hash: string;
  start: string;
  role_name: string;
  /** JSON; null if they follow from the role. */
  permissions: string | null;
  owner: 'person' | 'service';
  /** JSON; null for none. */
  constraints: string | null;
  send_mode: SendMode;
  /** Id of the first key in a chain of rotations; at most one key of the chain is active. */
  lineage: string;
  is_active: number;
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
}

interface KeyTables {
  api_keys: KeyRow;
  key_changes: { counter: number };
}

const byHash = statement<KeyTables, { hash: string }, KeyRow>((db, parameter) =>
  db.selectFrom('api_keys').selectAll().where('hash', '=', parameter('hash')),
);

/** Counts changes of a caller's fields: lost rights, constraints, a name. */
export const keyChanges = changeCounter<KeyTables>('key_changes');

export async function findKeyByHash(db: Db, hash: string): Promise<KeyRow | undefined> {
  return (await byHash(db, { hash }))[0];
}

/** Rows by id or by page. */
export const keys = rowsOf<KeyRow>('api_keys', 'api-key');

const heirs = statement<KeyTables, { ids: unknown }, Pick<KeyRow, 'id' | 'constraints'>>(
  (db, parameter) =>
    db
      .selectFrom('api_keys as made')
      .innerJoin('api_keys as heir', 'heir.lineage', 'made.lineage')
      .select(['made.id', 'heir.constraints'])
      .where(isOneOf(db, 'made.id', parameter('ids')))
      .where('heir.is_active', '=', 1),
);

/**
 * Returns the current constraints for the resources of these keys: their own, or those of their replacement
 * by rotation. Keys without an active successor are left out.
 */
export function findHeirs(
  db: Db,
  ids: readonly string[],
): Promise<Pick<KeyRow, 'id' | 'constraints'>[]> {
  return heirs(db, { ids: idList(db, ids) });
}

/** Returns the key itself, or its replacement by rotations, while it is active. */
export function findHeir(db: Db, id: string): Promise<KeyRow | undefined> {
  return tables<KeyTables>(db)
    .selectFrom('api_keys as made')
    .innerJoin('api_keys as heir', 'heir.lineage', 'made.lineage')
    .selectAll('heir')
    .where('made.id', '=', id)
    .where('heir.is_active', '=', 1)
    .executeTakeFirst();
}

/** Deactivates a key. Returns false if it was inactive: one of two callers wins. */
export async function deactivateKey(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tables<KeyTables>(db)
    .updateTable('api_keys')
    .set({ is_active: 0 })
    .where('id', '=', id)
    .where('is_active', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const touch = statement<KeyTables, { id: string; at: number }, never>((db, parameter) =>
  db
    .updateTable('api_keys')
    .set({ last_used_at: parameter('at') })
    .where('id', '=', parameter('id'))
    .where(({ or, eb }) =>
      or([eb('last_used_at', 'is', null), eb('last_used_at', '<', parameter('at'))]),
    ),
);

/** Sets `last_used_at`, never backwards: several daemons may write it. */
export async function updateLastUsed(db: Db, id: string, at: number): Promise<void> {
  await touch(db, { id, at });
}
