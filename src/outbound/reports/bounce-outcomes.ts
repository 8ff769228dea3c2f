// Outcomes of a bounce for the deliveries that its return path names.
import type { App } from '../../core/app.ts';
import type { BouncedRecipient } from '../../mail/parse/bounce/bounced-recipient.ts';
import type { Db } from '../../platform/store/db.ts';
import { type DeliveryRow, findDeliveries, findDelivery } from '../deliveries/queries.ts';
import { applyLateOutcomes, type LateOutcome } from '../queue/late-outcome.ts';
import type { ReportMail } from './queries.ts';
import { copiesOf, meantBy, type ReportedCopies } from './reported-copies.ts';

/** Applies a report that has been read. */
export type Apply = (trx: Db) => Promise<void>;

/** Reads a bounce. @throws CapacityError without room to read it now. */
export async function readBounceOutcomes(app: App, report: ReportMail): Promise<Apply> {
  const options = { envelopeFrom: report.envelope_from };
  const bounce = await app.mime.readReport('bounce', report.raw, options);
  return async (trx) => {
    const reported = bounce && (await reportedCopies(trx, report));
    if (!reported) return;
    const late = bounce.recipients.flatMap((recipient) => {
      const outcome = outcomeOf(recipient);
      const delivery = outcome && meant(recipient, reported);
      return delivery ? [{ delivery, outcome }] : [];
    });
    await applyLateOutcomes(app, trx, late);
  };
}

async function reportedCopies(
  trx: Db,
  { delivery_id: deliveryId, transaction_id: transaction }: ReportMail,
): Promise<ReportedCopies | null> {
  if (deliveryId === null) return null;
  const first = await findDelivery(trx, deliveryId);
  if (!first) return null;
  const siblings = await findDeliveries(trx, [first.message_id]);
  return copiesOf({ deliveryId, transaction: transaction ?? deliveryId }, siblings);
}

function meant(
  { email, originalEmail }: BouncedRecipient,
  reported: ReportedCopies,
): DeliveryRow | undefined {
  return meantBy(
    [originalEmail, email].filter((one) => one !== null),
    reported,
  );
}

function outcomeOf(recipient: BouncedRecipient): LateOutcome | null {
  const { action, isHard, errorCode, code, enhancedCode, text, remoteMta } = recipient;
  if (action === 'delivered') return { kind: 'delivered' };
  if (action !== 'failed') return null;
  return {
    kind: 'bounced',
    errorCode: errorCode ?? 'unknown',
    isHard,
    code,
    enhancedCode,
    text,
    remoteMta,
  };
}
