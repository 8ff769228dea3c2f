// All SQL on `senders`. Reads and writes rows, decides nothing. The domains area gives the status
// of a sender's domain by name, because a domain may be added after its senders, and deleted before
// them.
import { type SqlBool, sql } from 'kysely';
import type { RowOf } from '../../core/api/field-table.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Filter } from '../../platform/store/rows/rows.ts';
import { verifiedDomainNames } from '../domains/queries.ts';
import type { ListSenders, senderFields } from './schema.ts';

export interface SenderRow extends RowOf<typeof senderFields> {
  folded_email: string;
  /** The domain of `email`. */
  domain: string;
  /**
   * Time when the address itself was verified, ms since 1970; else null. An address on a verified
   * domain needs no such proof.
   */
  verified_at: number | null;
  /**
   * Hash of the token in the last mail that asked for proof; null before such a mail, and once the
   * token was used.
   */
  verification_token_hash: string | null;
  proof_message_id: string | null;
  /** Encrypted token of the proof link. The link is put into the mail only at delivery. */
  proof_token: string | null;
  proof_expires_at: number | null;
}

interface SenderTables {
  senders: SenderRow;
}

const own = ownTables<SenderTables>();

/** Finds a sender by address. Hot: every send with a From address runs this query. */
export const findSenderByEmail = own.first((db, organizationId: string, foldedEmail: string) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('folded_email', '=', foldedEmail),
);

/** Finds the default sender. Hot: every send without a From address runs this query. */
export const findDefaultSender = own.first((db, organizationId: string) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('is_default', '=', 1),
);

/** Operations by id, pages, and changes. */
export const senders = own.rowsOf('senders', 'sender');

/** Returns the filters of the list. A sender is verified by a proof or by the domain. */
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

/** Finds the senders with this address (folded) in other organizations. */
export const findSendersElsewhere = own.all(
  (db, organizationId: string, domain: string, foldedEmail: string) =>
    db
      .selectFrom('senders')
      .select(['organization_id', 'verified_at'])
      .where('domain', '=', domain)
      .where('folded_email', '=', foldedEmail)
      .where('organization_id', '<>', organizationId),
  (rows) =>
    rows.map(({ organization_id, verified_at }) => ({
      organizationId: organization_id,
      isProven: verified_at !== null,
    })),
);

/**
 * Returns the senders of a domain that proved their addresses, in all organizations except
 * `organizationId`.
 */
export const selectProvenElsewhere = own.all((db, organizationId: string, domain: string) =>
  db
    .selectFrom('senders')
    .selectAll()
    .where('domain', '=', domain)
    .where('organization_id', '<>', organizationId)
    .where('verified_at', 'is not', null)
    .orderBy('id'),
);

/** Inserts a sender. Returns false if the organization has the address already. */
export function insertSender(db: Db, row: SenderRow): Promise<boolean> {
  return senders.insert(db, row, ['organization_id', 'folded_email']);
}

/** Removes the default mark from the organization's default sender. */
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

/**
 * Finds a sender by the hash of the token in the last mail. `isLocked` locks the sender until the
 * end of the transaction, so that of two requests with the same token only the first finds it.
 */
export function findSenderByToken(
  db: Db,
  hash: string,
  isLocked: boolean,
): Promise<SenderRow | undefined> {
  return tables<SenderTables>(db)
    .selectFrom('senders')
    .selectAll()
    .where('verification_token_hash', '=', hash)
    .$if(isLocked && engineOf(db) === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
}

/**
 * Returns the encrypted token of the mail `messageId`; undefined after a later mail, or after the
 * proof.
 */
export async function findProofToken(
  db: Db,
  messageId: string,
): Promise<Pick<SenderRow, 'id' | 'proof_token'> | undefined> {
  return tables<SenderTables>(db)
    .selectFrom('senders')
    .select(['id', 'proof_token'])
    .where('proof_message_id', '=', messageId)
    .executeTakeFirst();
}

/**
 * Counts the unverified senders of an organization with a token in force; leaves the sender
 * `except` out.
 */
export async function countPendingProofs(
  db: Db,
  organizationId: string,
  { except, now }: { except: string; now: number },
): Promise<number> {
  const { count } = await tables<SenderTables>(db)
    .selectFrom('senders')
    .select(sql<number>`cast(count(*) as integer)`.as('count'))
    .where('organization_id', '=', organizationId)
    .where('id', '<>', except)
    .where('verified_at', 'is', null)
    .where('proof_expires_at', '>', now)
    .where(sql<SqlBool>`domain not in ${verifiedDomainNames(db, organizationId)}`)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the addresses (as `name`) of the senders of an organization with these ids. */
export const findSenderNames = own.all((db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('senders')
    .select(['id', 'email as name'])
    .where('organization_id', '=', organizationId)
    .where('id', ...isOneOf(db, ids)),
);
