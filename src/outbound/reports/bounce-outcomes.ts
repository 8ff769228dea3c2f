// Outcomes of a bounce for the deliveries that the return path names.
import type { App } from '../../core/app.ts';
import type { BounceAction, BouncedRecipient } from '../../mail/parse/bounce/bounced-recipient.ts';
import { refusedBehind } from '../../mail/parse/bounce/named-address.ts';
import { type MemberRefusal, recordMemberRefusals } from '../../people/blocks/member-refusals.ts';
import type { Db } from '../../platform/store/db.ts';
import { type DeliveryRow, findDeliveries, findDelivery } from '../deliveries/queries.ts';
import { applyLateOutcomes, type LateOutcome } from '../queue/settling/late-outcome.ts';
import type { ReportMail } from './queries.ts';
import { copiesOf, meantBy, type ReportedCopies } from './reported-copies.ts';

/** Result of reading a report, for the log: ids and counts, no address. */
export interface ReportEnd {
  /** `ignored`: readable, but about no delivery or domain of ours, or beyond a limit. */
  result: 'applied' | 'unproven' | 'ignored' | 'unreadable';
  messageId?: string;
  /** Number of deliveries with a new status. */
  deliveries?: number;
  /** Our domain, and the number of messages, of a DMARC report. */
  domain?: string;
  messages?: number;
}

/** Applies the effects of a report that has been read. */
export type Apply = (trx: Db) => Promise<ReportEnd>;

export const unreadable: ReportEnd = { result: 'unreadable' };

/**
 * Reads a bounce, and returns the function that applies it.
 * @throws CapacityError if the parse worker is full.
 */
export async function readBounceOutcomes(app: App, report: ReportMail): Promise<Apply> {
  const options = { envelopeFrom: report.envelope_from };
  const bounce = await app.mime.readReport('bounce', report.raw, options);
  return async (trx) => {
    if (!bounce) return unreadable;
    const reported = await reportedCopies(trx, report);
    if (!reported) return { result: 'ignored' };
    const ends = endsOf(bounce.recipients, reported);
    await recordMemberRefusals(app, trx, ends.flatMap(memberRefusalOf));
    const late = ends.flatMap(({ delivery, outcome }) => (outcome ? [{ delivery, outcome }] : []));
    const deliveries = await applyLateOutcomes(app, trx, late);
    return { result: 'applied', ...messageOf(ends), deliveries };
  };
}

function messageOf([first]: readonly ReportedEnd[]): { messageId?: string } {
  return first ? { messageId: first.delivery.message_id } : {};
}

/** Result of a report for a delivery, from all groups of the report together. */
interface ReportedEnd {
  delivery: DeliveryRow;
  /** Null if the report does not change the delivery. */
  outcome: LateOutcome | null;
  /** A refused address behind the recipient, such as a list member; null if none was refused. */
  refusedAddress: string | null;
}

/**
 * Joins the groups of a report by delivery, because a list has a group for each address behind it.
 * A refusal of the recipient itself counts before refusals of addresses behind it. With
 * `delivered`, `relayed` or `expanded` (RFC 3464 2.3.3) in a group, the mail has reached the
 * recipient, in spite of later refusals.
 */
function endsOf(recipients: readonly BouncedRecipient[], reported: ReportedCopies): ReportedEnd[] {
  const groups = Map.groupBy(recipients, (recipient) => meant(recipient, reported));
  return [...groups].flatMap(([delivery, about]): ReportedEnd[] => {
    if (!delivery) return [];
    const failed = about
      .filter(({ action }) => action === 'failed')
      .map((recipient) => ({ recipient, behind: refusedBehind(recipient, delivery.email) }));
    const refused = failed.find(({ behind }) => behind === null) ?? failed[0];
    const refusedAddress = failed.find(({ behind }) => behind !== null)?.behind ?? null;
    const hasArrived = about.some(({ action }) => arrivals.includes(action));
    const isDelivered = about.some(({ action }) => action === 'delivered') || refused !== undefined;
    if (hasArrived) {
      return [{ delivery, outcome: isDelivered ? { kind: 'delivered' } : null, refusedAddress }];
    }
    if (!refused) return [];
    return [{ delivery, outcome: bounceOf(refused.recipient, refused.behind), refusedAddress }];
  });
}

const arrivals: readonly BounceAction[] = ['delivered', 'relayed', 'expanded'];

function memberRefusalOf({ delivery, refusedAddress }: ReportedEnd): MemberRefusal[] {
  if (refusedAddress === null) return [];
  const { organization_id: organizationId, email, id: deliveryId } = delivery;
  return [{ organizationId, email, deliveryId }];
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

function bounceOf(
  { isHard, errorCode, code, enhancedCode, text, remoteMta }: BouncedRecipient,
  behind: string | null,
): LateOutcome {
  return {
    kind: 'bounced',
    errorCode: errorCode ?? 'unknown',
    isHard: isHard && behind === null,
    ...(behind !== null && { refusedAddress: behind }),
    code,
    enhancedCode,
    text,
    remoteMta,
  };
}
