// Holds by the operator: matching mail waits in the queue and is not attempted until the release.
// Claims check holds through stops.ts.
//
// | state     | event                     | next                                            |
// |-----------|---------------------------|-------------------------------------------------|
// | (none)    | `hold`                    | active; matching queued mail is set aside       |
// | active    | a matching delivery's turn | it is set aside, in a lane of the hold's name  |
// | active    | `release`                 | releasing                                       |
// | releasing | all deliveries are ready  | (none)                                          |

import { operatorIn } from '../../../access/organizations/organizations.ts';
import type { App } from '../../../core/app.ts';
import { record } from '../../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Db } from '../../../platform/store/db.ts';
import {
  deleteReleased,
  findHold,
  type HoldRow,
  insertHold,
  lockActiveHolds,
  markReleased,
  selectHolds,
} from '../../deliveries/hold-queries.ts';
import { type HoldScope, scopeOf } from '../../deliveries/holds-in-force.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import {
  countInLanes,
  findNamedDeliveries,
  holdDelivery,
  type QueueRow,
} from '../../deliveries/queue-queries.ts';
import { heldBy, stopOfHold } from '../claiming/stops.ts';
import type { Hold, HoldTarget } from './queue-schema.ts';
import { changeQueue, giveTurnsNow, type OnProgress, recordByHand } from './queue-walk.ts';

/** Most holds, because every claim reads all of them. */
const mostHolds = 1_000;

/** Returns the names of the lanes in which held deliveries wait, for all holds. */
export async function heldStops(db: Db): Promise<string[]> {
  return (await selectHolds(db)).map(({ id }) => stopOfHold(id));
}

function toHold(row: HoldRow, held: number): Hold {
  return {
    id: row.id,
    organizationId: row.organization_id,
    domain: row.domain,
    messageId: row.message_id,
    deliveryId: row.delivery_id,
    note: row.note,
    state: row.released_at === null ? 'active' : 'releasing',
    held,
    createdAt: isoTime(row.created_at),
  };
}

async function presentHolds(db: Db, rows: readonly HoldRow[]): Promise<Hold[]> {
  const counts = await countInLanes(
    db,
    rows.map(({ id }) => stopOfHold(id)),
  );
  return rows.map((row) => toHold(row, counts.get(stopOfHold(row.id)) ?? 0));
}

/** Lists all holds, or only the holds that name this organization; the oldest first. */
export async function listHolds(app: App, organizationId?: string): Promise<Hold[]> {
  const { db } = app.store;
  const rows = await selectHolds(db);
  const isWanted = (row: HoldRow) => !organizationId || row.organization_id === organizationId;
  return presentHolds(db, rows.filter(isWanted));
}

function targetOf({ organizationId, domain, id }: HoldTarget): HoldScope {
  return {
    organization_id: organizationId ?? null,
    domain: domain ?? null,
    message_id: id?.startsWith('msg_') ? id : null,
    delivery_id: id?.startsWith('dlv_') ? id : null,
  };
}

/**
 * Holds matching mail. Waiting deliveries are held now. Later and scheduled deliveries are held
 * when their turn comes. A running attempt ends as usual. Returns an existing hold of the same
 * target unchanged.
 * @throws ResourceNotFoundError for an unknown id; ConflictError if all targeted deliveries have
 * ended, or if there are too many holds.
 */
export async function holdQueue(
  app: App,
  target: HoldTarget,
  note: string | null,
  onProgress?: OnProgress,
): Promise<Hold> {
  const { db } = app.store;
  const scope = scopeOf(targetOf(target));
  const named = target.id === undefined ? null : await getHoldable(db, target.id);
  const hold = await app.store.write(async (trx) => {
    const known = await selectHolds(trx);
    if (known.length >= mostHolds && !known.some((row) => row.scope === scope)) {
      const advice = 'release some, or hold domains or organizations instead';
      throw new ConflictError('hold', `There are ${mostHolds} holds, the limit: ${advice}`);
    }
    const created_at = app.clock.now();
    const row = { id: app.newId('hold'), scope, ...targetOf(target), note, created_at };
    await insertHold(trx, { ...row, released_at: null });
    const isNew = !known.some((one) => one.scope === scope && one.released_at === null);
    const stored = (await findHold(trx, 'scope', scope)) ?? { ...row, released_at: null };
    if (isNew) await auditHold(app, trx, stored, 'queue.held');
    return stored;
  });
  // Uses separate transactions: claims lock deliveries before holds.
  if (named) await app.store.write((trx) => holdThese(app, trx, hold, named));
  else await putAside(app, hold, target, onProgress);
  const [presented] = await presentHolds(db, [hold]);
  return presented ?? toHold(hold, 0);
}

/** Records the action in the audit of the organization that owns the mail. */
async function auditHold(
  app: App,
  trx: Db,
  { id, organization_id, domain, message_id, delivery_id, note }: HoldRow,
  action: 'queue.held' | 'queue.released',
): Promise<void> {
  const named = message_id ?? delivery_id;
  const [row] = named === null ? [] : await findNamedDeliveries(trx, named);
  const by = await operatorIn(trx, organization_id ?? row?.organization_id ?? null);
  const details = { domain, messageId: message_id, deliveryId: delivery_id, note };
  await record(app, trx, by, { subject: id, action, details });
}

async function getHoldable(db: Db, id: string): Promise<DeliveryRow[]> {
  const rows = await findNamedDeliveries(db, id);
  if (rows.length === 0) throw new ResourceNotFoundError('delivery', id);
  const live = rows.filter(({ due_at }) => due_at !== null);
  if (live.length === 0) throw new ConflictError('delivery', `${id} is no longer in the queue`);
  // Leaves out scheduled deliveries: they are set aside when their time comes.
  return live.filter(({ status }) => status !== 'scheduled');
}

/**
 * Sets waiting mail aside at once: this saves the daemon the work, and the count is right
 * immediately. The daemon sets aside mail that arrives later.
 */
async function putAside(
  app: App,
  hold: HoldRow,
  { organizationId, domain }: HoldTarget,
  onProgress: OnProgress = () => {},
): Promise<void> {
  const filter = { organizationId, domain };
  const exceptStops = await heldStops(app.store.db);
  let before = 0;
  // Ready deliveries come last: once set aside, they belong to the due half, where they would be
  // read again.
  for (const half of ['due', 'ready'] as const) {
    const options = { half, filter, exceptStops, withScheduled: false };
    const report = (changed: number) => onProgress(before + changed);
    before += await changeQueue(
      app,
      options,
      (trx, rows) => holdThese(app, trx, hold, rows),
      report,
    );
  }
}

/** Sets these deliveries aside, unless the hold was released meanwhile. Returns how many. */
async function holdThese(
  app: App,
  trx: Db,
  hold: HoldRow,
  rows: readonly QueueRow[],
): Promise<number> {
  const active = await lockActiveHolds(trx);
  if (!active.some(({ id }) => id === hold.id)) return 0;
  const held: QueueRow[] = [];
  for (const row of rows) {
    if (await holdDelivery(trx, heldBy(hold, row.id, app.clock.now()))) held.push(row);
  }
  // A hold on a domain or organization is in no timeline: that would need a write for each mail.
  if (hold.message_id !== null || hold.delivery_id !== null) {
    const { id: holdId, note } = hold;
    await recordByHand(app, trx, held, 'queued', { by: 'operator', action: 'hold', holdId, note });
  }
  return held.length;
}

/**
 * Releases a hold, named by id or target, and makes the held deliveries ready. If another hold
 * matches a delivery, that hold sets it aside at its turn. A repeat finishes an interrupted
 * release. @throws ResourceNotFoundError
 */
export async function releaseHold(
  app: App,
  target: HoldTarget | { holdId: string },
  onProgress?: OnProgress,
): Promise<{ id: string; released: number }> {
  const hold = await getHold(app.store.db, target);
  const lane = stopOfHold(hold.id);
  await app.store.write(async (trx) => {
    await markReleased(trx, hold.id, app.clock.now());
    if (hold.released_at === null) await auditHold(app, trx, hold, 'queue.released');
  });
  const giveTurns = async (trx: Db, rows: readonly QueueRow[]) => {
    const given = await giveTurnsNow(app, trx, rows);
    if (hold.message_id !== null || hold.delivery_id !== null) {
      await recordByHand(app, trx, given, 'queued', { by: 'operator', action: 'release' });
    }
    return given.length;
  };
  const released = await changeQueue(app, { half: 'due', filter: { lane } }, giveTurns, onProgress);
  await app.store.write((trx) => deleteReleased(trx, hold.id));
  return { id: hold.id, released };
}

async function getHold(db: Db, target: HoldTarget | { holdId: string }): Promise<HoldRow> {
  if ('holdId' in target) {
    const hold = await findHold(db, 'id', target.holdId);
    if (hold) return hold;
    throw new ResourceNotFoundError('hold', target.holdId);
  }
  const hold = await findHold(db, 'scope', scopeOf(targetOf(target)));
  if (hold) return hold;
  const { id, domain, organizationId } = target;
  const words = [id, domain, organizationId].filter((part) => part !== undefined);
  throw new ResourceNotFoundError('hold on', words.join(' of '));
}
