// Which addresses a mailbox may have, and what follows for the domain they are on. On a verified domain
// of the organization, or on the one that the service hosts for all; each once over all organizations.
import type { App } from '../app.ts';
import { returnPathOf } from '../domains/dns-records.ts';
import {
  findHostedDomain,
  findSendingDomain,
  lockDomain,
  setReceiving,
} from '../domains/queries.ts';
import { ConflictError, ValidationError } from '../errors.ts';
import { foldAddress, type MailAddress, parseAddress } from '../net/address.ts';
import type { FindHostedSender } from '../senders/resolve.ts';
import type { Db } from '../store/db.ts';
import * as queries from './queries.ts';

/** On the hosted domain these speak for the service: its own organization alone has them (RFC 2142). */
const reservedLocalParts = new Set([
  ...['abuse', 'admin', 'administrator', 'dmarc', 'fbl', 'hostmaster', 'mailer-daemon'],
  ...['noc', 'postmaster', 'root', 'security', 'webmaster'],
]);

const mostAddresses = 100;

/** A new address of a mailbox. */
interface NewAddress {
  address: string;
  displayName: string | null;
  /** What a refusal names. */
  field: string;
}

type Place = Pick<queries.MailboxAddressRow, 'source' | 'domain_id'>;

async function hostedPlace(
  trx: Db,
  organizationId: string,
  { localPart, domain }: MailAddress,
  field: string,
): Promise<Place> {
  const hosted = await findHostedDomain(trx, domain, returnPathOf(domain));
  if (!hosted) {
    const text = `The operator has not verified ${domain}, which mailboxes.hostedDomain names`;
    throw new ConflictError('domain', text);
  }
  const isOwner = hosted.organization_id === organizationId;
  if (!isOwner && reservedLocalParts.has(localPart.toLowerCase())) {
    throw ValidationError.of(field, `${localPart}@${domain} is kept for who runs the service`);
  }
  return { source: 'serviceHosted', domain_id: hosted.id };
}

async function ownPlace(
  trx: Db,
  organizationId: string,
  { domain }: MailAddress,
  field: string,
): Promise<Place> {
  const own = await findSendingDomain(trx, organizationId, domain);
  if (!own) throw ValidationError.of(field, `${domain} is not a domain of this organization`);
  if (own.status !== 'verified') {
    const remedy = `publish its records (svc domains dns ${domain}), then verify it`;
    throw new ConflictError('domain', `${domain} is not verified (${own.status}): ${remedy}`);
  }
  return { source: 'customDomain', domain_id: own.id };
}

/** Gives a mailbox an address. @throws ValidationError on `field`, ConflictError (taken; domain). */
export async function storeAddress(
  app: App,
  trx: Db,
  { id, organization_id: organizationId }: Pick<queries.MailboxRow, 'id' | 'organization_id'>,
  { address, displayName, field }: NewAddress,
): Promise<queries.MailboxAddressRow> {
  const parsed = parseAddress(address);
  if (!parsed) throw ValidationError.of(field, 'is not a valid email address');
  if (parsed.localPart.includes('+')) {
    throw ValidationError.of(
      field,
      'must not have a +: what follows one reaches the mailbox anyway',
    );
  }
  const isHosted = parsed.domain === app.config.mailboxes.hostedDomain;
  const place = isHosted
    ? await hostedPlace(trx, organizationId, parsed, field)
    : await ownPlace(trx, organizationId, parsed, field);
  if ((await queries.selectAddresses(trx, [id])).length >= mostAddresses) {
    throw new ConflictError('mailbox', `A mailbox has at most ${mostAddresses} addresses`);
  }
  const row: queries.MailboxAddressRow = {
    id: app.newId('mailboxAddress'),
    mailbox_id: id,
    address: foldAddress(parsed.email),
    ...place,
    display_name: displayName,
    created_at: app.clock.now(),
  };
  if (!(await queries.insertMailboxAddress(trx, row))) {
    throw new ConflictError('mailbox', `${row.address} belongs to a mailbox already`);
  }
  await keepReceiving(trx, [place.domain_id]);
  return row;
}

/** Whether an address (folded) on the hosted domain may send for the organization: its mailbox says so. */
export const findHostedSender: FindHostedSender = async (db, organizationId, address) => {
  const found = await queries.findHosted(db, organizationId, address);
  return found && { domainId: found.domain_id, isPaused: found.status === 'paused' };
};

/** After addresses or catch-alls came or went: has these domains say whether mail comes for them. */
export async function keepReceiving(trx: Db, domainIds: readonly (string | null)[]): Promise<void> {
  const ids = new Set(domainIds.filter((id) => id !== null));
  for (const id of [...ids].sort()) {
    // Two changes of one domain come one after the other: the second sees what the first did.
    await lockDomain(trx, id);
    const catchAllMailboxId = await queries.findCatchAll(trx, id);
    const receivesMail = catchAllMailboxId !== null || (await queries.hasAddresses(trx, id));
    await setReceiving(trx, id, { receivesMail, catchAllMailboxId });
  }
}
