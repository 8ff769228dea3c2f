// Idempotency (specification 4.2 rules 5 to 8, contract 4): a claim is staked in the transaction that
// stores the message, so a failed attempt leaves none behind and two requests cannot both succeed.
import type { ServiceError } from '../errors.ts';
import { ConflictError } from '../errors.ts';
import { type ClaimRow, claimName, findClaims, insertClaims } from '../messages/queries.ts';
import type { Message } from '../messages/schema.ts';
import { type Db, fromJson } from '../store/db.ts';

/** What a request says of its idempotency. */
export interface Claim {
  organizationId: string;
  key: string;
  fingerprint: string;
}

export type ClaimAnswer = { message: Message; replayed: true } | { error: ServiceError };

export function nameOf(claim: Claim): string {
  return claimName(claim.organizationId, claim.key);
}

/** The claims that exist already, by name. */
export async function knownClaims(
  trx: Db,
  claims: readonly Claim[],
): Promise<Map<string, ClaimRow>> {
  if (claims.length === 0) return new Map();
  const rows = await findClaims(trx, claims);
  return new Map(rows.map((row) => [claimName(row.organization_id, row.claim_key), row]));
}

/** Rules 5 and 6: a repeat gets the original answer, other content a conflict. */
export function answerClaim(claim: Claim, made: ClaimRow): ClaimAnswer {
  if (claim.fingerprint !== made.fingerprint) return { error: differentContent() };
  if (made.response === '') return { error: madeAndDeleted(made.message_id) };
  return { message: fromJson<Message>(made.response), replayed: true };
}

export function differentContent(): ConflictError {
  return new ConflictError(
    'idempotency-key',
    'This Idempotency-Key was used with different content: use a new key for a new message',
  );
}

export function madeAndDeleted(messageId: string): ConflictError {
  return new ConflictError(
    'idempotency-key',
    `This Idempotency-Key made the message ${messageId}, which has been deleted`,
  );
}

/** The row that a first request leaves for its repeats. */
export function claimRow(claim: Claim, message: Message, now: number): ClaimRow {
  return {
    organization_id: claim.organizationId,
    claim_key: claim.key,
    fingerprint: claim.fingerprint,
    message_id: message.id,
    response: JSON.stringify(message),
    created_at: now,
  };
}

/**
 * Stakes the claims of a batch and returns those that another daemon made first. Sorted by name, so
 * that two batches wait for each other in one order and cannot deadlock.
 */
export async function stakeClaims(
  trx: Db,
  rows: readonly ClaimRow[],
): Promise<Map<string, ClaimRow>> {
  if (rows.length === 0) return new Map();
  const sorted = [...rows].sort((a, b) =>
    claimName(a.organization_id, a.claim_key) < claimName(b.organization_id, b.claim_key) ? -1 : 1,
  );
  const ours = await insertClaims(trx, sorted);
  const lost = sorted.filter((row) => !ours.has(claimName(row.organization_id, row.claim_key)));
  if (lost.length === 0) return new Map();
  const made = await findClaims(
    trx,
    lost.map((row) => ({ organizationId: row.organization_id, key: row.claim_key })),
  );
  return new Map(made.map((row) => [claimName(row.organization_id, row.claim_key), row]));
}
