// Effects of messages on their conversations: counters, times, state (states.ts) and events. They
// happen in the transaction that stores the messages, after `holdConversations` has locked the
// conversations.
import type { App } from '../../core/app.ts';
import { eventToRecord, recordEvents } from '../../history/events/record.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { findContactRows, findIdentitiesNamed } from '../contacts/queries.ts';
import { conversationUpdated } from './events.ts';
import { presentConversations } from './present.ts';
import {
  type CountedRow,
  countMessages,
  findContactLinks,
  findConversations,
  findCounted,
  insertContactLinks,
} from './queries.ts';
import { stateAfterMessage } from './states.ts';

/** Most contacts that are stored and shown for a conversation. */
const mostContacts = 20;

/** A message that was stored. */
export interface Arrival {
  conversationId: string;
  organizationId: string;
  /** Id of the message. */
  id: string;
  direction: 'outbound' | 'inbound';
  /** Ms since 1970. */
  at: number;
  /** Whether a person wrote the message, as far as can be known. */
  isHuman: boolean;
  /**
   * Contacts among the recipients or, for an inbound message, the sender. `addresses`: addresses of
   * the same people, still to be matched with contacts.
   */
  contactIds: readonly string[];
  addresses: readonly string[];
}

/** Columns of a message that an arrival is built from. */
interface StoredMessage {
  id: string;
  organization_id: string;
  conversation_id: string | null;
  direction: Arrival['direction'];
  created_at: number;
}

/** Returns the arrival of a message as a list; empty for a message without a conversation. */
export function arrivalsOf(
  message: StoredMessage,
  more: Pick<Arrival, 'isHuman' | 'contactIds' | 'addresses'>,
): Arrival[] {
  const { id, direction, conversation_id: conversationId } = message;
  if (conversationId === null) return [];
  const { organization_id: organizationId, created_at: at } = message;
  return [{ conversationId, organizationId, id, direction, at, ...more }];
}

/**
 * Counts messages in their locked conversations, in the given order. Publishes
 * `conversation.updated` for each conversation that changed state or received mail, but not for
 * each outgoing message.
 */
export async function countArrivals(
  app: App,
  trx: Db,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (arrivals.length === 0) return;
  const grouped = Map.groupBy(arrivals, ({ conversationId }) => conversationId);
  const toTell: string[] = [];
  for (const before of await findCounted(trx, [...grouped.keys()])) {
    const own = grouped.get(before.id) ?? [];
    const after = own.reduce(afterArrival, before);
    await countMessages(trx, before, after);
    const isTold =
      after.status !== before.status || own.some(({ direction }) => direction === 'inbound');
    if (isTold) toTell.push(before.id);
  }
  for (const [organizationId, own] of Map.groupBy(arrivals, (one) => one.organizationId)) {
    await linkContacts(trx, organizationId, own);
  }
  if (toTell.length === 0) return;
  const changed = await findConversations(trx, toTell);
  for (const [organizationId, rows] of Map.groupBy(changed, (row) => row.organization_id)) {
    const shown = await presentConversations(trx, organizationId, rows);
    const events = shown.map((one) => ({
      subject: one.id,
      event: eventToRecord(conversationUpdated, one),
    }));
    await recordEvents(app, trx, organizationId, events);
  }
}

function afterArrival(row: CountedRow, arrival: Arrival): CountedRow {
  const { at, isHuman } = arrival;
  const later = (time: number | null) => Math.max(time ?? at, at);
  return {
    ...row,
    ...stateAfterMessage(row, arrival),
    message_count: row.message_count + 1,
    started_at: row.started_at ?? at,
    last_activity_at: later(row.last_activity_at),
    last_human_activity_at: isHuman
      ? later(row.last_human_activity_at)
      : row.last_human_activity_at,
    updated_at: later(row.updated_at),
  };
}

/** Links contacts that received or wrote the messages to the conversation, by id or by address. */
async function linkContacts(
  trx: Db,
  organizationId: string,
  arrivals: readonly Arrival[],
): Promise<void> {
  const addresses = [...new Set(arrivals.flatMap((one) => one.addresses.map(foldAddress)))];
  const identities =
    addresses.length === 0 ? [] : await findIdentitiesNamed(trx, organizationId, addresses);
  const ownerOf = new Map(identities.map((one) => [one.folded_identifier, one.contact_id]));
  const wanted = arrivals.flatMap(({ conversationId, contactIds, addresses: own }) => {
    const found = own.flatMap((address) => ownerOf.get(foldAddress(address)) ?? []);
    return [...contactIds, ...found].map((contactId) => ({ conversationId, contactId }));
  });
  if (wanted.length === 0) return;
  const ids = [...new Set(wanted.map(({ contactId }) => contactId))].sort();
  // Locks the contacts against deletion until the transaction ends.
  const there = new Set((await findContactRows(trx, organizationId, ids)).map(({ id }) => id));
  const links = await findContactLinks(trx, [
    ...new Set(wanted.map(({ conversationId }) => conversationId)),
  ]);
  const known = new Map(
    [...Map.groupBy(links, (link) => link.conversation_id)].map(([id, own]) => [
      id,
      new Set(own.map(({ contact_id }) => contact_id)),
    ]),
  );
  const added = wanted.flatMap(({ conversationId, contactId }) => {
    const own = known.get(conversationId) ?? new Set();
    known.set(conversationId, own);
    if (!there.has(contactId) || own.has(contactId) || own.size >= mostContacts) return [];
    own.add(contactId);
    return [{ conversation_id: conversationId, contact_id: contactId }];
  });
  await insertContactLinks(trx, added);
}
