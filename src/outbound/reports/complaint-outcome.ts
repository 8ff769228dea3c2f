// Outcome of a complaint: a late outcome for the delivery of the proven copy. An unproven complaint
// is only shown in the timeline of the message.
import type { App } from '../../core/app.ts';
import { countEventRows } from '../../history/events/queries.ts';
import { recordTimeline } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import { deliveryEvent } from '../deliveries/delivery-event.ts';
import { findMessageRow, lockMessages } from '../messages/queries.ts';
import { applyLateOutcome } from '../queue/settling/late-outcome.ts';
import { type Apply, unreadable } from './bounce-outcomes.ts';
import {
  type Doubt,
  type JudgedComplaint,
  judgeComplaint,
  provenMessages,
} from './complaint-proof.ts';
import type { ReportMail } from './queries.ts';

/**
 * Most `complained` events in a timeline. Beyond it, unproven complaints are not shown: anybody can
 * send them, and more of them carry no information.
 */
const mostShown = 10;

const doubts: Readonly<Record<Doubt, string>> = {
  'no-proof': 'The report shows neither our signature nor our token',
  'not-their-copy': 'The report does not prove a complaint of this recipient',
  ended: 'The report came more than two weeks after the last possible attempt',
};

/**
 * Reads a complaint, and returns the function that applies it.
 * @throws CapacityError if the parse worker is full.
 */
export async function readComplaintOutcome(app: App, report: ReportMail): Promise<Apply> {
  const options = { envelopeFrom: report.envelope_from };
  const read = await app.mime.readReport('complaint', report.raw, options);
  if (!read) return async () => unreadable;
  const signed = await provenMessages(app, report.organization_id, read.copy.signatures);
  return async (trx) => {
    const judged = await judgeComplaint(app, trx, report, read, signed);
    if (!judged) return { result: 'ignored' };
    const { feedbackType } = read.complaint;
    if (!judged.isProven) {
      await showUnproven(app, trx, judged, feedbackType);
      return { result: 'unproven', messageId: judged.messageId };
    }
    const { delivery } = judged;
    const outcome = { kind: 'complained', feedbackType } as const;
    const deliveries = (await applyLateOutcome(app, trx, delivery, outcome)) ? 1 : 0;
    return { result: 'applied', messageId: delivery.message_id, deliveries };
  };
}

/** Records a `complained` event without changing the status. */
async function showUnproven(
  app: App,
  trx: Db,
  { doubt, messageId, delivery }: Extract<JudgedComplaint, { isProven: false }>,
  feedbackType: string,
): Promise<void> {
  await lockMessages(trx, [messageId]);
  const message = await findMessageRow(trx, messageId);
  if (!message || (await countEventRows(trx, messageId, 'complained')) >= mostShown) return;
  const now = app.clock.now();
  const reason = `${doubts[doubt]}: it changes no status, blocks nobody and counts toward no pause.`;
  const metadata = { feedbackType, unproven: true, reason };
  const event = delivery
    ? deliveryEvent(delivery, 'complained', message.status, now, metadata)
    : {
        organizationId: message.organization_id,
        messageId,
        recipientId: null,
        eventType: 'complained' as const,
        status: message.status,
        timestamp: now,
        metadata,
      };
  await recordTimeline(app, trx, [event]);
}
