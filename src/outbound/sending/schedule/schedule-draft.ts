// Turns a draft into a scheduled draft: pending deliveries are due at the scheduled time, and join
// no queue before. Writes nothing.
import type { App } from '../../../core/app.ts';
import { overallStatus } from '../../deliveries/status.ts';
import { presentMessage } from '../../messages/present.ts';
import { expiryOf } from '../../queue/settling/retry.ts';
import type { Draft } from '../draft.ts';

/**
 * Returns the draft to be sent at `scheduledFor` (ms since 1970), if the API key is then valid.
 * Deliveries that have ended (blocked addresses) stay ended.
 */
export function scheduledDraft(
  app: App,
  draft: Draft,
  scheduledFor: number,
  keyId: string | null,
): Draft {
  const deliveries = draft.deliveries.map((row) =>
    row.status === 'pending'
      ? {
          ...row,
          status: 'scheduled' as const,
          due_at: scheduledFor,
          queued_at: null,
          expires_at: expiryOf(app.config.delivery.retry, scheduledFor),
        }
      : row,
  );
  const message = {
    ...draft.message,
    scheduled_for: scheduledFor,
    scheduling_key_id: keyId,
    status: overallStatus(deliveries.map(({ status }) => status)),
  };
  const presented = presentMessage(message, draft.recipients, deliveries);
  return { ...draft, message, deliveries, presented };
}
