// Seals the log of an organization: hashes the new events in the order of their commits, appends
// them to the tree, and signs the head. Runs after the commits of the events, so no send waits for
// it. A transaction adds the leaves and removes the list of events, so each committed event is
// sealed once, even if a clock is wrong.
import type { App } from '../core/app.ts';
import { freshEvents } from '../history/events/fresh.ts';
import { hashEvents } from '../history/events/hash-events.ts';
import type { Hash } from '../history/events/leaf.ts';
import {
  deleteUnsealed,
  selectUnsealed,
  type Unsealed,
} from '../history/events/unsealed-queries.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { sliceTurns } from '../platform/runtime/fairness/loop-turns.ts';
import { perApp } from '../platform/runtime/per-app.ts';
import { signHead } from './head.ts';
import { findSigner } from './keys.ts';
import {
  findTile,
  findTree,
  insertTree,
  putTile,
  replaceTree,
  type TileRow,
  type TreeRow,
} from './queries.ts';
import {
  append,
  bytesOf,
  edgeOf,
  type GrownTile,
  hashesOf,
  type ReadTile,
  rootOfTree,
  type TilePlace,
  tileSize,
  toHex,
} from './tree.ts';

const chunk = 8 * tileSize;
const chunkBytes = 4_194_304;
/** Most unsealed lists that a step reads. */
const mostLists = 512;

/** Reads tiles of a tree in advance for the functions of tree.ts, which are synchronous. */
export async function readTiles(
  { store }: App,
  organizationId: string,
  places: readonly TilePlace[],
): Promise<ReadTile> {
  const read = new Map<string, Hash[]>();
  for (const place of places) {
    const row = await findTile(store.db, organizationId, place);
    if (row) read.set(nameOf(place), hashesOf(row.hashes));
  }
  return (place) => read.get(nameOf(place)) ?? [];
}

function nameOf({ level, number }: TilePlace): string {
  return `${level} ${number}`;
}

function withGrown(read: ReadTile, grown: readonly GrownTile[]): ReadTile {
  const byName = new Map(grown.map((tile) => [nameOf(tile), tile.hashes]));
  return (place) => byName.get(nameOf(place)) ?? read(place);
}

/** Seals under way in this process, by organization. Seals of an organization run in series. */
const underWay = perApp<App, Map<string, Promise<unknown>>>(() => new Map());

/**
 * Seals all committed events of an organization, in bounded steps. Returns the tree; undefined if
 * nothing was ever sealed.
 */
export async function sealLog(app: App, organizationId: string): Promise<TreeRow | undefined> {
  const seals = underWay(app);
  const seal = () => sealNext(app, organizationId);
  const mine = (seals.get(organizationId) ?? Promise.resolve()).then(seal, seal);
  seals.set(organizationId, mine);
  try {
    return await mine;
  } finally {
    if (seals.get(organizationId) === mine) seals.delete(organizationId);
  }
}

async function sealNext(app: App, organizationId: string): Promise<TreeRow | undefined> {
  const { db } = app.store;
  for (;;) {
    const lists = await nextLists(app, organizationId);
    // Read after the lists, so that the tree includes events that another process has sealed.
    const tree = await findTree(db, organizationId);
    if (lists.length === 0) return tree;
    const leaves = await leavesOf(app, organizationId, lists);
    await sealLeaves(app, organizationId, { tree, leaves, lists });
    await sliceTurns('seal events', organizationId);
  }
}

interface Leaf {
  id: string;
  hash: Hash;
}

/** Returns the first unsealed lists, which together have about 2,048 events. */
async function nextLists({ store }: App, organizationId: string): Promise<Unsealed[]> {
  let count = 0;
  const lists = await selectUnsealed(store.db, organizationId, '', mostLists);
  const end = lists.findIndex(({ ids }) => {
    count += ids.length;
    return count >= chunk;
  });
  return end === -1 ? lists : lists.slice(0, end + 1);
}

/**
 * Returns the leaves of the lists: hashed when the events were recorded, or read from the store.
 * Deleted events have no leaf.
 */
async function leavesOf(
  app: App,
  organizationId: string,
  lists: readonly Unsealed[],
): Promise<Leaf[]> {
  const ids = lists.flatMap((list) => list.ids);
  const hashes = freshEvents(app).hashesOf(ids);
  if (hashes) return ids.map((id, at) => ({ id, hash: hashes[at] as Hash }));
  const read = await hashEvents(app.store.db, organizationId, ids, chunkBytes);
  return ids.flatMap((id) => {
    const hash = read.get(id);
    return hash === undefined ? [] : { id, hash };
  });
}

/** Returns the least and the greatest id of a tile of level 0 that gets these leaves. */
function rangeOf(tile: TileRow | undefined, leaves: readonly Leaf[]) {
  const ids = leaves.map(({ id }) => id);
  if (tile) ids.push(tile.first_id, tile.last_id);
  ids.sort();
  return { first_id: ids[0] ?? '', last_id: ids.at(-1) ?? '' };
}

interface NextSeal {
  tree: TreeRow | undefined;
  leaves: readonly Leaf[];
  lists: readonly Unsealed[];
}

/** Thrown if another process has sealed the same events. */
class SealedElsewhere extends Error {}

/** Appends events to the tree, unless another process has done so. */
async function sealLeaves(app: App, organizationId: string, next: NextSeal): Promise<void> {
  const { tree, leaves, lists } = next;
  const before = tree?.size ?? 0;
  const { sealed, tiles } = await growTree(app, organizationId, next);
  const firstIds = lists.map(({ firstId }) => firstId);
  try {
    await app.store.write(async (trx) => {
      if (sealed) {
        const changed = tree
          ? await replaceTree(trx, sealed, before)
          : await insertTree(trx, sealed);
        if (changed === 0) return;
      }
      for (const tile of tiles) await putTile(trx, tile);
      const listed = await deleteUnsealed(trx, organizationId, firstIds);
      if (sealed && listed < lists.length) throw new SealedElsewhere();
    }, 'quiet');
  } catch (error) {
    if (!(error instanceof SealedElsewhere)) throw error;
  }
  freshEvents(app).drop(leaves.map(({ id }) => id));
}

/**
 * Returns the signed tree with the new leaves, and the tiles that change; without leaves, null and
 * no tiles.
 */
async function growTree(
  app: App,
  organizationId: string,
  { tree, leaves }: NextSeal,
): Promise<{ sealed: TreeRow | null; tiles: TileRow[] }> {
  const last = leaves.at(-1);
  if (!last) return { sealed: null, tiles: [] };
  const before = tree?.size ?? 0;
  const size = before + leaves.length;
  const read = await readTiles(app, organizationId, edgeOf(before));
  const grown = append(
    before,
    leaves.map((leaf) => leaf.hash),
    read,
  );
  const root = toHex(rootOfTree(size, withGrown(read, grown)));
  const { keyId, key } = await findSigner(app);
  const sealedAt = app.clock.now();
  const { signature } = signHead(organizationId, { size, root, at: isoTime(sealedAt), keyId }, key);
  const sealed: TreeRow = {
    organization_id: organizationId,
    size,
    root,
    signature,
    sealed_to: last.id,
    sealed_at: sealedAt,
    key_id: keyId,
  };
  const edge = { level: 0, number: Math.floor(before / tileSize) };
  const unfinished = await findTile(app.store.db, organizationId, edge);
  const tiles = grown.map(({ level, number, hashes }): TileRow => {
    const from = number * tileSize - before;
    const own = leaves.slice(Math.max(0, from), Math.max(0, from + tileSize));
    const stored = number === edge.number ? unfinished : undefined;
    const range = level === 0 ? rangeOf(stored, own) : { first_id: '', last_id: '' };
    return { organization_id: organizationId, level, number, hashes: bytesOf(hashes), ...range };
  });
  return { sealed, tiles };
}
