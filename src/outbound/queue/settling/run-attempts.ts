// Counts attempts of campaign mail, so that a run can be held when a provider defers too many of
// them (src/run-ledger/counters.ts).
import type { Outcome, RemoteReply } from '../../../mail/smtp/outcome.ts';
import { findReplyRule } from '../../../mail/smtp/reply-rules/classify-reply.ts';
import { simulatedOutcome } from '../../../mail/smtp/route.ts';
import type { Db } from '../../../platform/store/db.ts';
import { countRunAttempt } from '../../../run-ledger/counters.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';

/**
 * Counts an attempt of a run's delivery. Skips simulator mail and faults of ours, which say nothing
 * about a provider.
 */
export function recordRunAttempt(
  trx: Db,
  { campaign_run_id: runId, email }: Pick<DeliveryRow, 'campaign_run_id' | 'email'>,
  outcome: Outcome,
  at: number,
): void {
  if (runId === null || outcome.kind === 'failed' || simulatedOutcome(email) !== null) return;
  const isDeferral = outcome.kind === 'deferred' && isForSender(outcome.reply);
  countRunAttempt(trx, { runId, at, deferral: isDeferral ? wordsOf(outcome.reply) : null });
}

/**
 * Tells whether a deferral is about our rate, reputation or content. Greylisting does not count:
 * servers greylist every sender.
 */
function isForSender(reply: RemoteReply): boolean {
  const rule = reply.code === null ? null : findReplyRule(reply);
  if (rule === null || rule.isWait === true) return false;
  return rule.isRateLimit === true || ['policy', 'blocked', 'spam'].includes(rule.errorCode);
}

function wordsOf({ code, enhancedCode, text }: RemoteReply): string {
  return [code, enhancedCode, text].filter((part) => part !== null && part !== '').join(' ');
}
