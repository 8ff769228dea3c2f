// Erases the records of actions in a mailbox: their events, and their details in the audit.
import { clearEntries } from '../../history/audit/queries.ts';
import { selectEventsBetween } from '../../history/events/queries.ts';
import type { ActionCopy } from '../../inbox/approvals/copy-queries.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { eraseEvent } from './events.ts';

/**
 * Largest distance between the time in an event's id and the time of the action. It allows for a
 * changed clock.
 */
const nearMs = 60_000;

/** Limit per statement, far above the records of an action: a proposal and a decision. */
const mostOfAction = 1_000;

/** Erases the events and the details of these actions; the caller erases their rows. */
export async function eraseRecorded(trx: Db, actions: readonly ActionCopy[]): Promise<void> {
  for (const action of actions) {
    const { organization_id: organizationId, created_at, decided_at } = action;
    await clearEntries(trx, 'details', { organizationId, id: action.id }, mostOfAction);
    const times = decided_at === null ? [created_at] : [created_at, decided_at];
    for (const time of times) await eraseNear(trx, action, time);
  }
}

async function eraseNear(
  trx: Db,
  { id, organization_id, mailbox_id }: ActionCopy,
  time: number,
): Promise<void> {
  const range = { from: firstIdAt('event', time - nearMs), to: firstIdAt('event', time + nearMs) };
  const near = await selectEventsBetween(trx, organization_id, mailbox_id, {
    prefix: 'mailbox.action.',
    ...range,
  });
  for (const event of near) {
    if (fromJson<{ id?: unknown }>(event.data).id !== id) continue;
    await eraseEvent(trx, organization_id, event, mostOfAction);
  }
}
