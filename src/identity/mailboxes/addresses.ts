// Rules for addresses of mailboxes, and their effect on domains. An address belongs to a verified
// domain of the organization or to the hosted domain of the service. It is unique over all
// organizations.
import type { App, Hooks } from '../../core/app.ts';
import { ConflictError, ValidationError } from '../../platform/errors.ts';
import { foldAddress, type MailAddress, parseAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { findOwner } from '../domains/owners.ts';
import { findSendingDomain, lockDomain, setReceiving } from '../domains/queries.ts';
import { findSendersElsewhere } from '../senders/queries.ts';
import type { FindHostedSender } from '../senders/resolve.ts';
import { findCatchAll } from './catch-all-queries.ts';
import * as queries from './queries.ts';

/**
 * Local parts on the hosted domain that speak for the service (RFC 2142): only the organization of
 * the service may use them.
 */
const reservedLocalParts = new Set([
  ...['abuse', 'admin', 'administrator', 'dmarc', 'fbl', 'hostmaster', 'mailer-daemon'],
  ...['noc', 'postmaster', 'root', 'security', 'webmaster'],
]);

const mostAddresses = 100;

interface NewAddress {
  address: string;
  displayName: string | null;
  /** The field that a refusal names. */
  field: string;
}

type Place = Pick<queries.MailboxAddressRow, 'source' | 'domain_id'>;

/**
 * Returns source and domain of a new address on the hosted domain. Refuses a reserved local part,
 * and an address from which another organization sends: answers to that organization would reach
 * the new mailbox.
 */
async function hostedPlace(
  trx: Db,
  organizationId: string,
  { email, localPart, domain }: MailAddress,
  field: string,
): Promise<Place> {
  const hosted = await findOwner(trx, domain);
  if (!hosted) {
    const text = `The operator has not verified ${domain}, the domain of mailboxes.hostedDomain`;
    throw new ConflictError('domain', text);
  }
  const isOwner = hosted.organization_id === organizationId;
  if (!isOwner && reservedLocalParts.has(localPart.toLowerCase())) {
    throw ValidationError.of(
      field,
      `${localPart}@${domain} is reserved for the operator of the service`,
    );
  }
  // Locks the domain, so that a new sender with this address cannot be created at the same time.
  await lockDomain(trx, hosted.id);
  const sending = await findSendersElsewhere(trx, organizationId, domain, foldAddress(email));
  if (sending.some((one) => one.isProven || one.organizationId === hosted.organization_id)) {
    throw new ConflictError('mailbox', `${email} is the address of a sender`);
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

/**
 * Gives a mailbox an address. @throws ValidationError on `field`, ConflictError (taken; domain).
 */
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
      'must not have a +: the part after it is not needed to reach the mailbox',
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
    throw new ConflictError('mailbox', `${row.address} already belongs to a mailbox`);
  }
  await keepReceiving(trx, [place.domain_id]);
  return row;
}

/**
 * Finds the mailbox of the organization with an address (folded) on the hosted domain: only that
 * organization may send from the address. Returns undefined without a mailbox.
 */
export const findHostedSender: FindHostedSender = async (db, organizationId, address) => {
  const found = await queries.findHosted(db, organizationId, address);
  return found && { domainId: found.domain_id, isPaused: found.status === 'paused' };
};

/** Returns the organization of the mailbox with the address (folded). */
export const findAddressHolder: Hooks['findAddressHolder'] = async (db, address) =>
  (await queries.findOwners(db, [address]))[0]?.organization_id;

/** Updates whether these domains receive mail, after their addresses or catch-alls changed. */
export async function keepReceiving(trx: Db, domainIds: readonly (string | null)[]): Promise<void> {
  const ids = new Set(domainIds.filter((id) => id !== null));
  for (const id of [...ids].sort()) {
    // Serializes concurrent changes of a domain, so that the second reads the result of the first.
    await lockDomain(trx, id);
    const catchAllMailboxId = await findCatchAll(trx, id);
    const receivesMail = catchAllMailboxId !== null || (await queries.hasAddresses(trx, id));
    await setReceiving(trx, id, { receivesMail, catchAllMailboxId });
  }
}
