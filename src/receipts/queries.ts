// All SQL on `event_trees`, `event_tiles` and `receipt_keys`. Rows only, no decisions.
import type { Db } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';
import type { TilePlace } from './tree.ts';

export interface TreeRow {
  organization_id: string;
  size: number;
  /** Id of the event that was sealed last. */
  sealed_to: string;
  /** Root of the tree in hex. */
  root: string;
  sealed_at: number;
  key_id: string;
  signature: string;
}

export interface TileRow extends TilePlace {
  organization_id: string;
  hashes: Uint8Array;
  /** Least and greatest id of the events under a tile of level 0; '' on higher levels. */
  first_id: string;
  last_id: string;
}

export interface ReceiptKeyRow {
  id: string;
  public_key: string;
  private_key: string;
  created_at: number;
}

interface SealTables {
  event_trees: TreeRow;
  event_tiles: TileRow;
  receipt_keys: ReceiptKeyRow;
}

const own = ownTables<SealTables>();

export const findTree = own.first((db, organizationId: string) =>
  db.selectFrom('event_trees').selectAll().where('organization_id', '=', organizationId),
);

/**
 * Returns up to `limit` trees that were sealed at `since` or later, of organizations with an id
 * above `after`, by organization.
 */
export const selectTrees = own.all((db, since: number, after: string, limit: number) =>
  db
    .selectFrom('event_trees')
    .selectAll()
    .where('organization_id', '>', after)
    .where('sealed_at', '>=', since)
    .orderBy('organization_id')
    .limit(limit),
);

/** Inserts the first tree of an organization; returns 0 if a different process was faster. */
export const insertTree = own.change((db, row: TreeRow) =>
  db
    .insertInto('event_trees')
    .values({
      organization_id: row.organization_id,
      size: row.size,
      sealed_to: row.sealed_to,
      root: row.root,
      sealed_at: row.sealed_at,
      key_id: row.key_id,
      signature: row.signature,
    })
    .onConflict((conflict) => conflict.column('organization_id').doNothing()),
);

/** Replaces a tree if it still has this size; returns 0 if a different process was faster. */
export const replaceTree = own.change((db, row: TreeRow, size: number) =>
  db
    .updateTable('event_trees')
    .set({
      size: row.size,
      sealed_to: row.sealed_to,
      root: row.root,
      sealed_at: row.sealed_at,
      key_id: row.key_id,
      signature: row.signature,
    })
    .where('organization_id', '=', row.organization_id)
    .where('size', '=', size),
);

export const findTile = own.first((db, organizationId: string, place: TilePlace) =>
  db
    .selectFrom('event_tiles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('level', '=', place.level)
    .where('number', '=', place.number),
);

/** Number of a tile of level 0, with the least and the greatest id of the events under it. */
export type TileRange = Pick<TileRow, 'number' | 'first_id' | 'last_id'>;

/** Returns the tiles that may contain the event: a single tile, unless the clock was set back. */
export const selectTilesOf = own.all((db, organizationId: string, eventId: string) =>
  db
    .selectFrom('event_tiles')
    .select('number')
    .where('organization_id', '=', organizationId)
    .where('level', '=', 0)
    .where('last_id', '>=', eventId)
    .where('first_id', '<=', eventId)
    .orderBy('last_id'),
);

/** Returns up to `limit` tiles of level 0 after this number, in order. */
export const selectTileRanges = own.all(
  (db, organizationId: string, after: number, limit: number) =>
    db
      .selectFrom('event_tiles')
      .select(['number', 'first_id', 'last_id'])
      .where('organization_id', '=', organizationId)
      .where('level', '=', 0)
      .where('number', '>', after)
      .orderBy('number')
      .limit(limit),
);

export const putTile = own.run((db, row: TileRow) =>
  db
    .insertInto('event_tiles')
    .values({
      organization_id: row.organization_id,
      level: row.level,
      number: row.number,
      hashes: row.hashes,
      first_id: row.first_id,
      last_id: row.last_id,
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'level', 'number']).doUpdateSet((set) => ({
        hashes: set.ref('excluded.hashes'),
        first_id: set.ref('excluded.first_id'),
        last_id: set.ref('excluded.last_id'),
      })),
    ),
);

const oldestFirst = own.all((db) =>
  db.selectFrom('receipt_keys').selectAll().orderBy('created_at'),
);

/** Returns all keys, the newest last. */
export function selectReceiptKeys(db: Db): Promise<ReceiptKeyRow[]> {
  return oldestFirst(db);
}

export const insertReceiptKey = own.run((db, row: ReceiptKeyRow) =>
  db.insertInto('receipt_keys').values({
    id: row.id,
    public_key: row.public_key,
    private_key: row.private_key,
    created_at: row.created_at,
  }),
);
