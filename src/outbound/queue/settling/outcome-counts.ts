// Counts accepted mail and outcomes: translates rows of the queue into observations of
// src/identity/reputation and into counters of campaign runs. Simulator mail counts as mail, but
// not for health. So do attempts of mail of the service, in a hidden organization.

import type { App } from '../../../core/app.ts';
import { recordHolds } from '../../../identity/domains/holds.ts';
import { countMail, type Observation } from '../../../identity/reputation/count.ts';
import { countHealth, type HealthObservation } from '../../../identity/reputation/health.ts';
import type { HealthTally } from '../../../identity/reputation/health-queries.ts';
import type { Tally } from '../../../identity/reputation/metrics.ts';
import { findSenderByEmail } from '../../../identity/senders/queries.ts';
import { simulatedOutcome } from '../../../mail/smtp/route.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import type { Db } from '../../../platform/store/db.ts';
import type { RunTally } from '../../../run-ledger/counter-queries.ts';
import { countRun } from '../../../run-ledger/counters.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import { readTraits, type TraitsOf, traitsOfMessages } from '../../messages/lists/traits.ts';
import { findMessageRow, type MessageRow } from '../../messages/queries.ts';

/** A delivery after the last attempt, with the facts that counters need. */
export interface EndedDelivery {
  delivery: DeliveryRow;
  fromEmail: string;
  end: 'sent' | 'bounced' | 'failed';
  isDelivered: boolean;
  isComplaint: boolean;
  /** Whether the outcome proves that the address does not exist. */
  isHardBounce: boolean;
  /** Whether a rule of ours ended the delivery, and not a reply of a remote server. */
  isOwnFault: boolean;
}

/** Parts of a late outcome that are counted (late-outcome.ts). */
interface Report {
  kind: 'delivered' | 'bounced' | 'complained';
  /** Whether the bounce proves that the address does not exist. */
  isHard?: boolean;
}

/** Adds the counts of each delivery to the statistics of mail. */
async function countCopies<Row extends DeliveryRow>(
  app: App,
  trx: Db,
  rows: readonly Row[],
  countsOf: (row: Row) => Partial<Tally>,
): Promise<void> {
  const traitsOf = await readTraits(app, trx, rows);
  await countMail(
    app,
    trx,
    rows.map((row) => observe(row, traitsOf, countsOf(row))),
  );
}

function observe(delivery: DeliveryRow, traitsOf: TraitsOf, counts: Partial<Tally>): Observation {
  const { organization_id: organizationId, created_at: acceptedAt, domain } = delivery;
  return { organizationId, acceptedAt, traits: traitsOf(delivery.message_id, domain), counts };
}

/** Adds the counts of each delivery to the campaign run of the delivery, if it has a run. */
function countRuns<Row extends { campaign_run_id: string | null }>(
  trx: Db,
  rows: readonly Row[],
  countsOf: (row: Row) => Partial<RunTally>,
): void {
  for (const row of rows) {
    if (row.campaign_run_id !== null) countRun(trx, row.campaign_run_id, countsOf(row));
  }
}

/** Counts accepted mail. Blocked deliveries count as failed at once. */
export async function countAccepted(
  app: App,
  trx: Db,
  drafts: readonly {
    message: MessageRow;
    senderId: string | null;
    deliveries: readonly DeliveryRow[];
  }[],
): Promise<void> {
  const traitsOf = await traitsOfMessages(
    app,
    trx,
    drafts.map(({ message, senderId }) => ({ ...message, senderId })),
  );
  const observations = drafts.flatMap(({ deliveries }): Observation[] =>
    deliveries.map((row, index) =>
      observe(row, traitsOf, {
        accepted: index === 0 ? 1 : 0,
        emails: 1,
        failed: row.status === 'failed' ? 1 : 0,
      }),
    ),
  );
  await countMail(app, trx, observations);
  for (const { deliveries } of drafts) countRuns(trx, deliveries, failedCount);
}

function failedCount({ status }: DeliveryRow): Partial<RunTally> {
  return { failed: status === 'failed' ? 1 : 0 };
}

/** Counts the ends of a batch of attempts, and judges the health of their senders. */
export async function countEnded(
  app: App,
  trx: Db,
  ended: readonly EndedDelivery[],
): Promise<void> {
  if (ended.length === 0) return;
  const traitsOf = await readTraits(
    app,
    trx,
    ended.map(({ delivery }) => delivery),
  );
  await countMail(
    app,
    trx,
    ended.map(({ delivery, end, isDelivered, isComplaint }) =>
      observe(delivery, traitsOf, {
        attempted: 1,
        [end]: 1,
        delivered: isDelivered ? 1 : 0,
        complained: isComplaint ? 1 : 0,
      }),
    ),
  );
  const telling = ended.filter(
    ({ delivery, isOwnFault }) =>
      !isOwnFault &&
      simulatedOutcome(delivery.email) === null &&
      delivery.organization_id !== serviceOrganizationId,
  );
  countEndsOfRuns(trx, ended, telling);
  const identities = new Map<string, string | null>();
  const observations: HealthObservation[] = [];
  for (const { delivery, fromEmail, isHardBounce, isComplaint } of telling) {
    const counts = {
      attempted: 1,
      hard_bounced: isHardBounce ? 1 : 0,
      complained: isComplaint ? 1 : 0,
    };
    observations.push(await recordHealth(trx, identities, delivery, fromEmail, counts));
  }
  await recordHolds(app, trx, await countHealth(app, trx, observations));
}

function countEndsOfRuns(
  trx: Db,
  ended: readonly EndedDelivery[],
  telling: readonly EndedDelivery[],
): void {
  for (const { delivery, end, isDelivered, isComplaint } of ended) {
    const counts = { delivered: isDelivered ? 1 : 0, complained: isComplaint ? 1 : 0 };
    countRuns(trx, [delivery], () => ({ ...counts, [end]: 1 }));
  }
  for (const { delivery, isHardBounce, isComplaint } of telling) {
    const health = { hard_bounced: isHardBounce ? 1 : 0, complaints: isComplaint ? 1 : 0 };
    countRuns(trx, [delivery], () => ({ ...health, attempted: 1 }));
  }
}

/**
 * Returns the observation for the health counts. It names the From address only for sender
 * identities, because the number of addresses is unlimited.
 */
async function recordHealth(
  trx: Db,
  identities: Map<string, string | null>,
  delivery: DeliveryRow,
  fromEmail: string,
  counts: Partial<HealthTally>,
): Promise<HealthObservation> {
  const { organization_id: organizationId, sender_domain: fromDomain } = delivery;
  const folded = foldAddress(fromEmail);
  const key = `${organizationId} ${folded}`;
  let sender = identities.get(key);
  if (sender === undefined) {
    sender = (await findSenderByEmail(trx, organizationId, folded)) ? folded : null;
    identities.set(key, sender);
  }
  return { organizationId, sender, fromDomain, counts };
}

/** Counts deliveries that are assumed delivered, as their relay reported no bounce. */
export async function countConfirmed(
  app: App,
  trx: Db,
  rows: readonly DeliveryRow[],
): Promise<void> {
  await countCopies(app, trx, rows, () => ({ delivered: 1 }));
  countRuns(trx, rows, () => ({ delivered: 1 }));
}

/** Counts deliveries that left the queue without an attempt, and so without an outcome. */
export async function countDropped(app: App, trx: Db, rows: readonly DeliveryRow[]): Promise<void> {
  await countCopies(app, trx, rows, () => ({ failed: 1 }));
  countRuns(trx, rows, () => ({ failed: 1 }));
}

/** Counts reports that changed deliveries; each row as it is after the report. */
export async function countLate(
  app: App,
  trx: Db,
  moved: readonly { row: DeliveryRow; outcome: Report }[],
): Promise<void> {
  if (moved.length === 0) return;
  const traitsOf = await readTraits(
    app,
    trx,
    moved.map(({ row }) => row),
  );
  const mail = moved.map(({ row, outcome }) => {
    const wasDelivered = outcome.kind !== 'delivered' && row.delivered_at !== null;
    const counts = lateCounts(outcome, wasDelivered);
    countRuns(trx, [row], () => counts);
    return observe(row, traitsOf, counts);
  });
  await countMail(app, trx, mail);
  const health: HealthObservation[] = [];
  for (const { row, outcome } of moved) {
    const isHardBounce = outcome.kind === 'bounced' && outcome.isHard === true;
    const isComplaint = outcome.kind === 'complained';
    if (!(isHardBounce || isComplaint) || simulatedOutcome(row.email) !== null) continue;
    countRuns(trx, [row], () => ({
      hard_bounced: isHardBounce ? 1 : 0,
      complaints: isComplaint ? 1 : 0,
    }));
    const message = await findMessageRow(trx, row.message_id);
    if (!message) continue;
    const counts = { hard_bounced: isHardBounce ? 1 : 0, complained: isComplaint ? 1 : 0 };
    health.push(await recordHealth(trx, new Map(), row, message.from_email, counts));
  }
  await recordHolds(app, trx, await countHealth(app, trx, health));
}

/**
 * Returns the counts of a report. A bounce takes the delivery back; a complaint proves a delivery.
 */
function lateCounts(
  { kind }: Report,
  wasDelivered: boolean,
): Partial<Pick<RunTally, 'delivered' | 'bounced' | 'complained'>> {
  if (kind === 'delivered') return { delivered: 1 };
  if (kind === 'complained') return { complained: 1, delivered: wasDelivered ? 0 : 1 };
  return { bounced: 1, delivered: wasDelivered ? -1 : 0 };
}
