// Where mail for an address goes (contract 8): decided at RCPT, so that what is not ours is refused
// before a byte of it arrives. There is no way to relay: an address is a destination here or nothing.
import { parseAddress } from '../address.ts';
import type { App } from '../app.ts';
import { findMailboxByAddress } from '../mailboxes/mailboxes.ts';
import { type InboundRefusal, refused } from './refusal.ts';

/** A mailbox and the address it was reached by; catch-alls and return paths become further kinds. */
export interface Destination {
  kind: 'mailbox';
  mailboxId: string;
  organizationId: string;
  /** In the form of src/address.ts. */
  address: string;
}

/** RFC 5321 4.1.1.3 lets a client leave out the domain of this one. */
function withDomain(address: string, hostname: string): string {
  return address.toLowerCase() === 'postmaster' ? `postmaster@${hostname}` : address;
}

/** What becomes of mail for an address, as it stood in RCPT TO without brackets. */
export async function resolveDestination(
  app: App,
  address: string,
): Promise<Destination | InboundRefusal> {
  const parsed = parseAddress(withDomain(address, app.config.delivery.hostname));
  if (!parsed) return refused(553, '5.1.3', 'This is not an address that mail can be sent to');
  const mailbox = await findMailboxByAddress(app.store.db, parsed.email);
  if (!mailbox) return refused(550, '5.1.1', 'No mailbox here has this address');
  if (mailbox.status === 'paused') {
    return refused(450, '4.2.1', 'This mailbox takes no mail at the moment');
  }
  return {
    kind: 'mailbox',
    mailboxId: mailbox.id,
    organizationId: mailbox.organization_id,
    address: parsed.email,
  };
}
