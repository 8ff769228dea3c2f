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

/** A key with the state of its request (src/service/door/claims.ts). */
export interface ClaimRow extends IdempotencyRow {
  /** The request in progress; null after the answer. */
  holder: string | null;
  lease_until: number | null;
  took_effect: number | null;
}

interface IdempotencyTables {
  idempotency_claims: ClaimRow;
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

/**
 * Deletes up to `limit` keys created before `before`, and returns their number. The limit keeps
 * transactions short.
 */
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

/**
 * Stores the answer to the request of a key, and the id of the message that the request created.
 */
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
 * Erases the answer to the request that created a deleted message or resource: no replay may show
 * the fields again.
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

/** Inserts the key of a request in progress; returns 0 if the key exists. */
export const insertClaim = own.change((db, claim: ClaimRow) =>
  db
    .insertInto('idempotency_claims')
    .values({
      organization_id: claim.organization_id,
      claim_key: claim.claim_key,
      fingerprint: claim.fingerprint,
      message_id: claim.message_id,
      response: claim.response,
      created_at: claim.created_at,
      holder: claim.holder,
      lease_until: claim.lease_until,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

export const findClaim = own.first((db, organizationId: string, key: string) =>
  db
    .selectFrom('idempotency_claims')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('claim_key', '=', key),
);

/** The key of a request in progress, with the holder. */
type Held = Pick<ClaimRow, 'organization_id' | 'claim_key'> & { holder: string };

/** Gives a key to a new request if the lease ended by `ended` without an effect; else returns 0. */
export const takeOverClaim = own.change(
  (db, claim: Held & Pick<ClaimRow, 'fingerprint' | 'lease_until' | 'created_at'>, ended: number) =>
    db
      .updateTable('idempotency_claims')
      .set({
        fingerprint: claim.fingerprint,
        holder: claim.holder,
        lease_until: claim.lease_until,
        created_at: claim.created_at,
      })
      .where('organization_id', '=', claim.organization_id)
      .where('claim_key', '=', claim.claim_key)
      .where('lease_until', '<=', ended)
      .where('took_effect', 'is', null),
);

/** Ends leases that are dated after `latest`, because a clock ran ahead. */
export const bringClaimsToPresent = own.toPresent('idempotency_claims', 'lease_until');

export const renewClaim = own.run((db, held: Held, leaseUntil: number) =>
  db
    .updateTable('idempotency_claims')
    .set({ lease_until: leaseUntil })
    .where('organization_id', '=', held.organization_id)
    .where('claim_key', '=', held.claim_key)
    .where('holder', '=', held.holder),
);

/** Records that a transaction of the holder is committed; returns 0 if the key was lost. */
export const markClaim = own.change((db, held: Held) =>
  db
    .updateTable('idempotency_claims')
    .set({ took_effect: 1 })
    .where('organization_id', '=', held.organization_id)
    .where('claim_key', '=', held.claim_key)
    .where('holder', '=', held.holder),
);

type Answered = Held & Pick<ClaimRow, 'fingerprint' | 'message_id' | 'response'>;

/** Stores the answer of the holder, and ends the lease. */
export const answerClaim = own.run((db, answered: Answered) =>
  db
    .updateTable('idempotency_claims')
    .set({
      fingerprint: answered.fingerprint,
      message_id: answered.message_id,
      response: answered.response,
      holder: null,
      lease_until: null,
    })
    .where('organization_id', '=', answered.organization_id)
    .where('claim_key', '=', answered.claim_key)
    .where('holder', '=', answered.holder),
);

/** Releases the key of a refused request. */
export const releaseClaim = own.run((db, held: Held) =>
  db
    .deleteFrom('idempotency_claims')
    .where('organization_id', '=', held.organization_id)
    .where('claim_key', '=', held.claim_key)
    .where('holder', '=', held.holder),
);

/** Releases the key of a request that failed before any effect; returns 0 after an effect. */
export const releaseUnusedClaim = own.change((db, held: Held) =>
  db
    .deleteFrom('idempotency_claims')
    .where('organization_id', '=', held.organization_id)
    .where('claim_key', '=', held.claim_key)
    .where('holder', '=', held.holder)
    .where('took_effect', 'is', null),
);
