// What the two ways to leave name. A link holds all that leaving takes, sealed, so that it works when its
// message is gone; a mail address has 64 octets before its `@` (RFC 5321 4.5.3.1.1) and names the delivery.
import type { App } from '../app.ts';

const purpose = 'unsubscribe';
const prefix = 'unsub+';
const deliveryForm = /^dlv_[0-9a-hjkmnp-tv-z]{24}$/;

/** Who may leave what, and by which message. */
export interface Leaver {
  organizationId: string;
  groupId: string;
  /** In the normal form of src/net/address.ts. */
  address: string;
  /** Null where its delivery is deleted. */
  messageId: string | null;
}

export function linkToken(app: App, leaver: Leaver & { messageId: string }): string {
  const { organizationId, groupId, messageId, address } = leaver;
  return app.secrets.seal(purpose, [organizationId, groupId, messageId, address].join(' '));
}

/** What a link names; null for one that is not ours, or was cut. */
export function readLinkToken(app: App, token: string): Leaver | null {
  const parts = app.secrets.unseal(purpose, token)?.split(' ') ?? [];
  const [organizationId, groupId, messageId, ...address] = parts;
  if (!organizationId || !groupId || !messageId || address.length === 0) return null;
  return { organizationId, groupId, messageId, address: address.join(' ') };
}

/** The part of the address before its `@`. */
export function mailToken(app: App, deliveryId: string): string {
  return prefix + app.secrets.token(purpose, deliveryId);
}

/** The delivery that it names; null for any other local part. */
export function readMailToken(app: App, localPart: string): string | null {
  const folded = localPart.toLowerCase();
  if (!folded.startsWith(prefix)) return null;
  const payload = app.secrets.verifyToken(purpose, folded.slice(prefix.length));
  return payload !== null && deliveryForm.test(payload) ? payload : null;
}
