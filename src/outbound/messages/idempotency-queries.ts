// All SQL on `idempotency_claims`: keys kept with the answer of their request. Rows only, no
// decisions.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface IdempotencyRow {
  organization_id: string;
  claim_key: string;
  fingerprint: string;
  message_id: string;
  response: string;
  created_at: number;
}

interface IdempotencyTables {
  idempotency_claims: IdempotencyRow;
}

const own = ownTables<IdempotencyTables>();

/**
 * Inserts idempotency keys and returns the new keys. On PostgreSQL this waits for a
 * transaction that inserts the same key. Callers sort the keys, so that two batches cannot
 * deadlock.
 */
export async function insertIdempotencyKeys(
  db: Db,
  rows: readonly IdempotencyRow[],
): Promise<Set<string>> {
  const inserted = await tables<IdempotencyTables>(db)
    .insertInto('idempotency_claims')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .returning(['organization_id', 'claim_key'])
    .execute();
  return new Set(inserted.map((row) => idempotencyName(row.organization_id, row.claim_key)));
}

/** Joins organization and key into a name. Ids contain no space. */
export function idempotencyName(organizationId: string, key: string): string {
  return `${organizationId} ${key}`;
}

export function findIdempotencyKeys(
  db: Db,
  keys: readonly { organizationId: string; key: string }[],
): Promise<IdempotencyRow[]> {
  return tables<IdempotencyTables>(db)
    .selectFrom('idempotency_claims')
    .selectAll()
    .where((where) =>
      where.or(
        keys.map(({ organizationId, key }) =>
          where.and({ organization_id: organizationId, claim_key: key }),
        ),
      ),
    )
    .execute();
}

/** Deletes up to `limit` keys from before `before`. The limit keeps transactions short. */
export async function deleteIdempotencyKeysBefore(
  db: Db,
  before: number,
  limit: number,
): Promise<number> {
  const old = tables<IdempotencyTables>(db)
    .selectFrom('idempotency_claims')
    .select(['organization_id', 'claim_key'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    // Skips rows locked by a concurrent deletion.
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked());
  const rows = await old.execute();
  for (const row of rows) {
    await tables<IdempotencyTables>(db)
      .deleteFrom('idempotency_claims')
      .where('organization_id', '=', row.organization_id)
      .where('claim_key', '=', row.claim_key)
      .execute();
  }
  return rows.length;
}

type Response = Omit<IdempotencyRow, 'fingerprint' | 'created_at'>;

/** Stores the answer of a stored key, and the message id if the request created a message. */
export const setKeptResponse = own.run((db, made: Response) =>
  db
    .updateTable('idempotency_claims')
    .set({ response: made.response, message_id: made.message_id })
    .where('organization_id', '=', made.organization_id)
    .where('claim_key', '=', made.claim_key),
);

/** Releases the key of a request that created nothing. */
export async function deleteIdempotencyKey(
  db: Db,
  { organization_id, claim_key }: Pick<IdempotencyRow, 'organization_id' | 'claim_key'>,
): Promise<void> {
  await tables<IdempotencyTables>(db)
    .deleteFrom('idempotency_claims')
    .where('organization_id', '=', organization_id)
    .where('claim_key', '=', claim_key)
    .execute();
}

/**
 * Erases the answer for a deleted message, so that a replay cannot show the message's fields again.
 */
export async function forgetKeptResponse(
  db: Db,
  organizationId: string,
  messageId: string,
): Promise<void> {
  await tables<IdempotencyTables>(db)
    .updateTable('idempotency_claims')
    .set({ response: '' })
    .where('organization_id', '=', organizationId)
    .where('message_id', '=', messageId)
    .execute();
}
