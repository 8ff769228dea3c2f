// All SQL on `senders`. Rows only, no decisions. Whether a sender's domain is verified is asked of
// the domains area, by name: a domain may come after its senders, and go before them.
import { verifiedDomainNames } from '../domains/queries.ts';
import { type Db, statement, tables } from '../store/db.ts';

export interface SenderRow {
  id: string;
  organization_id: string;
  email: string;
  folded_email: string;
  /** The domain of `email`. */
  domain: string;
  name: string | null;
  /** When the address itself was verified; one on a verified domain needs no such thing. */
  verified_at: number | null;
  verification_token_hash: string | null;
  is_default: number;
  /** JSON array. */
  reply_to_emails: string | null;
  is_active: number;
  created_at: number;
  updated_at: number;
}

interface SenderTables {
  senders: SenderRow;
}

export interface SenderFilter {
  verificationStatus?: 'pending' | 'verified' | undefined;
  isActive?: boolean | undefined;
  isDefault?: boolean | undefined;
}

const byEmail = statement<SenderTables, { organizationId: string; foldedEmail: string }, SenderRow>(
  (db, parameter) =>
    db
      .selectFrom('senders')
      .selectAll()
      .where('organization_id', '=', parameter('organizationId'))
      .where('folded_email', '=', parameter('foldedEmail')),
);

const byDefault = statement<SenderTables, { organizationId: string }, SenderRow>((db, parameter) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', parameter('organizationId'))
    .where('is_default', '=', 1),
);

/** Hot: asked for every send that names an address. */
export async function findSenderByEmail(
  db: Db,
  organizationId: string,
  foldedEmail: string,
): Promise<SenderRow | undefined> {
  return (await byEmail(db, { organizationId, foldedEmail }))[0];
}

/** Hot: asked for every send that names none. */
export async function findDefaultSender(
  db: Db,
  organizationId: string,
): Promise<SenderRow | undefined> {
  return (await byDefault(db, { organizationId }))[0];
}

export function findSender(
  db: Db,
  organizationId: string,
  id: string,
): Promise<SenderRow | undefined> {
  return tables<SenderTables>(db)
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

function filtered(db: Db, organizationId: string, filter: SenderFilter) {
  const { verificationStatus, isActive, isDefault } = filter;
  let query = tables<SenderTables>(db)
    .selectFrom('senders')
    .where('organization_id', '=', organizationId);
  if (isActive !== undefined) query = query.where('is_active', '=', isActive ? 1 : 0);
  if (isDefault !== undefined) query = query.where('is_default', '=', isDefault ? 1 : 0);
  if (verificationStatus === undefined) return query;
  const verified = verifiedDomainNames(db, organizationId);
  return query.where(({ eb, or, and }) =>
    verificationStatus === 'verified'
      ? or([eb('verified_at', 'is not', null), eb('domain', 'in', verified)])
      : and([eb('verified_at', 'is', null), eb('domain', 'not in', verified)]),
  );
}

/** Newest first. */
export function selectSenders(
  db: Db,
  organizationId: string,
  filter: SenderFilter,
  range: { limit: number; offset: number },
): Promise<SenderRow[]> {
  return filtered(db, organizationId, filter)
    .selectAll()
    .orderBy('id', 'desc')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

export async function countSenders(
  db: Db,
  organizationId: string,
  filter: SenderFilter,
): Promise<number> {
  const { count } = await filtered(db, organizationId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** False when the organization has the address already. */
export async function insertSender(db: Db, row: SenderRow): Promise<boolean> {
  const inserted = await tables<SenderTables>(db)
    .insertInto('senders')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'folded_email']).doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

export async function updateSender(
  db: Db,
  id: string,
  change: Partial<SenderRow> & { updated_at: number },
): Promise<void> {
  await tables<SenderTables>(db).updateTable('senders').set(change).where('id', '=', id).execute();
}

/** Leaves the organization without a default sender. */
export async function clearDefaultSender(
  db: Db,
  organizationId: string,
  now: number,
): Promise<void> {
  await tables<SenderTables>(db)
    .updateTable('senders')
    .set({ is_default: 0, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', 1)
    .execute();
}

/** False when there is none. */
export async function deleteSenderRow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<boolean> {
  const { numDeletedRows } = await tables<SenderTables>(db)
    .deleteFrom('senders')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
