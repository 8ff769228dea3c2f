// Seals the log of an organization: hashes its new events in the order of ids, appends them to its tree, and
// signs the head. Behind the commits of the events, so that no send waits for it.
//
// On PostgreSQL a transaction can commit after another one that has later ids. An event is sealed once no
// transaction can add one before it: once it is 5 s older than the oldest transaction that still writes.
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { sliceTurns } from '../../platform/runtime/turns.ts';
import { freshEvents } from '../events/fresh.ts';
import { type Hash, leafHash, leafText } from '../events/leaf.ts';
import {
  idAfterAll,
  selectLogBetween,
  selectLogIds,
  selectOldestWriteAge,
} from '../events/log-queries.ts';
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
/** Room for the clocks of several daemons, and for an id that was made before its first statement. */
const settleMs = { postgres: 5_000, sqlite: 0 } as const;

/** Returns the id before which all events are committed. */
export async function settledBefore({ store, clock }: App): Promise<string> {
  const waitMs = settleMs[store.kind];
  if (waitMs === 0) return idAfterAll;
  return firstIdAt('event', clock.now() - (await selectOldestWriteAge(store.db)) - waitMs);
}

/** Reads tiles of a tree for the functions of tree.ts, which do not wait. */
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

/** The seals under way in this process, by organization: they follow each other. */
const underWay = perApp<App, Map<string, Promise<unknown>>>(() => new Map());

/**
 * Seals all events of an organization before the id `before`, in bounded steps. Returns the tree; undefined if
 * nothing was ever sealed.
 */
export async function sealLog(
  app: App,
  organizationId: string,
  before: string,
): Promise<TreeRow | undefined> {
  const seals = underWay(app);
  const seal = () => sealNext(app, organizationId, before);
  const mine = (seals.get(organizationId) ?? Promise.resolve()).then(seal, seal);
  seals.set(organizationId, mine);
  try {
    return await mine;
  } finally {
    if (seals.get(organizationId) === mine) seals.delete(organizationId);
  }
}

async function sealNext(
  app: App,
  organizationId: string,
  before: string,
): Promise<TreeRow | undefined> {
  const { db } = app.store;
  for (;;) {
    const tree = await findTree(db, organizationId);
    const leaves = await nextLeaves(app, organizationId, { after: tree?.sealed_to ?? '', before });
    if (leaves.length === 0) return tree;
    await sealLeaves(app, organizationId, tree, leaves);
    await sliceTurns('seal events', organizationId);
  }
}

interface Leaf {
  id: string;
  hash: Hash;
}

/** Returns the next leaves: hashed when they were recorded, or read back. */
async function nextLeaves(
  app: App,
  organizationId: string,
  range: { after: string; before: string },
): Promise<Leaf[]> {
  const { db } = app.store;
  const ids = await selectLogIds(db, organizationId, range, chunk);
  const hashes = freshEvents(app).hashesOf(ids);
  if (hashes) return ids.map((id, at) => ({ id, hash: hashes[at] as Hash }));
  const rows = await selectLogBetween(db, organizationId, range, chunk, chunkBytes);
  return rows.map((row) => ({ id: row.id, hash: leafHash(leafText(row)) }));
}

/** Appends events to the tree, unless another process has done so. */
async function sealLeaves(
  app: App,
  organizationId: string,
  tree: TreeRow | undefined,
  leaves: readonly Leaf[],
): Promise<void> {
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
  const idAt = (index: number) => leaves[index - before]?.id ?? '';
  const sealed: TreeRow = {
    organization_id: organizationId,
    ...{ size, root, signature },
    sealed_to: idAt(size - 1),
    sealed_at: sealedAt,
    key_id: keyId,
  };
  const tiles = grown.map(({ level, number, hashes }): TileRow => {
    const end = Math.min(size, (number + 1) * tileSize ** (level + 1));
    const lastId = idAt(end - 1);
    return {
      organization_id: organizationId,
      ...{ level, number, hashes: bytesOf(hashes), last_id: lastId },
    };
  });
  await app.store.write(async (trx) => {
    const changed = tree ? await replaceTree(trx, sealed, before) : await insertTree(trx, sealed);
    if (changed === 0) return;
    for (const tile of tiles) await putTile(trx, tile);
  }, 'quiet');
  freshEvents(app).drop(leaves.map(({ id }) => id));
}
