// Unsubscribing and resubscribing with a token from a mail.
//
//   state        | event                        | next
//   -------------+------------------------------+---------------------------------------------------
//   subscribed   | unsubscribes from the group  | a block of the group; event in the timeline
//   subscribed   | unsubscribes from all mail   | a block of all mail; event in the timeline
//   unsubscribed | does the same again          | unsubscribed: nothing is written
//   unsubscribed | resubscribes                 | subscribed: exactly that block is lifted
//
// Resubscribing does not lift a block of all mail by a bounce, a complaint or a person.
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record, recordTimeline } from '../../history/events/record.ts';
import { newBlockRow } from '../../people/blocks/blocks.ts';
import {
  deleteBlockRow,
  findActiveBlocks,
  findGroupBlocksAmong,
  insertBlocks,
} from '../../people/blocks/queries.ts';
import type { BlockReason } from '../../people/blocks/schema.ts';
import { contactUnsubscribed } from '../../people/contacts/events.ts';
import { presentContact } from '../../people/contacts/present.ts';
import { contacts, findIdentitiesNamed } from '../../people/contacts/queries.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { countRun } from '../../run-ledger/counters.ts';
import { markUnsubscribed } from '../../run-ledger/queries.ts';
import { deliveryEvent } from '../deliveries/delivery-event.ts';
import { type DeliveryRow, findDeliveries } from '../deliveries/queries.ts';
import { findMessageRows, findRecipients, lockMessages } from '../messages/queries.ts';
import type { Leaver } from './tokens.ts';

/** Scope of a request: the group of the mail, or all mail of the organization. */
export type Scope = 'group' | 'all';

export interface Leaving extends Leaver {
  scope: Scope;
}

/** Blocks of an address that the unsubscribe page shows; null without a block. */
export interface Standing {
  group: { id: string } | null;
  /**
   * The block of all mail. If there are several, it is the block by unsubscribing, because
   * resubscribing lifts only that block.
   */
  all: { id: string; reason: BlockReason } | null;
}

export async function standingOf(db: Db, leaver: Leaver): Promise<Standing> {
  const { organizationId, groupId } = leaver;
  const folded = foldAddress(leaver.address);
  const ofAll = await findActiveBlocks(db, organizationId, [folded]);
  const all = ofAll.find(({ reason }) => reason === 'unsubscribe') ?? ofAll[0];
  const [group] = await findGroupBlocksAmong(db, [[organizationId, folded, groupId]]);
  return {
    group: group ? { id: group.id } : null,
    all: all ? { id: all.id, reason: all.reason } : null,
  };
}

/** Returns the ids among `groupIds` of the groups that the address has left. */
export async function groupsLeft(
  db: Db,
  { organizationId, address }: Pick<Leaver, 'organizationId' | 'address'>,
  groupIds: readonly string[],
): Promise<Set<string | null>> {
  const folded = foldAddress(address);
  const asked = groupIds.map((id) => [organizationId, folded, id] as const);
  const found = await findGroupBlocksAmong(db, asked);
  return new Set(found.map(({ unsubscribe_group_id }) => unsubscribe_group_id));
}

/**
 * Adds the blocks of these unsubscribe requests in the caller's transaction. Repeats change
 * nothing.
 */
export async function leaveAll(app: App, trx: Db, leavings: readonly Leaving[]): Promise<void> {
  if (leavings.length === 0) return;
  // Locks the message against a concurrent deletion: either the timeline is deleted after this
  // event, or no event is added.
  await lockMessages(
    trx,
    leavings.flatMap(({ messageId }) => messageId ?? []),
  );
  const keyOf = ({ organizationId, address }: Leaving) =>
    `${organizationId} ${foldAddress(address)}`;
  for (const leaving of leavings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    if (!(await block(app, trx, leaving))) continue;
    await recordLeaving(app, trx, leaving);
    await recordOfContact(app, trx, leaving);
  }
}

/** Adds a block. Returns false if the address is blocked already. */
async function block(app: App, trx: Db, leaving: Leaving): Promise<boolean> {
  const { organizationId, address, messageId, groupId, scope } = leaving;
  const row = newBlockRow(app, organizationId, { address, reason: 'unsubscribe', messageId });
  const ofScope = { ...row, unsubscribe_group_id: scope === 'group' ? groupId : null };
  return (await insertBlocks(trx, [ofScope])).length > 0;
}

/**
 * Records the event in the timeline. A deleted message has no timeline, so only the block is
 * stored.
 */
async function recordLeaving(app: App, trx: Db, leaving: Leaving): Promise<void> {
  const { messageId, address, groupId, scope } = leaving;
  if (messageId === null) return;
  const [message] = await findMessageRows(trx, [messageId]);
  if (!message) return;
  const deliveries = await findDeliveries(trx, [messageId]);
  const folded = foldAddress(address);
  const delivery = deliveries.find(({ email }) => foldAddress(email) === folded);
  if (!delivery) return;
  const facts = { unsubscribeGroupId: groupId, scope };
  const now = app.clock.now();
  await countLeaver(trx, delivery, now);
  await recordTimeline(app, trx, [
    deliveryEvent(delivery, 'unsubscribed', message.status, now, facts),
  ]);
}

/** Counts the first unsubscribe of a run's recipient, and marks it in the ledger. */
async function countLeaver(trx: Db, delivery: DeliveryRow, now: number): Promise<void> {
  const { campaign_run_id: runId, message_id, recipient_id } = delivery;
  if (runId === null) return;
  const recipients = await findRecipients(trx, [message_id]);
  const contactId = recipients.find(({ id }) => id === recipient_id)?.contact_id ?? null;
  if (contactId === null || !(await markUnsubscribed(trx, runId, contactId, now))) return;
  countRun(trx, runId, { unsubscribed: 1 });
}

/** Publishes `contact.unsubscribed` for the contact with the address, if there is a contact. */
async function recordOfContact(app: App, trx: Db, leaving: Leaving): Promise<void> {
  const { organizationId, address } = leaving;
  const [identity] = await findIdentitiesNamed(trx, organizationId, [foldAddress(address)]);
  const row = identity && (await contacts.find(trx, organizationId, identity.contact_id));
  if (!row) return;
  const event = eventToRecord(contactUnsubscribed, await presentContact(trx, row));
  await record(app, trx, byService(organizationId), { subject: row.id, event });
}

/**
 * Lifts the block that unsubscribing added. A block of all mail with a different reason stays.
 * Returns false if that block is missing. `comeBack` of src/consent/opt-in also confirms a pending
 * membership.
 */
export async function liftLeave(
  app: App,
  trx: Db,
  { scope, ...leaver }: Leaving,
): Promise<boolean> {
  const { organizationId, address, groupId } = leaver;
  const { group, all } = await standingOf(trx, leaver);
  const lifted = scope === 'group' ? group : all?.reason === 'unsubscribe' ? all : null;
  if (!lifted || !(await deleteBlockRow(trx, organizationId, lifted.id))) return false;
  const details = { address, reason: 'unsubscribe', scope, unsubscribeGroupId: groupId };
  await record(app, trx, byService(organizationId), {
    subject: lifted.id,
    action: 'block.deleted',
    details: { ...details, by: 'recipient' },
  });
  return true;
}
