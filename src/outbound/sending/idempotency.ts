// Idempotency (specification 4.2 rules 5 to 8). A key is stored in the transaction that stores the
// message: a failed attempt leaves no key, and two requests cannot both succeed.
import type { ServiceError } from '../../platform/errors.ts';
import { ConflictError } from '../../platform/errors.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import {
  findIdempotencyKeys,
  type IdempotencyRow,
  idempotencyName,
  insertIdempotencyKeys,
} from '../messages/idempotency-queries.ts';
import type { Message } from '../messages/schema.ts';

/** Idempotency key of a request, with the fingerprint of the content. */
export interface IdempotencyKey {
  organizationId: string;
  key: string;
  fingerprint: string;
}

export type RepeatedAnswer = { message: Message; replayed: true } | { error: ServiceError };

export function nameOf(idempotency: IdempotencyKey): string {
  return idempotencyName(idempotency.organizationId, idempotency.key);
}

/** Finds the idempotency keys that are stored already, each under the `nameOf` name. */
export async function findKept(
  trx: Db,
  keys: readonly IdempotencyKey[],
): Promise<Map<string, IdempotencyRow>> {
  if (keys.length === 0) return new Map();
  const rows = await findIdempotencyKeys(trx, keys);
  return new Map(rows.map((row) => [idempotencyName(row.organization_id, row.claim_key), row]));
}

/**
 * Answers a repeat (rules 5 and 6): with the original answer, or with a conflict for different
 * content or a deleted message.
 */
export function answerAgain(idempotency: IdempotencyKey, made: IdempotencyRow): RepeatedAnswer {
  if (idempotency.fingerprint !== made.fingerprint) return { error: differentContent() };
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

/** Returns the row that a first request leaves for repeats. */
export function idempotencyRow(
  idempotency: IdempotencyKey,
  message: Message,
  now: number,
): IdempotencyRow {
  return {
    organization_id: idempotency.organizationId,
    claim_key: idempotency.key,
    fingerprint: idempotency.fingerprint,
    message_id: message.id,
    response: JSON.stringify(message),
    created_at: now,
  };
}

/**
 * Stores the keys of a batch, and returns the keys that a concurrent daemon stored first. Sorts
 * keys by name: two batches then wait in the same order and cannot deadlock.
 */
export async function keepKeys(
  trx: Db,
  rows: readonly IdempotencyRow[],
): Promise<Map<string, IdempotencyRow>> {
  if (rows.length === 0) return new Map();
  const sorted = [...rows].sort((a, b) =>
    idempotencyName(a.organization_id, a.claim_key) <
    idempotencyName(b.organization_id, b.claim_key)
      ? -1
      : 1,
  );
  const ours = await insertIdempotencyKeys(trx, sorted);
  const lost = sorted.filter(
    (row) => !ours.has(idempotencyName(row.organization_id, row.claim_key)),
  );
  if (lost.length === 0) return new Map();
  const made = await findIdempotencyKeys(
    trx,
    lost.map((row) => ({ organizationId: row.organization_id, key: row.claim_key })),
  );
  return new Map(made.map((row) => [idempotencyName(row.organization_id, row.claim_key), row]));
}
