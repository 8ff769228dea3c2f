// The batch operation: up to 100 sends in a single transaction, with a result for each. Each entry
// is checked separately, like a single send. A refused entry does not stop the remaining entries.
// Idempotency: the transaction stores first the key and then the messages, so that after a crash
// either both exist or neither. The row of the key stores the refusals. Each message also has a row
// of its own; deleting the message empties that row, as for any send. If no entry was accepted, the
// key is released.

import { openAllowances } from '../../access/admission/quota.ts';
import { messagesRight, type SendRight } from '../../access/keys/send-checks.ts';
import { noticeReplay } from '../../core/api/idempotency.ts';
import type { Caller } from '../../core/api/route.ts';
import { checkWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import type { ConflictError } from '../../platform/errors.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import {
  deleteIdempotencyKey,
  findIdempotencyKeys,
  type IdempotencyRow,
  idempotencyName,
  insertIdempotencyKeys,
  setKeptResponse,
} from '../messages/idempotency-queries.ts';
import type { BatchResult, Message } from '../messages/schema.ts';
import { sendPayload } from '../messages/send-schema.ts';
import { type AcceptRequest, type AcceptResult, acceptAll } from './accept.ts';
import { fingerprint } from './fingerprint.ts';
import {
  differentContent,
  type IdempotencyKey,
  idempotencyRow,
  keepKeys,
  madeAndDeleted,
} from './idempotency.ts';
import { prepareSend } from './prepare.ts';
import { countTaken, recentOf } from './send.ts';
import { stageContent } from './store-content.ts';

/**
 * Stored result of an entry in the row of the batch: the id of the accepted message, or the error.
 */
type KeptEntry = { messageId: string } | { error: Record<string, unknown> };

type BatchAnswer =
  | { results: BatchResult[]; accepted: number; isReplayed: boolean }
  | { error: ConflictError };

/** Returns a key for an entry. No client key is equal: it has at most 255 characters. */
function entryKey(key: string, index: number): string {
  return `entry ${index} of the batch`.padEnd(256) + key;
}

/**
 * Accepts the valid entries of a batch. Resolves after the durable commit with a result for each
 * entry, in order. The caller needs `right` for each entry. A repeat of the same batch with the key
 * gets the same results and sends nothing.
 * @throws ConflictError for a key that was used with different content; CapacityError if the store
 * cannot write: nothing was accepted then.
 */
export async function sendBatch(
  app: App,
  caller: Caller,
  entries: readonly unknown[],
  idempotencyKey: string | null,
  right: SendRight = messagesRight,
): Promise<BatchResult[]> {
  const { organizationId } = caller;
  const checked = entries.map((entry) => checkWith(sendPayload, entry, 'entry'));
  const requests = await Promise.all(
    checked.map(async (one): Promise<AcceptRequest | AcceptResult> => {
      if ('error' in one) return one;
      const prepared = await prepareSend(app, caller, one.data);
      await stageContent(app, organizationId, prepared.content);
      return { ...prepared, right, idempotency: null };
    }),
  );
  const body = checked.map((one, index) => ('data' in one ? one.data : entries[index]));
  const idempotency =
    idempotencyKey === null ? null : idempotencyOf(organizationId, idempotencyKey, body);
  const answer = await app.store.write((trx) =>
    acceptBatch(app, trx, caller, requests, idempotency),
  );
  if ('error' in answer) throw answer.error;
  if (answer.isReplayed) noticeReplay();
  countTaken(app, caller, 'api', answer.accepted);
  return answer.results;
}

function idempotencyOf(
  organizationId: string,
  key: string,
  body: readonly unknown[],
): IdempotencyKey {
  return { organizationId, key, fingerprint: fingerprint('POST', '/v1/messages/batch', body) };
}

async function acceptBatch(
  app: App,
  trx: Db,
  caller: Caller,
  requests: readonly (AcceptRequest | AcceptResult)[],
  idempotency: IdempotencyKey | null,
): Promise<BatchAnswer> {
  const valid = requests.filter((request): request is AcceptRequest => 'payload' in request);
  const recent = recentOf(app, trx);
  // As in every accept, quota and contents are locked before the idempotency keys: all transactions
  // agree on the order.
  await openAllowances(app, trx, [caller.organizationId]);
  await recent.keep(valid.map(({ content }) => content.digest));
  const own = idempotency && batchIdempotencyRow(idempotency, app.clock.now());
  if (idempotency && own) {
    const [made] = (await keepKeys(trx, [own])).values();
    if (made) return replay(trx, idempotency, made);
  }
  const accepted = (await acceptAll(app, trx, recent, valid)).values();
  const results = requests.map((request) =>
    'payload' in request ? (accepted.next().value ?? request) : request,
  );
  const answers = results.map((result, index) => toResult(index, result));
  const messages = answers.flatMap((answer) => ('message' in answer ? answer.message : []));
  if (idempotency && own) await keep(trx, idempotency, own, answers);
  return { results: answers, accepted: messages.length, isReplayed: false };
}

function toResult(index: number, result: AcceptRequest | AcceptResult): BatchResult {
  if ('message' in result) return { index, message: result.message };
  if ('error' in result) return { index, error: result.error.toJSON() };
  throw new Error(`entry ${index} of a batch was left without an answer`);
}

function batchIdempotencyRow(
  { organizationId, key, fingerprint }: IdempotencyKey,
  now: number,
): IdempotencyRow {
  return {
    organization_id: organizationId,
    claim_key: key,
    fingerprint,
    message_id: '',
    response: '',
    created_at: now,
  };
}

/**
 * Stores the results for repeats. If no message was created, the key is released (specification 4.2
 * rule 8).
 */
async function keep(
  trx: Db,
  idempotency: IdempotencyKey,
  own: IdempotencyRow,
  answers: readonly BatchResult[],
): Promise<void> {
  const rows = answers.flatMap((answer) =>
    'message' in answer
      ? idempotencyRow(
          { ...idempotency, key: entryKey(idempotency.key, answer.index) },
          answer.message,
          own.created_at,
        )
      : [],
  );
  if (rows.length === 0) return deleteIdempotencyKey(trx, own);
  await insertIdempotencyKeys(trx, rows);
  const kept = answers.map(
    (answer): KeptEntry =>
      'message' in answer ? { messageId: answer.message.id } : { error: answer.error },
  );
  await setKeptResponse(trx, { ...own, response: JSON.stringify(kept) });
}

async function replay(
  trx: Db,
  idempotency: IdempotencyKey,
  made: IdempotencyRow,
): Promise<BatchAnswer> {
  if (idempotency.fingerprint !== made.fingerprint) return { error: differentContent() };
  const kept = fromJson<KeptEntry[]>(made.response);
  const { organizationId, key } = idempotency;
  const keys = kept.map((_, index) => ({ organizationId, key: entryKey(key, index) }));
  const rows = await findIdempotencyKeys(trx, keys);
  const responses = new Map(
    rows.map((row) => [idempotencyName(row.organization_id, row.claim_key), row.response]),
  );
  const results = kept.map((entry, index): BatchResult => {
    if ('error' in entry) return { index, error: entry.error };
    const response = responses.get(idempotencyName(organizationId, entryKey(key, index)));
    return response
      ? { index, message: fromJson<Message>(response) }
      : { index, error: madeAndDeleted(entry.messageId).toJSON() };
  });
  return { results, accepted: 0, isReplayed: true };
}
