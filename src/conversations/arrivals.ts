// What messages do to their conversations: counted, dated, moved (states.ts) and told in the transaction that
// stores them. Conversations that a transaction touches are held once, in the order of their ids.
import type { App } from '../app.ts';
import { findContactRows, findIdentitiesNamed } from '../contacts/queries.ts';
import { recordEvents, told } from '../events/record.ts';
import { foldAddress } from '../net/address.ts';
import type { Db } from '../store/db.ts';
import { conversationUpdated } from './events.ts';
import { presentConversations } from './present.ts';
import {
  type ConversationRow,
  findContactLinks,
  holdConversations,
  insertContactLinks,
  moveConversation,
} from './queries.ts';
import { stateAfterMessage } from './states.ts';

/** More contacts than this a conversation does not show, so it keeps no more. */
const mostContacts = 20;

/** A message that was stored. */
export interface Arrival {
  conversationId: string;
  organizationId: string;
  /** Of the message. */
  id: string;
  direction: 'outbound' | 'inbound';
  /** Ms since 1970. */
  at: number;
  /** A person wrote it, as far as can be known. */
  isHuman: boolean;
  /** Who got it or, of an inbound one, wrote it: contacts, and addresses that may be theirs. */
  contactIds: readonly string[];
  addresses: readonly string[];
}

/** Counts messages in their conversations, in the order given. Each conversation is told of once. */
export async function countArrivals(
  app: App,
  trx: Db,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (arrivals.length === 0) return;
  const grouped = Map.groupBy(arrivals, ({ conversationId }) => conversationId);
  const held = await holdConversations(trx, [...grouped.keys()].sort());
  const moved: ConversationRow[] = [];
  for (const before of held) {
    const after = (grouped.get(before.id) ?? []).reduce(afterArrival, before);
    await moveConversation(trx, before, after);
    moved.push(after);
  }
  for (const [organizationId, rows] of Map.groupBy(moved, (row) => row.organization_id)) {
    const own = rows.flatMap(({ id }) => grouped.get(id) ?? []);
    await linkContacts(trx, organizationId, own);
    const shown = await presentConversations(trx, organizationId, rows);
    const events = shown.map((one) => ({ subject: one.id, event: told(conversationUpdated, one) }));
    await recordEvents(app, trx, organizationId, events);
  }
}

function afterArrival(row: ConversationRow, arrival: Arrival): ConversationRow {
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

/** Those who got or wrote the messages and are contacts, or have one's address, belong to it from now on. */
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
  // They stay until the transaction ends.
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
