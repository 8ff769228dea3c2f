// Proofs that events are in the sealed log: a path for each event from the leaf to the root of the
// signed head.
import type { App } from '../core/app.ts';
import { type Hash, leafHash, leafText } from '../history/events/leaf.ts';
import type { LogRow } from '../history/events/log-queries.ts';
import { findTile, selectTilesOf, type TreeRow } from './queries.ts';
import { readTiles } from './seal.ts';
import { hashesOf, pathInTree, tileSize, tilesOfProof, toHex } from './tree.ts';

/** Index of an event in the log, and the hashes that lead from the event to the root. */
export interface EventProof {
  eventId: string;
  /** Number of events in the log before this event. */
  index: number;
  /** Hashes in hex, from the leaf up. */
  hashes: string[];
}

/** Hashes of a tile of level 0, with the index of the first hash in the log. */
interface Leaves {
  from: number;
  hashes: readonly Hash[];
}

/**
 * Returns the index of a sealed event in the log; null if it was changed since, or is not sealed.
 */
export async function findPlace(
  { store }: App,
  organizationId: string,
  row: LogRow,
  /** Leaves of tiles that were read before; new leaves are added. */
  known: Map<number, Leaves> = new Map(),
): Promise<number | null> {
  const leaf = leafHash(leafText(row));
  for (const { from, hashes } of known.values()) {
    const at = hashes.indexOf(leaf);
    if (at >= 0) return from + at;
  }
  for (const { number } of await selectTilesOf(store.db, organizationId, row.id)) {
    if (known.has(number)) continue;
    const tile = await findTile(store.db, organizationId, { level: 0, number });
    const leaves = { from: number * tileSize, hashes: tile ? hashesOf(tile.hashes) : [] };
    known.set(number, leaves);
    const at = leaves.hashes.indexOf(leaf);
    if (at >= 0) return leaves.from + at;
  }
  return null;
}

/**
 * Proves that events are in this tree. Returns null for an event that was changed since the seal,
 * or that the tree does not have.
 */
export async function proveEvents(
  app: App,
  tree: TreeRow,
  rows: readonly LogRow[],
): Promise<(EventProof | null)[]> {
  const { organization_id: organizationId, size } = tree;
  const known = new Map<number, Leaves>();
  const indexes: (number | null)[] = [];
  for (const row of rows) {
    const index = await findPlace(app, organizationId, row, known);
    // Another process may have sealed more events since the tree was read.
    indexes.push(index === null || index >= size ? null : index);
  }
  const places = indexes.flatMap((index) => (index === null ? [] : tilesOfProof(index, size)));
  const byName = new Map(places.map((place) => [`${place.level} ${place.number}`, place]));
  const stored = await readTiles(app, organizationId, [...byName.values()]);
  // Drops hashes that a tile got after `tree` was read: they are not in this proof.
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
