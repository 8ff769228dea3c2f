// Reads and locks rows of mailboxes, and converts them to the form of the API.
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import * as queries from './queries.ts';
import type { Mailbox } from './schema.ts';

/** Returns the mailbox in the form of the API. */
export function toMailbox(
  row: queries.MailboxRow,
  addresses: readonly queries.MailboxAddressRow[],
): Mailbox {
  const ownFrom = { address: row.primary_address, displayName: row.display_name };
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    slug: row.slug,
    displayName: row.display_name,
    status: row.status,
    primaryAddress: row.primary_address,
    createdAt: isoTime(row.created_at),
    description: row.description,
    metadata: JSON.parse(row.metadata),
    addresses: addresses.map(({ id, address, source, domain_id, display_name }) => ({
      id,
      address,
      source,
      domainId: domain_id,
      displayName: display_name,
    })),
    defaultFrom:
      row.default_from === null
        ? ownFrom
        : { address: row.default_from, displayName: row.default_from_name },
    filters: JSON.parse(row.filters),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Returns whether the row is a mailbox of the organization and not deleted. */
export function isMailboxOf(
  organizationId: string,
  row: queries.MailboxRow | undefined,
): row is queries.MailboxRow {
  return row?.organization_id === organizationId && row.status !== 'deleted';
}

/** Returns the row of a mailbox that is not deleted. @throws ResourceNotFoundError. */
export async function getMailboxRow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<queries.MailboxRow> {
  const row = await queries.mailboxes.get(db, organizationId, id);
  if (!isMailboxOf(organizationId, row)) throw new ResourceNotFoundError('mailbox', id);
  return row;
}

/** Reads the addresses of a row, and returns the mailbox in the form of the API. */
export async function present(db: Db, row: queries.MailboxRow): Promise<Mailbox> {
  return toMailbox(row, await queries.selectAddresses(db, [row.id]));
}

/** Locks the row until the end of the transaction. @throws ResourceNotFoundError. */
export async function lockMailbox(
  trx: Db,
  organizationId: string,
  id: string,
): Promise<queries.MailboxRow> {
  await getMailboxRow(trx, organizationId, id);
  const row = await queries.mailboxes.update(trx, organizationId, id, {
    organization_id: organizationId,
  });
  if (row.status === 'deleted') throw new ResourceNotFoundError('mailbox', id);
  return row;
}
