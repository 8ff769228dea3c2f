// Compares the log of an organization with the sealed tree: hashes each event again, and the tree
// up to the signed head. Names each event that differs from the sealed event.
//
//   the log has                       | the tree has     | then
//   ----------------------------------+------------------+--------------------------------------------
//   an event                          | the same hash    | sound
//   an event                          | a different hash | changed, or added later: named
//   an event without data, erased     | a different hash | erased
//   nothing                           | a hash           | deleted: only the hash is kept
//   an event that waits for a seal,   | nothing          | not sealed yet
//   or was sealed meanwhile           |                  |
import type { App } from '../core/app.ts';
import { type Hash, leafHash, leafText } from '../history/events/leaf.ts';
import { idAfterAll, type LogRow, selectLogBetween } from '../history/events/log-queries.ts';
import { isErased } from '../history/events/queries.ts';
import { selectUnsealed } from '../history/events/unsealed-queries.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { sliceTurns } from '../platform/runtime/fairness/loop-turns.ts';
import { isSignedBy, type SignedHead } from './head.ts';
import { findPublicKey } from './keys.ts';
import { findPlace } from './prove.ts';
import { findTree, type TreeRow } from './queries.ts';
import { SealedTiles } from './sealed-tiles.ts';
import { tileSize, toHex } from './tree.ts';

const rowsAtOnce = 2 * tileSize;
const bytesAtOnce = 4_194_304;
const listsAtOnce = 1_000;

/** An event that differs from the sealed event. */
export interface ChangedEvent {
  id: string;
  type: string;
  /** Id of the message or resource of the event. */
  subject: string;
  timestamp: string;
}

/** Result of a comparison. */
export interface LogState {
  organizationId: string;
  /** Number of events with a hash in the tree. */
  sound: number;
  changed: ChangedEvent[];
  deleted: number;
  erased: number;
  unsealed: number;
  /** The signed head; null before the first seal. */
  head: SignedHead | null;
  /** Problems of the tree itself: missing hashes, the root or the signature. */
  problems: string[];
}

const mostChanged = 1_000;

/** Reads all events in the order of ids, a batch at a time. */
async function* rowsOf({ store }: App, organizationId: string) {
  let after = '';
  for (;;) {
    const range = { after, before: idAfterAll };
    const rows = await selectLogBetween(store.db, organizationId, range, rowsAtOnce, bytesAtOnce);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    yield rows;
    await sliceTurns('verify events', organizationId);
  }
}

function changedOf({ id, event_type, subject, timestamp }: LogRow): ChangedEvent {
  return { id, type: event_type, subject, timestamp: isoTime(timestamp) };
}

function headOf({ size, root, sealed_at, signature, key_id }: TreeRow): SignedHead {
  return { size, root, at: isoTime(sealed_at), signature, keyId: key_id };
}

/** Returns the ids of the events that wait for their seal. */
async function unsealedIds({ store }: App, organizationId: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = ''; ; ) {
    const lists = await selectUnsealed(store.db, organizationId, after, listsAtOnce);
    for (const list of lists) for (const id of list.ids) ids.add(id);
    if (lists.length < listsAtOnce) return ids;
    after = lists.at(-1)?.firstId ?? '';
  }
}

/**
 * Decides why no tile in memory has the hash of an event. Returns `unsealed` if the event waits for
 * a seal or was sealed meanwhile. Else returns `other`, and adds the event to the erased or changed
 * events of `state`.
 */
async function judgeOther(
  app: App,
  state: LogState,
  row: LogRow,
  isUnsealed: (id: string) => Promise<boolean>,
): Promise<'unsealed' | 'other'> {
  if (await isUnsealed(row.id)) return 'unsealed';
  // Reads the tree after the list, because a seal moves an event from the list to the tree.
  if ((await findPlace(app, state.organizationId, row)) !== null) return 'unsealed';
  if (isErased(row)) state.erased += 1;
  else if (state.changed.length < mostChanged) state.changed.push(changedOf(row));
  return 'other';
}

/** Compares all events with the tiles, and adds the results to `state`. */
async function compareRows(
  app: App,
  state: LogState,
  tiles: SealedTiles,
  onRows: () => void,
): Promise<void> {
  for await (const rows of rowsOf(app, state.organizationId)) {
    let waiting: Set<string> | null = null;
    const isUnsealed = async (id: string) => {
      waiting ??= await unsealedIds(app, state.organizationId);
      return waiting.has(id);
    };
    for (const row of rows) {
      await tiles.moveTo(row.id);
      if (tiles.take(leafHash(leafText(row)))) state.sound += 1;
      else if ((await judgeOther(app, state, row, isUnsealed)) === 'other') tiles.countOther();
      else state.unsealed += 1;
    }
    onRows();
  }
}

/**
 * Compares the log of an organization with the sealed tree. Names 1,000 changed events at most.
 * `onProgress` gets the number of hashes read so far, and the number of all hashes.
 */
export async function verifyLog(
  app: App,
  organizationId: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<LogState> {
  const tree = await findTree(app.store.db, organizationId);
  const state: LogState = {
    organizationId,
    sound: 0,
    changed: [],
    deleted: 0,
    erased: 0,
    unsealed: 0,
    head: tree ? headOf(tree) : null,
    problems: [],
  };
  const size = tree?.size ?? 0;
  const tiles = await SealedTiles.of(app, organizationId, size);
  if (tiles.missingFrom !== null) {
    state.problems.push(`hashes ${tiles.missingFrom} and following are missing`);
  }
  await compareRows(app, state, tiles, () => onProgress(tiles.read, size));
  const root = await tiles.end();
  state.deleted = tiles.deleted;
  if (tree) state.problems.push(...(await headProblems(app, tree, root)));
  return state;
}

async function headProblems(app: App, tree: TreeRow, root: Hash): Promise<string[]> {
  const problems: string[] = [];
  if (toHex(root) !== tree.root) {
    problems.push('the hashes do not lead to the root of the head');
  }
  const publicKey = await findPublicKey(app, tree.key_id);
  if (!isSignedBy(tree.organization_id, headOf(tree), publicKey)) {
    problems.push('the signature does not fit the head');
  }
  return problems;
}
