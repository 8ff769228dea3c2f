// The header fields by which mail programs offer to unsubscribe (RFC 2369, RFC 8058), of a single
// copy of a message.
import type { App } from '../../core/app.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import type { MessageRow } from '../messages/queries.ts';
import { linkToken, mailToken } from './tokens.ts';

type LeavableDelivery = Pick<DeliveryRow, 'id' | 'email' | 'unsubscribe_group_id'>;

/**
 * Returns the unsubscribe link of a copy, or null for mail without a group. The link begins with
 * `linkBase`.
 */
export function leaveUrl(
  app: App,
  { id: messageId, organization_id: organizationId }: Pick<MessageRow, 'id' | 'organization_id'>,
  { email: address, unsubscribe_group_id: groupId }: LeavableDelivery,
  linkBase: string,
): string | null {
  if (groupId === null) return null;
  return `${linkBase}/u/${linkToken(app, { organizationId, groupId, messageId, address })}`;
}

/**
 * Returns the fields with the link of `leaveUrl`. `host` is the return-path host; without it the
 * fields offer no mail address.
 */
export function leaveFields(
  app: App,
  url: string,
  { id }: LeavableDelivery,
  host: string | undefined,
): [name: string, value: string][] {
  const ways = [`<${url}>`];
  if (host !== undefined) ways.push(`<mailto:${mailToken(app, id)}@${host}>`);
  return [
    ['List-Unsubscribe', ways.join(', ')],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}
