// Mailboxes, as far as delivery needs them: which addresses are ours, and whose. Their
// routes, pausing, threads and further addresses come with the mailbox area.

import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { domains, findSendingDomain } from '../domains/queries.ts';
import { ConflictError, ValidationError } from '../errors.ts';
import { record, told } from '../events/record.ts';
import { foldAddress, parseAddress } from '../net/address.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Db } from '../store/db.ts';
import { mailboxCreated } from './events.ts';
import * as queries from './queries.ts';
import type { Mailbox } from './schema.ts';

export interface NewMailbox {
  slug: string;
  displayName: string | null;
  /** On a domain of the organization. */
  address: string;
}

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/**
 * Stores a mailbox inside a transaction; `isHosted` says that its domain is the service's own.
 * @throws ValidationError (slug, address, a domain that is not the organization's), ConflictError.
 */
export async function storeMailbox(
  app: App,
  trx: Db,
  organizationId: string,
  { slug, displayName, address }: NewMailbox,
  { isHosted = false } = {},
): Promise<queries.MailboxRow> {
  const parsed = parseAddress(address);
  if (!slugPattern.test(slug)) throw ValidationError.of('slug', 'is not a slug');
  if (!parsed) throw ValidationError.of('address', 'is not a valid email address');
  const domain = await findSendingDomain(trx, organizationId, parsed.domain);
  if (!domain) {
    throw ValidationError.of('address', `${parsed.domain} is not a domain of this organization`);
  }
  const now = app.clock.now();
  const folded = foldAddress(parsed.email);
  const mailbox: queries.MailboxRow = {
    id: app.newId('mailbox'),
    organization_id: organizationId,
    slug,
    display_name: displayName,
    status: 'active',
    primary_address: folded,
    created_at: now,
    updated_at: now,
  };
  if (!(await queries.insertMailbox(trx, mailbox))) {
    throw new ConflictError('mailbox', `A mailbox with the slug ${slug} exists`);
  }
  const isFree = await queries.insertMailboxAddress(trx, {
    id: app.newId('mailboxAddress'),
    mailbox_id: mailbox.id,
    address: folded,
    source: isHosted ? 'serviceHosted' : 'customDomain',
    domain_id: domain.id,
    display_name: displayName,
    created_at: now,
  });
  if (!isFree) throw new ConflictError('mailbox', `${folded} belongs to a mailbox already`);
  await domains.update(trx, organizationId, domain.id, { receives_mail: 1 });
  return mailbox;
}

/** The object of the API. */
function toMailbox(row: queries.MailboxRow): Mailbox {
  return {
    id: row.id,
    organizationId: row.organization_id,
    slug: row.slug,
    displayName: row.display_name,
    status: row.status,
    primaryAddress: row.primary_address,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Makes a mailbox on a domain of the organization. @throws ValidationError, ConflictError. */
export function createMailbox(
  app: App,
  caller: Caller,
  mailbox: NewMailbox,
): Promise<queries.MailboxRow> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const row = await storeMailbox(app, trx, organizationId, mailbox);
    const details = { slug: row.slug, address: row.primary_address };
    const event = told(mailboxCreated, toMailbox(row));
    const change = { subject: row.id, action: 'mailbox.created', details, event } as const;
    await record(app, trx, caller, change);
    return row;
  });
}

/** The mailbox that takes mail for an address, compared case-folded; paused ones included. */
export function findMailboxByAddress(
  db: Db,
  address: string,
): Promise<queries.MailboxRow | undefined> {
  return queries.findMailbox(db, foldAddress(address));
}

/** Whether a mailbox has the address. */
export async function isLocalAddress(db: Db, address: string): Promise<boolean> {
  return (await findMailboxByAddress(db, address)) !== undefined;
}
