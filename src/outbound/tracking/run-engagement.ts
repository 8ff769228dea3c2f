// Engagement with campaign mail: the first open and click of a person, in the ledger and the
// counters of the run (src/run-ledger).

import type { Db } from '../../platform/store/db.ts';
import { countRun } from '../../run-ledger/counters.ts';
import { markEngaged, type RecipientMark } from '../../run-ledger/queries.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import { findRecipients } from '../messages/queries.ts';

/**
 * A delivery of a run, with the time of the first open or click that was just recorded; else null.
 */
export interface FirstEngagement {
  delivery: Pick<DeliveryRow, 'message_id' | 'recipient_id' | 'campaign_run_id'>;
  openedAt: number | null;
  clickedAt: number | null;
}

/** Counts first engagements and marks them in the ledger. The caller has locked the messages. */
export async function recordFirstEngagements(
  trx: Db,
  engagements: readonly FirstEngagement[],
): Promise<void> {
  if (engagements.length === 0) return;
  const messageIds = [...new Set(engagements.map(({ delivery }) => delivery.message_id))];
  const contactOf = new Map(
    (await findRecipients(trx, messageIds)).map(({ id, contact_id }) => [id, contact_id]),
  );
  const marks: RecipientMark[] = [];
  for (const { delivery, openedAt, clickedAt } of engagements) {
    const { campaign_run_id: runId, recipient_id, message_id } = delivery;
    if (runId === null) continue;
    countRun(trx, runId, {
      opened: openedAt === null ? 0 : 1,
      clicked: clickedAt === null ? 0 : 1,
    });
    const contactId = contactOf.get(recipient_id) ?? null;
    const first = { opened_at: openedAt, clicked_at: clickedAt };
    if (contactId !== null)
      marks.push({ run_id: runId, contact_id: contactId, message_id, ...first });
  }
  // Marks rows in the order in which the deletion of a contact locks them.
  marks.sort((one, other) => (one.run_id < other.run_id ? -1 : 1));
  for (const mark of marks) await markEngaged(trx, mark);
}
