// Compares the log of an organization with its sealed tree: hashes each event anew, and the tree up to its signed
// head. Names each event that is not the one that was sealed.
//
//   the log has                       | the tree has     | then
//   ----------------------------------+------------------+--------------------------------------------
//   an event                          | its hash         | sound
//   an event                          | another          | changed, or added later: named
//   an event without its data, erased | another          | erased
//   nothing                           | a hash           | deleted: its hash only is kept
//   an event behind the last sealed   | nothing          | not sealed yet
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { sliceTurns } from '../../platform/runtime/turns.ts';
import { type Hash, leafHash, leafText } from '../events/leaf.ts';
import { idAfterAll, type LogRow, selectLogBetween } from '../events/log-queries.ts';
import { isErased } from '../events/queries.ts';
import { isSignedBy, type SignedHead } from './head.ts';
import { findPublicKey } from './keys.ts';
import { findTile, findTree, type TreeRow } from './queries.ts';
import { hashesOf, rootOver, tileSize, toHex } from './tree.ts';

const rowsAtOnce = 2 * tileSize;
const bytesAtOnce = 4_194_304;

/** An event that is not the one that was sealed. */
export interface ChangedEvent {
  id: string;
  type: string;
  /** Id of its message or resource. */
  subject: string;
  timestamp: string;
}

/** Result of a comparison. */
export interface LogState {
  organizationId: string;
  /** Events whose hash is in the tree. */
  sound: number;
  changed: ChangedEvent[];
  deleted: number;
  erased: number;
  unsealed: number;
  /** The signed head; null before the first seal. */
  head: SignedHead | null;
  /** Problems of the tree itself: its signature, or its root. */
  problems: string[];
}

const mostChanged = 1_000;

/** Reads all events with ids from behind `after` to `before`, a part at a time. */
async function* rowsBetween(app: App, organizationId: string, after: string, before: string) {
  let edge = after;
  for (;;) {
    const range = { after: edge, before };
    const { db } = app.store;
    const rows = await selectLogBetween(db, organizationId, range, rowsAtOnce, bytesAtOnce);
    const last = rows.at(-1);
    if (!last) return;
    edge = last.id;
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

/** Compares one tile with its events. */
async function compareTile(
  app: App,
  state: LogState,
  after: string,
  lastId: string,
  hashes: readonly Hash[],
): Promise<void> {
  const left = new Set(hashes);
  let others = 0;
  for await (const rows of rowsBetween(app, state.organizationId, after, `${lastId}~`)) {
    for (const row of rows) {
      if (left.delete(leafHash(leafText(row)))) state.sound += 1;
      else if (isErased(row)) {
        state.erased += 1;
        others += 1;
      } else {
        others += 1;
        if (state.changed.length < mostChanged) state.changed.push(changedOf(row));
      }
    }
  }
  state.deleted += Math.max(0, left.size - others);
}

/**
 * Compares the log of an organization with its sealed tree. Names 1,000 changed events at most. `onProgress`
 * gets the number of hashes so far, and of all.
 */
export async function verifyLog(
  app: App,
  organizationId: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<LogState> {
  const { db } = app.store;
  const tree = await findTree(db, organizationId);
  const state: LogState = {
    organizationId,
    ...{ sound: 0, changed: [], deleted: 0, erased: 0, unsealed: 0 },
    ...{ head: tree ? headOf(tree) : null, problems: [] },
  };
  const size = tree?.size ?? 0;
  const roots: Hash[] = [];
  let after = '';
  for (let number = 0; number * tileSize < size; number += 1) {
    const tile = await findTile(db, organizationId, { level: 0, number });
    if (!tile) {
      state.problems.push(`hashes ${number * tileSize} and following are missing`);
      break;
    }
    const isLast = (number + 1) * tileSize > size;
    const hashes = hashesOf(tile.hashes).slice(0, size - number * tileSize);
    // A tile that grew after the tree was read ends behind it.
    const lastId = isLast ? (tree?.sealed_to ?? '') : tile.last_id;
    await compareTile(app, state, after, lastId, hashes);
    roots.push(rootOver(hashes));
    after = lastId;
    onProgress(number * tileSize + hashes.length, size);
  }
  for await (const rows of rowsBetween(app, organizationId, after, idAfterAll)) {
    state.unsealed += rows.length;
  }
  if (tree) state.problems.push(...(await headProblems(app, tree, rootOver(roots))));
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
