// The four numbers of engagement (specification 2.16). Each counts messages: delivered messages
// that tracked opens (or clicks), and the delivered messages that a person then opened (or clicked
// in). A message is counted once, with the first delivery that arrived, in the hour in which it was
// accepted, and for the domain of the first recipient. A bounce of the last arrived delivery
// subtracts the message.
//
//   open_eligible   tracks opens and arrived          opened   the same, and opened
//   click_eligible  tracks clicks and arrived         clicked  the same, and clicked
import type { App } from '../../core/app.ts';
import { countMail, type Observation, type Traits } from '../../identity/reputation/count.ts';
import type { Tally } from '../../identity/reputation/metrics.ts';
import type { Db } from '../../platform/store/db.ts';
import { type DeliveryRow, findDeliveryStatuses } from '../deliveries/queries.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { traitsOfMessages } from '../messages/lists/traits.ts';
import { findTrackedMessages, type TrackedMessageRow } from '../messages/queries.ts';
import { findEngagements } from './queries.ts';

const arrived: readonly MessageStatus[] = ['delivered', 'read', 'complained'];

/** Tells whether a status means that the delivery arrived. A complaint proves the arrival too. */
export function hasArrived(status: MessageStatus): boolean {
  return arrived.includes(status);
}

/** State of a message, which decides the numbers that count it. */
export interface Standing {
  arrived: boolean;
  opened: boolean;
  clicked: boolean;
}

type Flags = Pick<TrackedMessageRow, 'track_opens' | 'track_clicks'>;

/** Returns the changes of the numbers between two states of a message. */
function cohortChange(flags: Flags, before: Standing, after: Standing): Partial<Tally> {
  const was = countsOf(flags, before);
  const is = countsOf(flags, after);
  return {
    open_eligible: is.open_eligible - was.open_eligible,
    opened: is.opened - was.opened,
    click_eligible: is.click_eligible - was.click_eligible,
    clicked: is.clicked - was.clicked,
  };
}

function countsOf({ track_opens, track_clicks }: Flags, standing: Standing) {
  const opens = standing.arrived ? track_opens : 0;
  const clicks = standing.arrived ? track_clicks : 0;
  return {
    open_eligible: opens,
    opened: standing.opened ? opens : 0,
    click_eligible: clicks,
    clicked: standing.clicked ? clicks : 0,
  };
}

/** Returns the changes of the numbers that a changed message causes. Null if no number changes. */
export function observeCohort(
  message: TrackedMessageRow,
  traits: Traits,
  before: Standing,
  after: Standing,
): Observation | null {
  const counts = cohortChange(message, before, after);
  if (Object.values(counts).every((count) => count === 0)) return null;
  const { organization_id: organizationId, created_at: acceptedAt } = message;
  return { organizationId, acceptedAt, traits, counts };
}

/** Returns the domain of the first recipient. Ids of deliveries are in the order of recipients. */
export function firstDomain(rows: readonly Pick<DeliveryRow, 'id' | 'domain'>[]): string {
  return rows.reduce((first, row) => (row.id < first.id ? row : first), rows[0] ?? noRow).domain;
}

const noRow = { id: '', domain: '' };

/** A delivery with a new status. `had`: whether the delivery had arrived before. */
export interface Moved {
  row: Pick<DeliveryRow, 'id' | 'message_id'>;
  had: boolean;
}

/**
 * Updates the numbers for the messages of deliveries with a new status. Runs after the statuses are
 * stored.
 */
export async function countCohorts(app: App, trx: Db, moved: readonly Moved[]): Promise<void> {
  if (moved.length === 0) return;
  const ids = [...new Set(moved.map(({ row }) => row.message_id))];
  const messages = await findTrackedMessages(trx, ids);
  if (messages.length === 0) return;
  const tracked = messages.map(({ id }) => id);
  const statuses = Map.groupBy(await findDeliveryStatuses(trx, tracked), (row) => row.message_id);
  const engaged = Map.groupBy(await findEngagements(trx, tracked), (row) => row.message_id);
  const movedOf = Map.groupBy(moved, ({ row }) => row.message_id);
  const traitsOf = await traitsOfMessages(app, trx, messages);
  const observations = messages.flatMap((message) => {
    const changed = movedOf.get(message.id) ?? [];
    const rows = statuses.get(message.id) ?? [];
    const others = rows.filter(({ id }) => !changed.some(({ row }) => row.id === id));
    const engagements = engaged.get(message.id) ?? [];
    const standing = {
      opened: engagements.some(({ opened_at }) => opened_at !== null),
      clicked: engagements.some(({ clicked_at }) => clicked_at !== null),
    };
    const had = changed.some(({ had }) => had) || others.some(({ status }) => hasArrived(status));
    const has = rows.some(({ status }) => hasArrived(status));
    const before = { ...standing, arrived: had };
    const traits = traitsOf(message.id, firstDomain(rows));
    return observeCohort(message, traits, before, { ...standing, arrived: has }) ?? [];
  });
  await countMail(app, trx, observations);
}
