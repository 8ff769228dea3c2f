// One effect for one `Idempotency-Key`, for operations that do not store the key in their own
// transaction. The key is claimed before the operation. Each transaction of the operation also
// marks the claim, so that no crash between the effect and the answer permits a second effect.
//
//   claim            | event                                  | then
//   -----------------+----------------------------------------+-----------------------------------
//   (none)           | a request with the key                 | held, with a lease
//   held             | a transaction of the request commits   | effective, in that transaction
//   held, effective  | the request is answered                | answered
//   held, effective  | the request is refused (4xx)           | (none)
//   held             | the request fails (5xx)                | (none)
//   effective        | the request fails (5xx)                | answered: repeats get a 409
//   held, effective  | an equal request                       | it waits for the answer, then a 409
//   held, effective  | a request with other content           | 409
//   held             | the lease ended (crash), then a request| held by that request
//   effective        | the lease ended (crash), then a request| 409: effect without an answer
//   answered         | an equal request                       | the stored answer, or a 409 if the
//                    |                                        | answer had a secret or was too long
//   answered         | a request with other content           | 409
//   answered         | the made contact or message is deleted | repeats get a 409
//   answered         | two days (`sweepIdempotencyKeys`)      | (none)
//
// A request that outlived the lease stores nothing more: its transactions fail at the mark.
import { claimKeyOf } from '../../access/keys/constraints.ts';
import type { Caller, Doorway } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import {
  answerClaim,
  type ClaimRow,
  findClaim,
  insertClaim,
  markClaim,
  releaseClaim,
  releaseUnusedClaim,
  renewClaim,
  takeOverClaim,
} from '../../outbound/messages/idempotency-queries.ts';
import { ConflictError, ServiceError } from '../../platform/errors.ts';
import { newToken } from '../../platform/runtime/tokens.ts';
import { joinEachWrite, withoutJoining } from '../../platform/store/changes/each-write.ts';
import { keepLease, leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { fromJson, type Store } from '../../platform/store/db.ts';

/**
 * Lease of a request: after this time, a different request may take the key of a crashed daemon.
 */
export const leaseMs = 60_000;
/** Longest wait for an equal request in progress. */
export const patienceMs = 10_000;
/** Largest stored answer. A repeat of a larger answer gets a 409. */
export const mostAnswerBytes = 256 * 1024;
/** Time between two reads of a claim, if the store reports no change. */
const lookEachMs = 1_000;

export interface KeyedRequest {
  key: string;
  /** SHA-256 of the request; null for a streamed body, which `digest` reads to its end. */
  fingerprint: string | null;
  digest(): Promise<string>;
}

/**
 * A stored answer. `lacks` tells why `answer` is missing: it has a secret, it is too long, or the
 * request failed after an effect (`end`).
 */
interface KeptAnswer {
  answer?: unknown;
  lacks?: 'secret' | 'length' | 'end';
}

type Held = ClaimRow & { holder: string };

/**
 * Runs an operation once for its key, and returns the stored answer to a repeat.
 * @throws ConflictError for a key that was used with different content, is still in progress, or
 * has no answer that can be repeated; errors of the operation.
 */
export async function runOnce<Answer>(
  app: App,
  caller: Caller,
  way: Pick<Doorway, 'shownOnce'>,
  asked: KeyedRequest,
  run: () => Promise<Answer>,
): Promise<{ value: Answer; isReplayed: boolean }> {
  const claim = await claimOrWait(app, caller, asked);
  if (claim.holder === null) {
    const fingerprint = asked.fingerprint ?? (await asked.digest());
    return { value: repeated(claim, fingerprint) as Answer, isReplayed: true };
  }
  return { value: await runHeld(app, way, claim as Held, asked, run), isReplayed: false };
}

/**
 * Returns the new claim of this request, or the answered claim of an earlier request.
 * @throws ConflictError for different content, or if the earlier request is still in progress
 */
async function claimOrWait(app: App, caller: Caller, asked: KeyedRequest): Promise<ClaimRow> {
  const own = newClaim(app, caller, asked);
  const end = app.clock.elapsed() + patienceMs;
  for (;;) {
    const change = nextChange(app.store, app.clock);
    try {
      const made = await findClaim(app.store.db, own.organization_id, own.claim_key);
      if (!made) {
        // The claim may be lost in a power failure: no effect is committed before it.
        if ((await app.store.write((trx) => insertClaim(trx, own), 'soon')) > 0) return own;
        continue;
      }
      if (made.holder === null) return made;
      if (made.fingerprint !== own.fingerprint) throw otherContent();
      if (await takesOver(app, made, own)) return own;
      if (app.clock.elapsed() >= end) {
        throw conflict('is still in progress: repeat the request later');
      }
      await change.done;
    } finally {
      change.stop();
    }
  }
}

/**
 * Takes over the key of a crashed request. Returns false if the lease has not ended, or a third
 * request was faster.
 * @throws ConflictError after an effect of the crashed request
 */
async function takesOver(app: App, made: ClaimRow, own: Held): Promise<boolean> {
  const now = app.clock.now();
  const ended = now - leaseDelayMs(app, leaseMs);
  if (made.lease_until === null || made.lease_until > ended) return false;
  if (made.took_effect !== null) throw conflict(unanswered);
  own.lease_until = now + leaseMs;
  own.created_at = now;
  return (await app.store.write((trx) => takeOverClaim(trx, own, ended))) > 0;
}

function newClaim(app: App, caller: Caller, { key, fingerprint }: KeyedRequest): Held {
  const now = app.clock.now();
  return {
    organization_id: caller.organizationId,
    claim_key: claimKeyOf(caller, key),
    fingerprint: fingerprint ?? '',
    message_id: '',
    response: '',
    created_at: now,
    holder: newToken(app.random),
    lease_until: now + leaseMs,
    took_effect: null,
  };
}

/** Returns a promise that resolves at the next commit of any process, or after a second. */
function nextChange(store: Store, clock: App['clock']): { done: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(lookEachMs, resolve);
  const ignore = store.onChange(resolve);
  return {
    done: promise,
    stop() {
      cancel();
      ignore();
    },
  };
}

async function runHeld<Answer>(
  app: App,
  way: Pick<Doorway, 'shownOnce'>,
  held: Held,
  asked: KeyedRequest,
  run: () => Promise<Answer>,
): Promise<Answer> {
  let isOver = false;
  const mark = async (trx: Parameters<typeof markClaim>[0]) => {
    // Work that outlives the request, such as a loop that it started, does not mark the claim.
    if (isOver) return;
    if ((await markClaim(trx, held)) === 0) throw conflict('was taken over by a later request');
  };
  const endLease = keepLease(app, {
    leaseMs,
    renew: (until) =>
      withoutJoining(() => app.store.write((trx) => renewClaim(trx, held, until), 'quiet')),
    trouble: 'The lease of an idempotency key was not renewed',
  });
  try {
    const value = await joinEachWrite(mark, run);
    isOver = true;
    const fingerprint = asked.fingerprint ?? (await asked.digest());
    await settle(app, { ...held, fingerprint, ...keptOf(way, value) });
    return value;
  } catch (error) {
    isOver = true;
    await giveUp(app, held, error);
    throw error;
  } finally {
    endLease();
  }
}

/** Stores the answer. The effect is committed, so a failure here must not fail the request. */
async function settle(app: App, answered: Parameters<typeof answerClaim>[1]): Promise<void> {
  await app.store
    .write((trx) => answerClaim(trx, answered), 'soon')
    .catch((err: unknown) => app.log.warn({ err }, 'An answer was not kept for repeats'));
}

/**
 * Releases the key after a refusal (4xx), and after a failure (5xx) without an effect. After a
 * failure with an effect, the key stays: repeats get a 409.
 */
async function giveUp(app: App, held: Held, error: unknown): Promise<void> {
  const isRefusal = error instanceof ServiceError && error.status < 500;
  const kept: KeptAnswer = { lacks: 'end' };
  await app.store
    .write(async (trx) => {
      if (isRefusal) return releaseClaim(trx, held);
      if ((await releaseUnusedClaim(trx, held)) > 0) return;
      await answerClaim(trx, { ...held, response: JSON.stringify(kept) });
    }, 'soon')
    // If this fails, the lease releases the key when it ends.
    .catch((err: unknown) => app.log.warn({ err }, 'An idempotency key was not released'));
}

/** Returns the id and the stored form of an answer. */
function keptOf(
  { shownOnce = [] }: Pick<Doorway, 'shownOnce'>,
  answer: unknown,
): Pick<ClaimRow, 'message_id' | 'response'> {
  const { id } = (answer ?? {}) as { id?: unknown };
  const hasSecret = shownOnce.some((path) => valueAt(answer, path) != null);
  const whole: KeptAnswer = hasSecret ? { lacks: 'secret' } : { answer };
  const text = JSON.stringify(whole);
  const isTooLong = Buffer.byteLength(text) > mostAnswerBytes;
  const response = isTooLong ? JSON.stringify({ lacks: 'length' } satisfies KeptAnswer) : text;
  return { message_id: typeof id === 'string' ? id : '', response };
}

function valueAt(answer: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], answer);
}

const unanswered =
  'belongs to a request that took effect and has no answer: read the result before you repeat it';

/** Returns the answer to a repeated request. @throws ConflictError if it was not stored */
function repeated(claim: ClaimRow, fingerprint: string): unknown {
  if (claim.fingerprint !== fingerprint) throw otherContent();
  const made = claim.message_id === '' ? 'a change' : claim.message_id;
  if (claim.response === '') throw conflict(`made ${made}, which has been deleted`);
  const { answer, lacks } = fromJson<KeptAnswer>(claim.response);
  switch (lacks) {
    case 'secret':
      throw conflict(`made ${made}; its secret was shown once: rotate it`);
    case 'length':
      throw conflict(`made ${made}; its answer was too long to be kept: read it by its id`);
    case 'end':
      throw conflict(unanswered);
    default:
      return answer;
  }
}

function conflict(words: string): ConflictError {
  return new ConflictError(keyResource, `This Idempotency-Key ${words}`);
}

const keyResource = 'idempotency-key';

function otherContent(): ConflictError {
  return conflict('was used with different content: use a new key for a new request');
}
