// Repeats of a mail from a mailbox, recognized by idempotency key (specification 4.2). They get the
// first answer again and send nothing.
import { claimKeyOf } from '../../access/keys/constraints.ts';
import { noticeReplay } from '../../core/api/idempotency.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import {
  findIdempotencyKeys,
  type IdempotencyRow,
} from '../../outbound/messages/idempotency-queries.ts';
import { fingerprint } from '../../outbound/sending/fingerprint.ts';
import { differentContent, madeAndDeleted } from '../../outbound/sending/idempotency.ts';
import type { ServiceError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { ReplyResult } from './schema.ts';

/** A request to send, with the fields by which a repeat is recognized. */
export interface Asked {
  path: string;
  body: unknown;
  /** Idempotency key; null without a key. */
  key: string | null;
}

/** Answer to a request. `messageId` is set only for a message sent by this request. */
export type Answer =
  | { result: ReplyResult; messageId: string | null; isReplayed?: true }
  | { error: ServiceError };

/** Nothing was stored: the mail must become a proposal, but is not frozen yet. */
export interface Unfrozen {
  isUnfrozen: true;
}

/**
 * Returns a new row for the idempotency key, still without an answer; null for a request without a
 * key.
 */
export function claimOf(
  app: App,
  caller: Caller,
  { path, body, key }: Asked,
): IdempotencyRow | null {
  if (key === null) return null;
  return {
    organization_id: caller.organizationId,
    claim_key: claimKeyOf(caller, key),
    fingerprint: fingerprint('POST', path, body),
    message_id: '',
    response: '',
    created_at: app.clock.now(),
  };
}

/**
 * Returns the answer to a repeat. `made` is the row that the first request stored: its answer is
 * returned again. Returns a conflict if the content differs or the message is deleted.
 */
export function repeatedAnswer(claim: IdempotencyRow, made: IdempotencyRow): Answer {
  if (claim.fingerprint !== made.fingerprint) return { error: differentContent() };
  if (made.response === '') return { error: madeAndDeleted(made.message_id) };
  return { result: fromJson<ReplyResult>(made.response), messageId: null, isReplayed: true };
}

/** Returns the earlier result of a key; null for a new or absent key. @throws ConflictError. */
export async function resultBefore(
  app: App,
  caller: Caller,
  asked: Asked,
): Promise<ReplyResult | null> {
  const claim = claimOf(app, caller, asked);
  if (!claim) return null;
  const [made] = await findIdempotencyKeys(app.store.db, [
    { organizationId: claim.organization_id, key: claim.claim_key },
  ]);
  if (!made) return null;
  const answer = repeatedAnswer(claim, made);
  if ('error' in answer) throw answer.error;
  noticeReplay();
  return answer.result;
}
