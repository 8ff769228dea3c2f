// Tells by which addresses mail reaches a mailbox, so that no answer goes to the mailbox that
// writes it.
import type { App } from '../../core/app.ts';
import { receiversOf } from '../../identity/mailboxes/receivers.ts';
import type { InboundEnvelope } from '../../outbound/messages/contents/projection.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { Found } from './found.ts';
import { ownAddressOf } from './senders.ts';

/**
 * Returns the test for addresses of the mailbox: own addresses, addresses of a domain that has it
 * as catch-all, and addresses by which this message came.
 */
export async function ownAddressTest(
  app: App,
  { mailbox, addresses, message }: Pick<Found, 'mailbox' | 'addresses' | 'message'>,
  candidates: readonly string[],
): Promise<(address: string) => boolean> {
  const isNamed = (email: string) => ownAddressOf(addresses, email) !== undefined;
  const open = [...new Set(candidates)].filter((email) => !isNamed(email));
  const receivers = await Promise.all(open.map((email) => receiversOf(app)(email)));
  const reached = open.filter((_, index) => {
    const found = receivers[index];
    return (found?.own ?? found?.catchAll)?.id === mailbox.id;
  });
  const envelope =
    message.direction === 'inbound' ? fromJson<InboundEnvelope>(message.inbound_envelope) : null;
  const own = new Set([...reached, ...(envelope?.recipients ?? [])].map(foldAddress));
  return (email) => isNamed(email) || own.has(foldAddress(email));
}
