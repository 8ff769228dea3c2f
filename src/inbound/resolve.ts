// Where mail for an address goes: decided at RCPT, so that what is not ours is refused
// before a byte of it arrives. There is no way to relay: an address is an addressee here or nothing.

import type { App } from '../app.ts';
import { findDelivery } from '../deliveries/queries.ts';
import { returnPathOf } from '../domains/dns-records.ts';
import { findProvenOwner, findReturnPathOwners } from '../domains/queries.ts';
import { findReceiversOf, type Receivers } from '../mailboxes/mailboxes.ts';
import { findFirstMailbox } from '../mailboxes/queries.ts';
import { type MailAddress, parseAddress } from '../net/address.ts';
import { isReportable, type NamedTransaction, readReturnPath } from '../queue/return-path.ts';
import type { ReportKind } from '../reports/queries.ts';
import { perApp } from '../runtime/per-app.ts';
import { groupReads } from '../store/group.ts';
import { findLeaver } from '../unsubscribing/find-leaver.ts';
import { type Leaver, readMailToken } from '../unsubscribing/tokens.ts';
import { type InboundRefusal, refused } from './refusal.ts';

/** A mailbox and the address it was reached by. */
export interface MailboxAddressee {
  kind: 'mailbox';
  mailboxId: string;
  organizationId: string;
  /** In the form of src/net/address.ts. */
  address: string;
}

/** Where reports on our own sends and domains come back to. */
export interface ReportAddressee {
  kind: 'report';
  report: ReportKind;
  organizationId: string;
  /** What the return path names; null for all but bounces. */
  named: NamedTransaction | null;
  address: string;
}

/** Whoever writes there leaves an unsubscribe group. */
export interface LeavingAddressee {
  kind: 'leaving';
  leaver: Leaver;
  address: string;
}

export type Addressee = MailboxAddressee | ReportAddressee | LeavingAddressee;

/** What comes to these at a return-path host of ours. */
const reportLocalParts: ReadonlyMap<string, ReportKind> = new Map([
  ['fbl', 'complaint'],
  ['dmarc', 'dmarc'],
]);

/** RFC 5321 4.1.1.3 lets a client leave out the domain of this one. */
function withDomain(address: string, hostname: string): string {
  return address.toLowerCase() === 'postmaster' ? `postmaster@${hostname}` : address;
}

/** What becomes of mail for an address, as it stood in RCPT TO without brackets. */
export async function resolveAddressee(
  app: App,
  address: string,
): Promise<Addressee | InboundRefusal> {
  const parsed = parseAddress(withDomain(address, app.config.delivery.hostname));
  if (!parsed) return refused(553, '5.1.3', 'This is not an address that mail can be sent to');
  const { own, catchAll } = await findOwn(app, parsed);
  if (!own) {
    const ours = (await resolveReport(app, parsed)) ?? (await resolveLeaving(app, parsed));
    if (ours) return ours;
  }
  const mailbox = own ?? (await unlessKept(app, parsed, catchAll));
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

const mostTogether = 64;

/** Local parts that mean something at a return-path host, whoever asks for its mail. */
const keptLocalPart = /^(?:(?:bounce|unsub)\+.*|fbl|dmarc)$/i;

/** The catch-all, but not for what is ours at a return-path host: there a token that is none is nobody's. */
async function unlessKept<Found>(
  app: App,
  { localPart, domain }: MailAddress,
  catchAll: Found | undefined,
): Promise<Found | undefined> {
  if (catchAll === undefined || !keptLocalPart.test(localPart)) return catchAll;
  const owners = await findReturnPathOwners(app.store.db, domain);
  return owners.length > 0 ? undefined : catchAll;
}

/** Clients that ask at once share a look-up. */
const receiversOf = perApp(({ store }: App) =>
  groupReads(mostTogether, (emails: readonly string[]) => findReceiversOf(store.db, emails)),
);

/**
 * Who takes mail for an address. `postmaster@` of a domain of ours is always taken (RFC 5321 4.5.1): without
 * a mailbox of that name that is open, by the first one of who has the domain, or of this service.
 */
async function findOwn(app: App, { email, localPart, domain }: MailAddress): Promise<Receivers> {
  const { db } = app.store;
  const found = await receiversOf(app)(email);
  const { own } = found;
  if (own?.status === 'active' || localPart.toLowerCase() !== 'postmaster') return found;
  if (!own && found.catchAll?.status === 'active') return found;
  const owner = await findProvenOwner(db, returnPathOf(domain));
  const isOurs = owner !== undefined || domain === app.config.delivery.hostname;
  if (!isOurs) return found;
  const ofOwner = owner === undefined ? undefined : await findFirstMailbox(db, owner);
  const first = ofOwner ?? (await findFirstMailbox(db, null));
  return first ? { ...found, own: { ...first, matched: email } } : found;
}

/** Mail from the hosted domain has its return path, whoever sent it. */
function isHostedReturn(app: App, domain: string): boolean {
  return domain === returnPathOf(app.config.mailboxes.hostedDomain);
}

/** An address to leave by that we made, also once its delivery is deleted; null for all else. */
async function resolveLeaving(
  app: App,
  { email, localPart, domain }: MailAddress,
): Promise<LeavingAddressee | null> {
  const deliveryId = readMailToken(app, localPart);
  const leaver = deliveryId === null ? null : await findLeaver(app, deliveryId);
  if (!leaver) return null;
  const owners = await findReturnPathOwners(app.store.db, domain);
  return isHostedReturn(app, domain) || owners.includes(leaver.organizationId)
    ? { kind: 'leaving', leaver, address: email }
    : null;
}

/** A return path that we made and that has not ended, or an address for reports at a host of ours; null for all else. */
async function resolveReport(
  app: App,
  { email, localPart, domain }: MailAddress,
): Promise<ReportAddressee | null> {
  const { db } = app.store;
  const named = readReturnPath(app, email);
  const report = reportLocalParts.get(localPart.toLowerCase());
  if (named === null && report === undefined) return null;
  const owners = await findReturnPathOwners(db, domain);
  if (named === null) {
    const [organizationId] = owners;
    if (organizationId === undefined || report === undefined) return null;
    return { kind: 'report', report, organizationId, named, address: email };
  }
  const delivery = await findDelivery(db, named.deliveryId);
  if (!delivery || !isReportable(delivery, app.clock.now())) return null;
  if (!isHostedReturn(app, domain) && !owners.includes(delivery.organization_id)) return null;
  const { organization_id: organizationId } = delivery;
  return { kind: 'report', report: 'bounce', organizationId, named, address: email };
}
