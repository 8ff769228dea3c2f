// Finds the addressee of an address at RCPT, so that foreign mail is refused before the data
// arrives. Nothing is relayed: without an addressee here an address is refused.

import type { App } from '../../core/app.ts';
import { returnPathOf } from '../../identity/domains/dns-records.ts';
import { findOwner, standingOf } from '../../identity/domains/owners.ts';
import { selectReturnPathRegistrations } from '../../identity/domains/queries.ts';
import { findFirstMailbox } from '../../identity/mailboxes/queries.ts';
import { type Receivers, receiversOf } from '../../identity/mailboxes/receivers.ts';
import { findDelivery } from '../../outbound/deliveries/queries.ts';
import {
  isReportable,
  type NamedTransaction,
  readReturnPath,
} from '../../outbound/queue/attempting/return-path.ts';
import type { ReportKind } from '../../outbound/reports/queries.ts';
import { findLeaver } from '../../outbound/unsubscribe-links/find-leaver.ts';
import { type Leaver, readMailToken } from '../../outbound/unsubscribe-links/tokens.ts';
import { type MailAddress, parseAddress } from '../../platform/net/address.ts';
import { type InboundRefusal, refused } from './refusal.ts';

/** A mailbox, with the address of the mail. */
export interface MailboxAddressee {
  kind: 'mailbox';
  mailboxId: string;
  organizationId: string;
  /** Address in the form of src/platform/net/address.ts. */
  address: string;
}

/** Address for reports on our sends and domains. */
export interface ReportAddressee {
  kind: 'report';
  report: ReportKind;
  organizationId: string;
  /** The send named by the return path of a bounce; null for a report of a different kind. */
  named: NamedTransaction | null;
  address: string;
}

/** Address that unsubscribes the author of the mail from a group. */
export interface LeavingAddressee {
  kind: 'leaving';
  leaver: Leaver;
  address: string;
}

export type Addressee = MailboxAddressee | ReportAddressee | LeavingAddressee;

/** Report addresses at a return-path host of ours, by local part. */
const reportLocalParts: ReadonlyMap<string, ReportKind> = new Map([
  ['fbl', 'complaint'],
  ['dmarc', 'dmarc'],
]);

/** Adds the domain to `postmaster`, which may come without a domain (RFC 5321 4.1.1.3). */
function withDomain(address: string, hostname: string): string {
  return address.toLowerCase() === 'postmaster' ? `postmaster@${hostname}` : address;
}

/** Resolves an address of RCPT TO, without brackets, to an addressee or a refusal. */
export async function resolveAddressee(
  app: App,
  address: string,
): Promise<Addressee | InboundRefusal> {
  const parsed = parseAddress(withDomain(address, app.config.delivery.hostname));
  if (!parsed) return refused(553, '5.1.3', 'The address is not a valid email address');
  const { own, catchAll, domain } = await findOwn(app, parsed);
  if (domain.state === 'disputed') return disputed();
  if (!own) {
    const ours = (await resolveReport(app, parsed)) ?? (await resolveLeaving(app, parsed));
    if (ours) return ours;
  }
  const mailbox = own ?? (await unlessKept(app, parsed, catchAll));
  if (!mailbox) return refused(550, '5.1.1', 'No mailbox here has this address');
  if (mailbox.status === 'paused') {
    return refused(450, '4.2.1', 'This mailbox accepts no mail at the moment');
  }
  return {
    kind: 'mailbox',
    mailboxId: mailbox.id,
    organizationId: mailbox.organization_id,
    address: parsed.email,
  };
}

/** Defers mail for a domain while the owner is undecided (src/identity/domains/owners.ts). */
function disputed(): InboundRefusal {
  return refused(450, '4.2.1', 'This domain accepts no mail at the moment');
}

/** Local parts that are reserved at a return-path host, even if the domain has a catch-all. */
const keptLocalPart = /^(?:(?:bounce|unsub)\+.*|fbl|dmarc)$/i;

/**
 * Returns the catch-all; undefined for a reserved local part at a return-path host, so that an
 * invalid token has no addressee.
 */
async function unlessKept<Found>(
  app: App,
  { localPart, domain }: MailAddress,
  catchAll: Found | undefined,
): Promise<Found | undefined> {
  if (catchAll === undefined || !keptLocalPart.test(localPart)) return catchAll;
  const registrations = await selectReturnPathRegistrations(app.store.db, domain);
  return registrations.length > 0 ? undefined : catchAll;
}

/**
 * Local parts that exist at each of our domains. RFC 5321 4.5.1 requires `postmaster`; RFC 2142
 * section 4 and the providers of feedback loops require `abuse`.
 */
const rolesOfDomains = ['postmaster', 'abuse'];

/**
 * Finds the mailbox of an address. `postmaster@` and `abuse@` of our domains are always accepted:
 * without an active mailbox or catch-all, the first mailbox of the domain's owner gets the mail,
 * else the first mailbox of the organization that runs the service.
 */
async function findOwn(app: App, { email, localPart, domain }: MailAddress): Promise<Receivers> {
  const { db } = app.store;
  const found = await receiversOf(app)(email);
  const { own } = found;
  if (own?.status === 'active' || !rolesOfDomains.includes(localPart.toLowerCase())) return found;
  if (!own && found.catchAll?.status === 'active') return found;
  const owner = found.domain.state === 'owned' ? found.domain.owner.organization_id : null;
  if (owner === null && domain !== app.config.delivery.hostname) return found;
  const ofOwner = owner === null ? undefined : await findFirstMailbox(db, owner);
  const operator = await findOwner(db, app.config.mailboxes.hostedDomain);
  const first = ofOwner ?? (operator && (await findFirstMailbox(db, operator.organization_id)));
  return first ? { ...found, own: first } : found;
}

/**
 * Tells whether the organization sends with this return-path host: the host of a domain that the
 * organization has registered, or the host of the hosted mailboxes, which all organizations share.
 */
async function isReturnPathOf(app: App, host: string, organizationId: string): Promise<boolean> {
  if (host === returnPathOf(app.config.mailboxes.hostedDomain)) return true;
  const registrations = await selectReturnPathRegistrations(app.store.db, host);
  return registrations.some((one) => one.organization_id === organizationId);
}

/**
 * Resolves an unsubscribe address that this service made, even after the delivery is deleted. Null
 * for a different address.
 */
async function resolveLeaving(
  app: App,
  { email, localPart, domain }: MailAddress,
): Promise<LeavingAddressee | null> {
  const deliveryId = readMailToken(app, localPart);
  const leaver = deliveryId === null ? null : await findLeaver(app, deliveryId);
  if (!leaver) return null;
  return (await isReturnPathOf(app, domain, leaver.organizationId))
    ? { kind: 'leaving', leaver, address: email }
    : null;
}

/**
 * Resolves a valid return path of ours, or a report address at a host of ours. Null for a different
 * address.
 */
async function resolveReport(
  app: App,
  { email, localPart, domain }: MailAddress,
): Promise<ReportAddressee | InboundRefusal | null> {
  const { db } = app.store;
  const named = readReturnPath(app, email);
  const report = reportLocalParts.get(localPart.toLowerCase());
  if (named === null && report === undefined) return null;
  if (named === null) {
    const owner = standingOf(await selectReturnPathRegistrations(db, domain));
    if (owner.state === 'disputed') return disputed();
    if (owner.state === 'unowned' || report === undefined) return null;
    const { organization_id: organizationId } = owner.owner;
    return { kind: 'report', report, organizationId, named, address: email };
  }
  const delivery = await findDelivery(db, named.deliveryId);
  if (!delivery || !isReportable(delivery, app.clock.now())) return null;
  const { organization_id: organizationId } = delivery;
  if (!(await isReturnPathOf(app, domain, organizationId))) return null;
  return { kind: 'report', report: 'bounce', organizationId, named, address: email };
}
