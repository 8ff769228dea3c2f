// The send operation: gathers requests that arrive together into one accept transaction. Also keeps
// the idempotency claims from growing for ever.
import type { App } from '../app.ts';
import { deleteClaimsBefore } from '../messages/queries.ts';
import type { Message, SendPayload } from '../messages/schema.ts';
import type { Caller } from '../route.ts';
import { groupWrites } from '../store/group.ts';
import { type AcceptRequest, type AcceptResult, acceptAll } from './accept.ts';
import { fingerprint } from './fingerprint.ts';
import { recentContents } from './recent-contents.ts';
import { readSendContent } from './send-content.ts';

const mostPerTransaction = 64;
const claimsKeptMs = 48 * 3_600_000;
const claimsPerSweep = 1_000;

type Accept = (request: AcceptRequest) => Promise<AcceptResult>;

/** One group per app; made at the first send, gone with the app. */
const groups = new WeakMap<App, Accept>();

function groupOf(app: App): Accept {
  let accept = groups.get(app);
  if (!accept) {
    const recent = recentContents();
    accept = groupWrites(app.store, mostPerTransaction, (trx, requests: AcceptRequest[]) =>
      acceptAll(app, trx, recent(trx), requests),
    );
    groups.set(app, accept);
  }
  return accept;
}

/**
 * Accepts one message; resolves after the durable commit. With an idempotency key, a repeat of the
 * same request gets the original answer.
 * @throws ForbiddenError for an unverified sender or a paused organization; PaymentRequiredError
 * where the daily quota has no room for all its recipients; ConflictError for a key used with other content;
 * ResourceNotFoundError for what the payload names; CapacityError when the store cannot write.
 */
export async function sendMessage(
  app: App,
  caller: Caller,
  payload: SendPayload,
  idempotencyKey: string | null,
): Promise<Message> {
  const claim =
    idempotencyKey === null
      ? null
      : {
          organizationId: caller.organizationId,
          key: idempotencyKey,
          fingerprint: fingerprint('POST', '/v1/messages', payload),
        };
  const content = readSendContent(caller.organizationId, payload);
  const result = await groupOf(app)({ caller, payload, content, claim });
  if ('error' in result) throw result.error;
  if (!result.replayed) app.metrics.accepted.inc({ direction: 'outbound' });
  return result.message;
}

/** Forgets idempotency claims after two days (the contract promises one). */
export async function sweepClaims(app: App): Promise<void> {
  const before = app.clock.now() - claimsKeptMs;
  let swept: number;
  do {
    swept = await app.store.write((trx) => deleteClaimsBefore(trx, before, claimsPerSweep));
  } while (swept === claimsPerSweep);
}
