// What a payload names and does not exist: asked before whether it may be sent. Of what
// there is none yet, every name is one of nothing. Also reads the message that a send replies to.
import type { SendCheck } from '../api/send-check.ts';
import { ResourceNotFoundError } from '../errors.ts';
import { findGroupOwners } from '../unsubscribe-groups/queries.ts';
import { findMessageRows, type MessageRow } from './queries.ts';
import type { SendPayload } from './schema.ts';

interface Naming {
  organizationId: string;
  payload: SendPayload;
  /** What it replies to; null until it is found, and where there is none. */
  parent: MessageRow | null;
}

export const namedCheck: SendCheck<'accepting', Naming> = {
  name: 'named',
  asked: 'accepting',
  async prepare(_app, trx, sends) {
    const ids = sends.flatMap(({ payload }) => payload.email.inReplyToMessageId ?? []);
    const rows = ids.length > 0 ? await findMessageRows(trx, ids) : [];
    const parents = new Map(rows.map((row) => [row.id, row]));
    for (const send of sends) {
      const parent = parents.get(send.payload.email.inReplyToMessageId ?? '');
      if (parent?.organization_id === send.organizationId) send.parent = parent;
    }
    const groupIds = sends.flatMap(({ payload }) => payload.email.unsubscribeGroupId ?? []);
    const owners = groupIds.length > 0 ? await findGroupOwners(trx, groupIds) : [];
    const ownerOf = new Map(owners.map(({ id, organization_id }) => [id, organization_id]));
    return (send) => missingResource(send) ?? missingGroup(send, ownerOf);
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

function missingResource({ payload, parent }: Naming): ResourceNotFoundError | null {
  const { to, cc = [], bcc = [], email, conversationId } = payload;
  const missing = (resource: string, id: string) => new ResourceNotFoundError(resource, id);
  const contactId = [...to, ...cc, ...bcc].find((entry) => entry.contactId)?.contactId;
  if (contactId) return missing('contact', contactId);
  if (email.templateId) return missing('template', email.templateId);
  if (email.templateSlug) return missing('template', email.templateSlug);
  if (conversationId) return missing('conversation', conversationId);
  if (email.inReplyToMessageId && !parent) return missing('message', email.inReplyToMessageId);
  return null;
}
