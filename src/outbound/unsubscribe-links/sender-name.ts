// The name of the sender on pages that recipients open from their mail.
import { findOrganization } from '../../access/organizations/queries.ts';
import { findDefaultSender } from '../../identity/senders/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { findMessageRow } from '../messages/queries.ts';
import type { Leaver } from './tokens.ts';

/**
 * Returns the sender as the recipient knows it: the From of the mail. If the mail was deleted,
 * returns the default sender or the organization's name. Never returns the name of the first
 * organization, which was not chosen by its owner.
 */
export async function senderNameOf(
  db: Db,
  { organizationId, messageId }: Pick<Leaver, 'organizationId' | 'messageId'>,
): Promise<string> {
  const message = messageId === null ? undefined : await findMessageRow(db, messageId);
  if (message) return message.from_name ?? message.from_email;
  const sender = await findDefaultSender(db, organizationId);
  const organization = await findOrganization(db, organizationId);
  const chosen = organization?.is_first === 1 ? null : organization?.name;
  return sender?.name ?? chosen ?? sender?.email ?? 'this sender';
}
