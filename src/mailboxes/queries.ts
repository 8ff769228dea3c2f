// All SQL on `mailboxes` and `mailbox_addresses`. Rows only, no decisions.
import { type Db, idList, isOneOf, statement, tables } from '../store/db.ts';

export interface MailboxRow {
  id: string;
  organization_id: string;
  slug: string;
  display_name: string | null;
  status: 'active' | 'paused' | 'deleted';
  primary_address: string;
  created_at: number;
  updated_at: number;
}

export interface MailboxAddressRow {
  id: string;
  mailbox_id: string;
  /** Folded: two mailboxes never differ in case alone. */
  address: string;
  source: 'serviceHosted' | 'customDomain';
  domain_id: string | null;
  display_name: string | null;
  created_at: number;
}

interface MailboxTables {
  mailboxes: MailboxRow;
  mailbox_addresses: MailboxAddressRow;
}

const byAddress = statement<MailboxTables, { address: string }, MailboxRow>((db, parameter) =>
  db
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .selectAll('mailboxes')
    .where('mailbox_addresses.address', '=', parameter('address'))
    .where('mailboxes.status', '!=', 'deleted'),
);

/** Hot: asked for every recipient. `address` folded. */
export async function findMailbox(db: Db, address: string): Promise<MailboxRow | undefined> {
  return (await byAddress(db, { address }))[0];
}

/** The oldest mailbox that takes mail, of an organization or (null) of all. */
export function findFirstMailbox(
  db: Db,
  organizationId: string | null,
): Promise<MailboxRow | undefined> {
  const open = tables<MailboxTables>(db)
    .selectFrom('mailboxes')
    .selectAll()
    .where('status', '=', 'active')
    .orderBy('id')
    .limit(1);
  const found = organizationId === null ? open : open.where('organization_id', '=', organizationId);
  return found.executeTakeFirst();
}

type Owner = Pick<MailboxAddressRow, 'address'> & Pick<MailboxRow, 'organization_id'>;

const owners = statement<MailboxTables, { addresses: unknown }, Owner>((db, parameter) =>
  db
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .select(['mailbox_addresses.address', 'mailboxes.organization_id'])
    .where(isOneOf(db, 'mailbox_addresses.address', parameter('addresses')))
    .where('mailboxes.status', '!=', 'deleted'),
);

/** Whose mailboxes have these addresses (each folded); an address that none has is left out. */
export function findOwners(db: Db, addresses: readonly string[]): Promise<Owner[]> {
  return owners(db, { addresses: idList(db, addresses) });
}

/** False when the organization uses the slug already. */
export async function insertMailbox(db: Db, row: MailboxRow): Promise<boolean> {
  const inserted = await tables<MailboxTables>(db)
    .insertInto('mailboxes')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'slug']).doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** False when a mailbox of any organization has the address already. */
export async function insertMailboxAddress(db: Db, row: MailboxAddressRow): Promise<boolean> {
  const inserted = await tables<MailboxTables>(db)
    .insertInto('mailbox_addresses')
    .values(row)
    .onConflict((conflict) => conflict.column('address').doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}
