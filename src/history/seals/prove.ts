// Proofs that events are in the sealed log: a path for each from its leaf to the root of the signed head.
import type { App } from '../../core/app.ts';
import { leafHash, leafText } from '../events/leaf.ts';
import type { LogRow } from '../events/log-queries.ts';
import { findTileOf, type TileRow, type TreeRow } from './queries.ts';
import { readTiles } from './seal.ts';
import { hashesOf, pathInTree, tileSize, tilesOfProof, toHex } from './tree.ts';

/** Place of an event in the log, and the hashes that lead from it to the root. */
export interface EventProof {
  eventId: string;
  /** Number of events before it. */
  index: number;
  /** In hex, the lowest first. */
  hashes: string[];
}

/**
 * Proves sealed events, given in the order of ids. Returns null for an event that is not the one that was
 * sealed.
 */
export async function proveEvents(
  app: App,
  tree: TreeRow,
  rows: readonly LogRow[],
): Promise<(EventProof | null)[]> {
  const { organization_id: organizationId, size } = tree;
  let tile: TileRow | undefined;
  const indexes: (number | null)[] = [];
  for (const row of rows) {
    if (!tile || row.id > tile.last_id) {
      tile = await findTileOf(app.store.db, organizationId, row.id);
    }
    const leaf = leafHash(leafText(row));
    const at = tile ? hashesOf(tile.hashes).indexOf(leaf) : -1;
    const index = (tile?.number ?? 0) * tileSize + at;
    // A process may have sealed more since the tree was read.
    indexes.push(at === -1 || index >= size ? null : index);
  }
  const places = indexes.flatMap((index) => (index === null ? [] : tilesOfProof(index, size)));
  const byName = new Map(places.map((place) => [`${place.level} ${place.number}`, place]));
  const stored = await readTiles(app, organizationId, [...byName.values()]);
  // A tile may have grown beyond the size of the tree.
  const read: typeof stored = (place) => {
    const count = Math.floor(size / tileSize ** place.level) - place.number * tileSize;
    return stored(place).slice(0, count);
  };
  return rows.map(({ id }, at) => {
    const index = indexes[at] ?? null;
    if (index === null) return null;
    const hashes = pathInTree(index, size, read).map(toHex);
    return { eventId: id, index, hashes };
  });
}
