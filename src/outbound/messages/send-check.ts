// Refuses payloads that name a missing resource, before the permission to send is checked.
// Templates were found before (src/outbound/sending/compose-send.ts). Also reads the message to
// which the send replies.
import type { SendCheck } from '../../core/api/send-check.ts';
import { contactsForSends } from '../../people/contacts/recipients.ts';
import { holdConversations } from '../../people/conversations/queries.ts';
import { findGroupOwners } from '../../people/unsubscribe-groups/queries.ts';
import { ResourceNotFoundError, type ServiceError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findMessageRows, type MessageRow } from './queries.ts';
import type { SendPayload } from './send-schema.ts';
import { statedParent } from './threading-headers.ts';

interface Naming {
  organizationId: string;
  payload: SendPayload;
  /** Message to which the send replies. Null before it is read, and for sends that are no reply. */
  parent: MessageRow | null;
  /** Addresses in the order of to, cc and bcc. Contacts' addresses are added once found. */
  addresses: readonly string[];
}

export const namedCheck: SendCheck<'accepting', Naming> = {
  name: 'named',
  asked: 'accepting',
  async prepare(_app, trx, sends) {
    const parentOf = ({ payload: { email } }: Naming) =>
      email.inReplyToMessageId ?? statedParent(email.headers);
    const ids = sends.flatMap((send) => parentOf(send) ?? []);
    const rows = ids.length > 0 ? await findMessageRows(trx, ids) : [];
    const parents = new Map(rows.map((row) => [row.id, row]));
    for (const send of sends) {
      const parent = parents.get(parentOf(send) ?? '');
      if (parent?.organization_id === send.organizationId) send.parent = parent;
    }
    const refused = await nameContacts(trx, sends);
    const lacking = await nameConversations(trx, sends);
    const groupIds = sends.flatMap(({ payload }) => payload.email.unsubscribeGroupId ?? []);
    const owners = groupIds.length > 0 ? await findGroupOwners(trx, groupIds) : [];
    const ownerOf = new Map(owners.map(({ id, organization_id }) => [id, organization_id]));
    return (send) =>
      refused.get(send) ?? missingResource(send, lacking) ?? missingGroup(send, ownerOf);
  },
};

function missingGroup(
  { payload, organizationId }: Naming,
  ownerOf: ReadonlyMap<string, string>,
): ResourceNotFoundError | null {
  const { unsubscribeGroupId: id } = payload.email;
  if (id === undefined || ownerOf.get(id) === organizationId) return null;
  return new ResourceNotFoundError('unsubscribe-group', id);
}

function missingResource(send: Naming, lacking: ReadonlySet<Naming>): ResourceNotFoundError | null {
  const { payload, parent } = send;
  const { email, conversationId } = payload;
  const missing = (resource: string, id: string) => new ResourceNotFoundError(resource, id);
  if (conversationId && lacking.has(send)) return missing('conversation', conversationId);
  if (email.inReplyToMessageId && !parent) return missing('message', email.inReplyToMessageId);
  return null;
}

/**
 * Locks the conversations that a batch names. Returns the sends that name a conversation which
 * their organization lacks. A reply to a message joins the conversation of that message.
 */
async function nameConversations(trx: Db, sends: readonly Naming[]): Promise<Set<Naming>> {
  const idOf = ({ payload, parent }: Naming) => payload.conversationId ?? parent?.conversation_id;
  const ids = sends.flatMap((send) => idOf(send) ?? []);
  const lacking = new Set<Naming>();
  if (ids.length === 0) return lacking;
  const rows = await holdConversations(trx, [...new Set(ids)].sort());
  const ownerOf = new Map(rows.map(({ id, organization_id }) => [id, organization_id]));
  for (const send of sends) {
    const conversationId = idOf(send);
    if (!conversationId) continue;
    const isThere = ownerOf.get(conversationId) === send.organizationId;
    if (isThere) send.payload = { ...send.payload, conversationId };
    else if (send.payload.conversationId) lacking.add(send);
  }
  return lacking;
}

const kinds = ['to', 'cc', 'bcc'] as const;

/**
 * Fills in the email, and the name if it is not given, of recipients that a contact id names.
 * Returns the sends to refuse, with the error. Needs a query for each organization of the batch,
 * and no query if no send names a contact.
 */
async function nameContacts(
  trx: Db,
  sends: readonly Naming[],
): Promise<ReadonlyMap<Naming, ServiceError>> {
  const refused = new Map<Naming, ServiceError>();
  const naming = sends.filter(({ payload: { to, cc = [], bcc = [] } }) =>
    [to, cc, bcc].some((entries) => entries.some(({ contactId }) => contactId !== undefined)),
  );
  if (naming.length === 0) return refused;
  const resolve = await contactsForSends(
    trx,
    naming.map(({ organizationId, payload }) => ({
      organizationId,
      ids: kinds.flatMap(
        (kind) => payload[kind]?.flatMap(({ contactId }) => contactId ?? []) ?? [],
      ),
    })),
  );
  for (const send of naming) {
    const payload = { ...send.payload };
    for (const kind of kinds) {
      const entries = payload[kind]?.map((entry, index) => {
        if (entry.contactId === undefined) return entry;
        const found = resolve(send.organizationId, entry.contactId, `${kind}.${index}.contactId`);
        if (!('error' in found))
          return { ...entry, email: found.email, name: entry.name ?? found.name };
        if (!refused.has(send)) refused.set(send, found.error);
        return entry;
      });
      if (entries) payload[kind] = entries;
    }
    send.payload = payload;
    send.addresses = kinds.flatMap(
      (kind) => payload[kind]?.flatMap(({ email }) => email ?? []) ?? [],
    );
  }
  return refused;
}
