// SQL on `mailboxes`, `mailbox_addresses` and `mailbox_namespaces`, and the look-up of receivers.
// Rows only, no decisions. The remaining SQL on `catch_alls` is in catch-all-queries.ts.
import { type RawBuilder, sql } from 'kysely';
import type { KeyConstraints } from '../../core/api/route.ts';
import { amongOf, type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { IdsEnding } from '../../platform/store/rows/ids-ending.ts';
import { registrationsNamed } from '../domains/queries.ts';

export interface MailboxRow {
  id: string;
  organization_id: string;
  namespace_id: string;
  slug: string;
  display_name: string | null;
  description: string | null;
  status: 'active' | 'paused' | 'deleted';
  primary_address: string;
  /** JSON object of texts. */
  metadata: string;
  /** JSON: `{allow, block}`, each a list of addresses and domains. */
  filters: string;
  /** From address of mail from this mailbox; null for the primary address and `display_name`. */
  default_from: string | null;
  default_from_name: string | null;
  deleted_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface MailboxAddressRow {
  id: string;
  mailbox_id: string;
  /** Folded address: addresses that differ only in case are the same address. */
  address: string;
  source: 'serviceHosted' | 'customDomain';
  domain_id: string | null;
  display_name: string | null;
  created_at: number;
}

export interface NamespaceRow {
  id: string;
  organization_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

export interface CatchAllRow {
  domain: string;
  domain_id: string;
  mailbox_id: string;
  created_at: number;
}

export interface MailboxTables {
  mailboxes: MailboxRow;
  mailbox_addresses: MailboxAddressRow;
  mailbox_namespaces: NamespaceRow;
  catch_alls: CatchAllRow;
}

const own = ownTables<MailboxTables>();

export const mailboxes = own.rowsOf('mailboxes', 'mailbox');
export const namespaces = own.rowsOf('mailbox_namespaces', 'namespace');

/**
 * Returns ids (of mailbox addresses) that end in `ending`, newest first; empty without an
 * organization.
 */
export const addressIdsEnding: IdsEnding = async (db, organizationId, ending, limit) => {
  const rows = await tables<MailboxTables>(db)
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .select('mailbox_addresses.id')
    .where('mailboxes.organization_id', '=', organizationId ?? '')
    .where('mailbox_addresses.id', 'like', `%${ending}`)
    .orderBy('mailbox_addresses.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
};

/**
 * Condition of all lists of mailboxes. The row of a deleted mailbox stays, because threads, keys
 * and actions refer to it.
 */
export const notDeleted = sql<boolean>`status <> 'deleted'`;

/** Returns `notDeleted` restricted to the mailboxes of a key with limits. */
export function notDeletedOf(
  db: Db,
  { mailboxIds, namespaceId }: Pick<KeyConstraints, 'mailboxIds' | 'namespaceId'>,
): RawBuilder<boolean> {
  const reached = mailboxIds ? amongOf(db, 'id', mailboxIds) : sql`namespace_id = ${namespaceId}`;
  return sql<boolean>`${notDeleted} and ${reached}`;
}

/** Returns the condition that the mailbox with the id in `column` matches `where`. */
export function ofMailboxThat(column: string, where: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select 1 from mailboxes where mailboxes.id = ${sql.ref(column)} and ${where})`;
}

/** Returns the mailboxes among these that are in a namespace, including deleted mailboxes. */
export async function selectInNamespace(
  db: Db,
  organizationId: string,
  namespaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tables<MailboxTables>(db)
    .selectFrom('mailboxes')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('namespace_id', '=', namespaceId)
    .where('id', ...isOneOf(db, ids))
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Row of the look-up of receivers: a mailbox, or a registration of the domain
 * (src/identity/domains/owners.ts). `matched` is the address, or the domain of a catch-all.
 */
export interface ReceiverRow {
  kind: 'mailbox' | 'registration';
  id: string;
  organization_id: string;
  status: string;
  matched: string;
  /** Domain of the address or the catch-all. */
  domain_id: string | null;
  /**
   * Time of the verification of a registration, ms since 1970; null without a verification, and for
   * a mailbox.
   */
  verified_at: number | null;
}

const noTime = sql<number | null>`cast(null as bigint)`.as('verified_at');
const isMailbox = sql<'mailbox' | 'registration'>`'mailbox'`.as('kind');

/** Addresses and domains to look up, folded. */
interface Wanted {
  addresses: readonly string[];
  domains: readonly string[];
}

/**
 * Finds the mailboxes with these addresses, the catch-alls of these domains, and all registrations
 * of the domains. Hot: it is the only query for an unknown recipient.
 */
export const selectReceivers = own.all<[Wanted], ReceiverRow>(
  (db, { addresses, domains }: Wanted) =>
    db
      .selectFrom('mailbox_addresses')
      .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
      .select(({ ref }) => [
        'mailboxes.id',
        'mailboxes.organization_id',
        ref('mailboxes.status').$castTo<string>().as('status'),
        'mailbox_addresses.address as matched',
        'mailbox_addresses.domain_id',
        noTime,
        isMailbox,
      ])
      .where('mailbox_addresses.address', ...isOneOf(db, addresses))
      .unionAll(
        db
          .selectFrom('catch_alls')
          .innerJoin('mailboxes', 'mailboxes.id', 'catch_alls.mailbox_id')
          .select(({ ref }) => [
            'mailboxes.id',
            'mailboxes.organization_id',
            ref('mailboxes.status').$castTo<string>().as('status'),
            'catch_alls.domain as matched',
            ref('catch_alls.domain_id').$castTo<string | null>().as('domain_id'),
            noTime,
            isMailbox,
          ])
          .where('catch_alls.domain', ...isOneOf(db, domains)),
      )
      .unionAll(registrationsNamed(db, domains)),
);

const lockRows = own.run((db, ids: readonly string[]) =>
  db
    .selectFrom('mailboxes')
    .select('id')
    .where('id', ...isOneOf(db, ids))
    .orderBy('id')
    .forNoKeyUpdate(),
);

/**
 * Locks mailboxes, so that no other transaction changes their threads. Call it once in a
 * transaction, after the messages are locked. The mailboxes still receive mail.
 */
export async function lockMailboxes(db: Db, ids: readonly string[]): Promise<void> {
  if (engineOf(db) === 'postgres') await lockRows(db, ids);
}

/** Returns the rows of these mailboxes, including deleted mailboxes. */
export const findMailboxes = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('mailboxes')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

/**
 * Returns mailboxes deleted before this time, as long as their rows are not emptied
 * (`emptyMailbox`).
 */
export function findDeletedMailboxes(
  db: Db,
  before: number,
): Promise<Pick<MailboxRow, 'id' | 'organization_id'>[]> {
  return tables<MailboxTables>(db)
    .selectFrom('mailboxes')
    .select(['id', 'organization_id'])
    .where('deleted_at', '<', before)
    .orderBy('deleted_at')
    .execute();
}

/** Empties the row of a deleted mailbox except for the id, to which keys and actions refer. */
export async function emptyMailbox(trx: Db, id: string, now: number): Promise<void> {
  await tables<MailboxTables>(trx)
    .updateTable('mailboxes')
    .set({
      display_name: null,
      description: null,
      primary_address: '',
      metadata: '{}',
      filters: '{"allow":[],"block":[]}',
      default_from: null,
      default_from_name: null,
      deleted_at: null,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
}

/**
 * Returns the oldest mailbox that receives mail, of an organization or (null) of all organizations.
 */
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

/**
 * Returns the organizations of the mailboxes with these folded addresses; unknown addresses are
 * left out.
 */
export const findOwners = own.all((db, addresses: readonly string[]) =>
  db
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .select(['mailbox_addresses.address', 'mailboxes.organization_id'])
    .where('mailbox_addresses.address', ...isOneOf(db, addresses)),
);

/** Returns the organization's mailbox with this address (folded) on the hosted domain. */
export const findHosted = own.first((db, organizationId: string, address: string) =>
  db
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .select(['mailboxes.status', 'mailbox_addresses.domain_id'])
    .where('mailbox_addresses.address', '=', address)
    .where('mailbox_addresses.source', '=', 'serviceHosted')
    .where('mailboxes.organization_id', '=', organizationId),
);

/** Inserts a mailbox. Returns false if the organization already uses the slug. */
export async function insertMailbox(db: Db, row: MailboxRow): Promise<boolean> {
  // Uses no `returning`: SQLite would plan a scan of all messages to find the messages of this
  // mailbox.
  const { numInsertedOrUpdatedRows } = await tables<MailboxTables>(db)
    .insertInto('mailboxes')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'slug']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Inserts an address. Returns false if a mailbox of any organization already has the address. */
export async function insertMailboxAddress(db: Db, row: MailboxAddressRow): Promise<boolean> {
  const inserted = await tables<MailboxTables>(db)
    .insertInto('mailbox_addresses')
    .values(row)
    .onConflict((conflict) => conflict.column('address').doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

const addressesOf = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('mailbox_addresses')
    .selectAll()
    .where('mailbox_id', ...isOneOf(db, ids))
    .orderBy('mailbox_id')
    .orderBy('id'),
);

/** Returns the addresses of these mailboxes, oldest first. */
export async function selectAddresses(
  db: Db,
  mailboxIds: readonly string[],
): Promise<MailboxAddressRow[]> {
  return mailboxIds.length === 0 ? [] : addressesOf(db, mailboxIds);
}

/** Returns the mailboxes with addresses of these domains. */
export async function selectMailboxesOn(
  db: Db,
  domainIds: readonly string[],
): Promise<Pick<MailboxRow, 'id' | 'organization_id'>[]> {
  if (domainIds.length === 0) return [];
  return tables<MailboxTables>(db)
    .selectFrom('mailbox_addresses')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailbox_addresses.mailbox_id')
    .select(['mailboxes.id', 'mailboxes.organization_id'])
    .where('mailbox_addresses.domain_id', ...isOneOf(db, domainIds))
    .distinct()
    .execute();
}

/** Deletes an address of a mailbox, or (null) all addresses. */
export async function deleteAddresses(
  db: Db,
  mailboxId: string,
  addressId: string | null,
): Promise<void> {
  await tables<MailboxTables>(db)
    .deleteFrom('mailbox_addresses')
    .where('mailbox_id', '=', mailboxId)
    .$if(addressId !== null, (query) => query.where('id', '=', addressId ?? ''))
    .execute();
}

/** Returns whether any mailbox has an address of the domain. */
export async function hasAddresses(db: Db, domainId: string): Promise<boolean> {
  const row = await tables<MailboxTables>(db)
    .selectFrom('mailbox_addresses')
    .select('id')
    .where('domain_id', '=', domainId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
