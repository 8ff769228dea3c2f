// Settles attempts, many in a transaction: status, next attempt or end, record of the attempt,
// and health of the endpoint.
//
//   a delivery is | event                                         | then
//   --------------+-----------------------------------------------+------------------------------------
//   waiting       | due, and room for the endpoint (claim.ts)     | claimed until the lease ends
//   claimed       | 2xx                                           | delivered
//   claimed       | a failure, attempts left                      | waiting: the schedule's time ± 20 %,
//                 |                                               | not before the Retry-After of a 429, 503
//   claimed       | a failure, none left                          | exhausted
//   claimed       | 410                                           | exhausted, the endpoint disabled
//   claimed       | a failure, the endpoint disabled meanwhile    | cancelled
//   claimed       | the lease ends, or the daemon stops           | waiting, due at once
//   waiting       | the endpoint is disabled (disable.ts)         | cancelled
//   any           | a redelivery (redeliver.ts)                   | the same
//
//   an endpoint is  | event                                       | then
//   ----------------+---------------------------------------------+----------------------------
//   active, well    | a failure                                   | active, failing since then
//   active, failing | a success                                   | active, well
//   active, failing | a failure after `disableAfterDays` of it    | disabled
//   active          | 410                                         | disabled
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { type Move, moveCounts } from '../deliveries/counters.ts';
import { insertAttempts, settleClaimed } from '../deliveries/delivery-queries.ts';
import { disableEndpoint } from '../endpoints/disable.ts';
import { lockEndpoints, setFailingSince } from '../endpoints/queries.ts';
import type { AttemptRow, DeliveryStatus, EndpointRow } from '../rows.ts';
import { type Attempted, attemptRow } from './post-attempt.ts';

const dayMs = 24 * 3600_000;
const jitter = 0.2;
/** Status by which a receiver asks never to post again (410). */
export const gone = 410;

/** Attempt of a delivery claimed by this daemon. */
export interface ClaimedAttempt extends Attempted {
  worker: string;
  /** End of the attempt, ms since 1970. */
  endedAt: number;
}

/** Endpoint disabled in a transaction, to be logged after the commit. */
export interface Disabled {
  endpoint: EndpointRow;
  reason: string;
}

/**
 * Settles attempts in the order in which they ended. Returns the endpoints that were disabled by
 * the outcomes. A delivery that a different daemon has claimed meanwhile does not change.
 */
export async function settle(
  app: App,
  trx: Db,
  attempts: readonly ClaimedAttempt[],
): Promise<Disabled[]> {
  const ids = [...new Set(attempts.map(({ delivery }) => delivery.endpoint_id))].sort();
  const endpoints = await lockEndpoints(trx, ids);
  const fates = judge(app, endpoints, attempts);
  const rows: AttemptRow[] = [];
  const moves: Move[] = [];
  // Rows are locked in the order of ids.
  for (const one of attempts.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1))) {
    const next = nextOf(app, one, fates.get(one.delivery.endpoint_id));
    if (!(await settleOne(trx, one, next))) continue;
    rows.push(attemptRow(app, one, 'automatic'));
    if (next.status !== 'pending') moves.push(moveOf(one, next.status));
  }
  await insertAttempts(trx, rows);
  const disabled: Disabled[] = [];
  for (const id of ids) {
    const fate = fates.get(id);
    if (!fate) continue;
    const { endpoint, since, reason } = fate;
    if (since !== endpoint.failing_since) await setFailingSince(trx, id, since);
    if (reason === null) continue;
    await disableEndpoint(app, trx, endpoint, reason);
    disabled.push({ endpoint, reason });
  }
  moveCounts(trx, moves);
  return disabled;
}

interface Fate {
  endpoint: EndpointRow;
  since: number | null;
  /** Reason to disable the endpoint; null to leave it active. */
  reason: string | null;
}

function judge(
  { config }: App,
  endpoints: ReadonlyMap<string, EndpointRow>,
  attempts: readonly ClaimedAttempt[],
): Map<string, Fate> {
  const fates = new Map<string, Fate>();
  for (const { delivery, outcome, endedAt } of attempts) {
    const id = delivery.endpoint_id;
    const endpoint = endpoints.get(id);
    if (!endpoint) continue;
    const fate = fates.get(id) ?? { endpoint, since: endpoint.failing_since, reason: null };
    fates.set(id, fate);
    // A late response to a delivery made before the endpoint was disabled shows nothing about the
    // time after it is enabled again.
    if (endpoint.status === 'disabled' || isOfBefore(endpoint, delivery.created_at)) continue;
    if (outcome.isSuccess) {
      fate.since = null;
      continue;
    }
    fate.since ??= endedAt;
    const { disableAfterDays } = config.webhooks;
    if (outcome.statusCode === gone) fate.reason ??= `it answered with status ${gone}`;
    else if (endedAt - fate.since >= disableAfterDays * dayMs) {
      fate.reason ??= `it failed for ${disableAfterDays} days without a success`;
    }
  }
  return fates;
}

/** Tells whether a delivery was made before the endpoint was disabled. */
export function isOfBefore({ cancel_before }: EndpointRow, madeAt: number): boolean {
  return cancel_before !== null && madeAt < cancel_before;
}

interface Next {
  status: DeliveryStatus;
  attemptCount: number;
  dueAt: number | null;
}

function nextOf(app: App, one: ClaimedAttempt, fate: Fate | undefined): Next {
  const { delivery, outcome } = one;
  const attemptCount = delivery.attempt_count + 1;
  const ended = (status: DeliveryStatus) => ({ status, attemptCount, dueAt: null });
  if (outcome.isSuccess) return ended('delivered');
  const dueAt = nextAttemptAt(app, attemptCount, one);
  if (dueAt === null || outcome.statusCode === gone) return ended('exhausted');
  const isOver =
    fate === undefined ||
    fate.reason !== null ||
    fate.endpoint.status === 'disabled' ||
    isOfBefore(fate.endpoint, delivery.created_at);
  return isOver ? ended('cancelled') : { status: 'pending', attemptCount, dueAt };
}

/**
 * Returns the time of the next attempt: by the schedule ± 20 %, and not before the Retry-After;
 * null at the end of the schedule.
 */
function nextAttemptAt(
  app: App,
  made: number,
  { outcome, endedAt }: ClaimedAttempt,
): number | null {
  const seconds = app.config.webhooks.retry.scheduleSeconds[made];
  if (seconds === undefined) return null;
  const factor = 1 + jitter * (2 * app.random.float() - 1);
  return Math.max(Math.round(endedAt + seconds * 1000 * factor), outcome.retryAt ?? 0);
}

function settleOne(trx: Db, one: ClaimedAttempt, next: Next): Promise<boolean> {
  const { delivery, worker, at, endedAt } = one;
  return settleClaimed(trx, {
    id: delivery.id,
    status: next.status,
    attempt_count: next.attemptCount,
    due_at: next.dueAt,
    last_attempt_at: at,
    updated_at: endedAt,
    worker,
  });
}

function moveOf({ delivery }: ClaimedAttempt, to: DeliveryStatus): Move {
  const { endpoint_id: endpointId, created_at: madeAt } = delivery;
  return { endpointId, madeAt, from: 'pending', to };
}
