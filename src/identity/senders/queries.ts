// All SQL on `senders`. Reads and writes rows, decides nothing. The status of a sender's domain comes from
// the domains area, by name: a domain may be added after its senders, and deleted before them.
import { type SqlBool, sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Filter } from '../../platform/store/rows.ts';
import { verifiedDomainNames } from '../domains/queries.ts';
import type { ListSenders } from './schema.ts';

export interface SenderRow {
  id: string;
  organization_id: string;
  email: string;
  folded_email: string;
  /** The domain of `email`. */
  domain: string;
  name: string | null;
  /** Time when the address itself was verified. An address on a verified domain does not need it. */
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

const own = ownTables<SenderTables>();

/** Finds a sender by address. Hot: every send with a From address asks. */
export const findSenderByEmail = own.first((db, organizationId: string, foldedEmail: string) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('folded_email', '=', foldedEmail),
);

/** Finds the default sender. Hot: every send without a From address reads it. */
export const findDefaultSender = own.first((db, organizationId: string) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', 1),
);

/** Operations by id, pages, and changes. */
export const senders = own.rowsOf('senders', 'sender');

/** Returns the filters of the list. A sender is verified by itself or by its domain. */
export function filterOf(
  db: Db,
  organizationId: string,
  { verificationStatus, isActive, isDefault }: ListSenders,
): Filter<SenderRow> {
  const byDomain = sql`domain in ${verifiedDomainNames(db, organizationId)}`;
  const isVerified = sql<SqlBool>`(verified_at is not null or ${byDomain})`;
  const where = { verified: isVerified, pending: sql<SqlBool>`not ${isVerified}` };
  return {
    equal: { is_active: isActive, is_default: isDefault },
    where: verificationStatus && where[verificationStatus],
  };
}

/** Inserts a sender. Returns false if the organization has the address already. */
export function insertSender(db: Db, row: SenderRow): Promise<boolean> {
  return senders.insert(db, row, ['organization_id', 'folded_email']);
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
