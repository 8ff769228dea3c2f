// The header fields by which mail programs offer to unsubscribe (RFC 2369, RFC 8058), of one copy of a
// message.
import type { App } from '../../core/app.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import type { MessageRow } from '../messages/queries.ts';
import { linkToken, mailToken } from './tokens.ts';

type LeavableDelivery = Pick<DeliveryRow, 'id' | 'email' | 'unsubscribe_group_id'>;

/**
 * Returns the fields, none for mail without a group. The link begins with `linkBase`. `host` is the
 * return-path host; without it the fields offer no mail address.
 */
export function leaveFields(
  app: App,
  message: Pick<MessageRow, 'id' | 'organization_id'>,
  { id, email: address, unsubscribe_group_id: groupId }: LeavableDelivery,
  linkBase: string,
  host: string | undefined,
): [name: string, value: string][] {
  if (groupId === null) return [];
  const { id: messageId, organization_id: organizationId } = message;
  const token = linkToken(app, { organizationId, groupId, messageId, address });
  const ways = [`<${linkBase}/u/${token}>`];
  if (host !== undefined) ways.push(`<mailto:${mailToken(app, id)}@${host}>`);
  return [
    ['List-Unsubscribe', ways.join(', ')],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}
