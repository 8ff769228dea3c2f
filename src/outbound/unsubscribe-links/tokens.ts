// Tokens of the two ways to unsubscribe. A link contains all data of the request in encrypted form,
// so that it works after the message is deleted. A mail address has only 64 octets before the `@`
// (RFC 5321 4.5.3.1.1), so it contains the id of the delivery.
import type { App } from '../../core/app.ts';
import { exactly } from '../../core/root-keys/token-text.ts';
import { timeOfId } from '../../platform/runtime/ids.ts';

const purpose = 'unsubscribe';
const prefix = 'unsub+';
const deliveryForm = /^dlv_[0-9a-hjkmnp-tv-z]{24}$/;

/** The recipient, group and message of a token. */
export interface Leaver {
  organizationId: string;
  groupId: string;
  /** In the normal form of src/platform/net/address.ts. */
  address: string;
  /** Null if the delivery was deleted. */
  messageId: string | null;
}

export function linkToken(app: App, leaver: Leaver & { messageId: string }): string {
  const { organizationId, groupId, messageId, address } = leaver;
  const payload = [organizationId, groupId, messageId, address].join(' ');
  return app.secrets.seal(purpose, payload, timeOfId(messageId));
}

/** Reads the token of a link. Returns null for a foreign or cut token. */
export function readLinkToken(app: App, token: string): Leaver | null {
  const timeOf = (payload: string) => exactly(timeOfId(payload.split(' ')[2] ?? ''));
  const parts = app.secrets.unseal(purpose, token, timeOf)?.split(' ') ?? [];
  const [organizationId, groupId, messageId, ...address] = parts;
  if (!organizationId || !groupId || !messageId || address.length === 0) return null;
  return { organizationId, groupId, messageId, address: address.join(' ') };
}

/** Returns the local part of the unsubscribe address of a delivery. */
export function mailToken(app: App, deliveryId: string): string {
  return prefix + app.secrets.token(purpose, deliveryId, timeOfId(deliveryId));
}

/** Returns the delivery id that a local part contains; null for a foreign local part. */
export function readMailToken(app: App, localPart: string): string | null {
  const folded = localPart.toLowerCase();
  if (!folded.startsWith(prefix)) return null;
  const timeOf = (payload: string) => exactly(timeOfId(payload));
  const payload = app.secrets.verifyToken(purpose, folded.slice(prefix.length), { timeOf });
  return payload !== null && deliveryForm.test(payload) ? payload : null;
}
