// The line that an ended attempt writes to the mail log: recipient, host, reply and duration. The
// timeline is written by settle.ts.
import type { App } from '../../../core/app.ts';
import { mailLogOf } from '../../../platform/runtime/mail-log.ts';
import type { Settlement } from '../settling/settle.ts';

/** Limit for a reply in the log; the delivery keeps all of it. */
const mostReplyCharacters = 200;

/**
 * Writes a line for each recipient. `queueMs` counts from acceptance or from the scheduled time.
 */
export function logAttempts(app: App, settlements: readonly Settlement[]): void {
  const log = mailLogOf(app);
  if (!log) return;
  const now = app.clock.now();
  for (const { delivery, outcome, routeKind } of settlements) {
    const { kind, reply, trace } = outcome;
    log.info(
      {
        messageId: delivery.message_id,
        recipient: delivery.email,
        outcome: kind,
        route: routeKind,
        host: trace.host,
        code: reply.code,
        enhancedCode: reply.enhancedCode,
        attempt: delivery.attempt_count,
        durationMs: Math.round(trace.durationMs),
        queueMs: now - (delivery.queued_at ?? delivery.created_at),
        ...(kind !== 'sent' && {
          errorCode: outcome.errorCode,
          reply: reply.text.slice(0, mostReplyCharacters),
        }),
      },
      'attempt',
    );
  }
}
