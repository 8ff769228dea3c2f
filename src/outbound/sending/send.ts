// The send operation, in the order of the steps: `sendMessage` (called by POST /v1/messages) →
// `acceptOne` (a single answer) → `gathered` (sends that arrive together) → `acceptTogether` (a
// single transaction) → `acceptAll` (accept.ts). Also deletes old idempotency keys.

import { noticeReplay } from '../../core/api/idempotency.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { deleteIdempotencyKeysBefore } from '../messages/idempotency-queries.ts';
import type { Message, MessageOrigin } from '../messages/schema.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { intakeOf } from '../queue/intake.ts';
import { type AcceptRequest, type AcceptResult, acceptAll } from './accept.ts';
import { fingerprint } from './fingerprint.ts';
import { prepareSend } from './prepare.ts';
import { type RecentContents, recentContents } from './recent-contents.ts';
import { stageContent } from './store-content.ts';

const mostPerTransaction = 128;
const keysKeptMs = 48 * 3_600_000;
const keysPerSweep = 1_000;

/**
 * Accepts a message. Resolves after the durable commit. With an idempotency key, a repeat of the
 * same request gets the original answer.
 * @throws ForbiddenError for an unverified sender or a paused organization; PaymentRequiredError if
 * the recipients exceed the daily quota; ConflictError for a key used with different
 * content; ResourceNotFoundError for missing resources that the payload names; CapacityError if the
 * store cannot write.
 */
export async function sendMessage(
  app: App,
  caller: Caller,
  payload: SendPayload,
  idempotencyKey: string | null,
): Promise<Message> {
  const idempotency =
    idempotencyKey === null
      ? null
      : {
          organizationId: caller.organizationId,
          key: idempotencyKey,
          fingerprint: fingerprint('POST', '/v1/messages', payload),
        };
  return acceptOne(app, { ...(await prepareSend(app, caller, payload)), idempotency });
}

/**
 * Accepts a request. Resolves after the durable commit. @throws the error that refuses the
 * request.
 */
export async function acceptOne(app: App, request: AcceptRequest): Promise<Message> {
  await stageContent(app, request.caller.organizationId, request.content);
  const result = await gathered(app)(request);
  if ('error' in result) throw result.error;
  const via = request.content.raw?.via ?? 'api';
  if (result.replayed) noticeReplay();
  else countTaken(app, request.caller, via, 1);
  return result.message;
}

/**
 * Adds accepted mail to the metrics, except mail of the operator's commands: monitoring cannot read
 * the metrics of a command, so a daemon counts such mail when it finds it in the store.
 */
export function countTaken(
  app: App,
  { by }: Caller,
  via: MessageOrigin['via'],
  count: number,
): void {
  if (by.kind === 'operator') return;
  app.metrics.accepted.inc({ direction: 'outbound', via }, count);
}

/** Adds a request to the next shared transaction. Resolves with the request's result. */
const gathered = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, (trx, requests: AcceptRequest[]) =>
    acceptTogether(app, trx, requests),
  ),
);

function acceptTogether(app: App, trx: Db, requests: AcceptRequest[]): Promise<AcceptResult[]> {
  intakeOf(app).took(requests.length);
  return acceptAll(app, trx, recentOf(app, trx), requests);
}

/** Returns the view of recent contents for a single transaction. */
export function recentOf(app: App, trx: Db): RecentContents {
  return sharedContents(app)(trx);
}

const sharedContents = perApp<App, (trx: Db) => RecentContents>(recentContents);

/** Deletes idempotency keys after two days; a single day is promised. */
export async function sweepIdempotencyKeys(app: App): Promise<void> {
  const before = await timeOfAge(app, keysKeptMs);
  let swept: number;
  do {
    swept = await app.store.write((trx) => deleteIdempotencyKeysBefore(trx, before, keysPerSweep));
  } while (swept === keysPerSweep);
}
