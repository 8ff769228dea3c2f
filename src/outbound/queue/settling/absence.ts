// Absent names: DNS says that the domain or mail host does not exist. A zone can lose records for
// minutes by mistake, so the answer counts only after an hour of the same answer.
import { absenceOf } from '../../../mail/smtp/destination.ts';
import type { Outcome, RemoteReply } from '../../../mail/smtp/outcome.ts';
import { fromJson } from '../../../platform/store/db.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import type { Attempt } from '../../messages/schema.ts';

const countsAfterMs = 3_600_000;
/** Shortest wait between two questions: the 20 stored attempts then cover an hour. */
const shortestWaitMs = 240_000;

type Attempted = Pick<DeliveryRow, 'attempts'>;

/** Returns the time since which attempts find the name absent; `now` at the first attempt. */
function absentSince({ attempts }: Attempted, now: number): number {
  const earlier = fromJson<Attempt[]>(attempts) ?? [];
  const after = earlier.findLastIndex((one) => absenceOf(one) === null) + 1;
  const first = earlier[after];
  return first ? Date.parse(first.at) : now;
}

/** Returns the outcome of an attempt: `bounced` if the name has been absent for an hour. */
export function confirmAbsence(outcome: Outcome, delivery: Attempted, now: number): Outcome {
  const enhancedCode = absenceOf(outcome.reply);
  if (outcome.kind !== 'deferred' || enhancedCode === null) return outcome;
  if (now - absentSince(delivery, now) < countsAfterMs) return outcome;
  return { ...outcome, kind: 'bounced', reply: { ...outcome.reply, enhancedCode } };
}

/**
 * Returns the wait after an attempt in ms: `scheduledMs`, the wait by the retry schedule. For an
 * absent name at most the rest of the hour, but at least 4 minutes.
 */
export function waitAfter(
  reply: RemoteReply,
  delivery: Attempted,
  scheduledMs: number,
  now: number,
): number {
  if (absenceOf(reply) === null) return scheduledMs;
  const leftMs = absentSince(delivery, now) + countsAfterMs - now;
  return Math.max(shortestWaitMs, Math.min(scheduledMs, leftMs));
}
