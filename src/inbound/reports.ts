// Reads the bounces, complaints and DMARC reports that came back for our own sends, at our own pace
// after their 250 (contract 8). What they say goes to src/outbound/late-outcome.ts, of DMARC reports
// to dmarc/dmarc-reports.ts. A report that names nothing
// of ours, or says nothing that can be read, changes nothing.
import { foldAddress } from '../address.ts';
import type { App } from '../app.ts';
import { type DeliveryRow, findDeliveries, findDelivery } from '../messages/delivery-queries.ts';
import { findMessageRow } from '../messages/queries.ts';
import { applyLateOutcomes, type LateOutcome, type LateReport } from '../outbound/late-outcome.ts';
import { readReturnPath } from '../outbound/return-path.ts';
import type { Db } from '../store/db.ts';
import { readBounce } from './bounce/bounce-report.ts';
import type { BouncedRecipient } from './bounce/bounced-recipient.ts';
import { readComplaint } from './bounce/complaint.ts';
import { storeDmarcReport } from './dmarc/dmarc-reports.ts';
import type { ParsedMail } from './parsed-mail.ts';
import { deleteReport, nextReportAt, type ReportRow, takeReports } from './queries.ts';

const batch = 20;
/** Reading takes 2 s at the most; after this another try begins. */
const leaseMs = 60_000;
const mostTries = 5;
const longestSleepMs = 60_000;
const troublePauseMs = 1_000;
const ownMessageId = /^<(msg_[0-9a-hjkmnp-tv-z]{16,24})@[^>]+>$/;

export interface ReportReader {
  start(): void;
  stop(): Promise<void>;
  /** Reads what is due now; for tests and the loop. Returns how many were read. */
  readDue(): Promise<number>;
}

/** The reader of one daemon. */
export function createReportReader(app: App): ReportReader {
  let stopped = false;
  let wake: () => void = () => {};
  let isAwake = false;
  let loop: Promise<void> = Promise.resolve();
  let unsubscribe: () => void = () => {};

  const readDue = async (): Promise<number> => {
    const now = app.clock.now();
    const dueAt = await nextReportAt(app.store.db);
    if (dueAt === null || dueAt > now) return 0;
    const rows = await app.store.write((trx) =>
      takeReports(trx, { now, leaseUntil: now + leaseMs, limit: batch }),
    );
    for (const row of rows) await readReport(app, row);
    return rows.length;
  };

  const run = async () => {
    while (!stopped) {
      isAwake = false;
      let dueAt: number | null = null;
      try {
        dueAt = await nextReportAt(app.store.db);
        if (dueAt !== null && dueAt <= app.clock.now() && (await readDue()) > 0) continue;
      } catch (error) {
        app.log.error({ err: error }, 'reports cannot be read now: trying again');
        dueAt = app.clock.now();
      }
      if (isAwake || stopped) continue;
      const untilDue = dueAt === null ? longestSleepMs : dueAt - app.clock.now();
      // What is due and was not read: the store is in trouble, or another daemon has it.
      const sleepMs = untilDue > 0 ? Math.min(untilDue, longestSleepMs) : troublePauseMs;
      await new Promise<void>((resolve) => {
        const cancel = app.clock.after(sleepMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  };
  return {
    start() {
      unsubscribe = app.store.onChange(() => {
        isAwake = true;
        wake();
      });
      loop = run();
    },
    async stop() {
      stopped = true;
      unsubscribe();
      wake();
      await loop;
    },
    readDue,
  };
}

async function readReport(app: App, row: ReportRow): Promise<void> {
  try {
    const apply = row.kind === 'dmarc' ? await readDmarc(app, row) : await readLate(app, row);
    await app.store.write(async (trx) => {
      await apply(trx);
      await deleteReport(trx, row.id);
    });
  } catch (error) {
    app.log.error({ err: error, reportId: row.id, tries: row.tries }, 'a report could not be read');
    if (row.tries >= mostTries) await app.store.write((trx) => deleteReport(trx, row.id));
  }
}

/** What a report changes, once it has been read. */
type Apply = (trx: Db) => Promise<void>;

async function readDmarc(app: App, { raw, organization_id }: ReportRow): Promise<Apply> {
  const summary = await app.mime.readDmarc(raw);
  return async (trx) => {
    if (summary) await storeDmarcReport(app, trx, organization_id, summary);
  };
}

async function readLate(app: App, row: ReportRow): Promise<Apply> {
  const mail = await app.mime.parse(row.raw, { envelopeFrom: row.envelope_from });
  return async (trx) => {
    await applyLateOutcomes(app, trx, await findings(app, trx, row, mail));
  };
}

function findings(app: App, trx: Db, row: ReportRow, mail: ParsedMail): Promise<LateReport[]> {
  return row.kind === 'bounce'
    ? bounceFindings(trx, row, mail)
    : complaintFindings(app, trx, row, mail);
}

async function bounceFindings(trx: Db, row: ReportRow, mail: ParsedMail): Promise<LateReport[]> {
  const report = readBounce(mail);
  const named = row.delivery_id === null ? undefined : await findDelivery(trx, row.delivery_id);
  if (!report || !named) return [];
  const siblings = await findDeliveries(trx, [named.message_id]);
  return report.recipients.flatMap((recipient) => {
    const outcome = outcomeOf(recipient);
    const delivery = deliveryOf(recipient, siblings, named);
    return outcome && delivery ? [{ delivery, outcome }] : [];
  });
}

/**
 * Whom a bounce means: the recipient it names, be it after an alias of theirs. Where it names none of
 * ours, the return path speaks only for a message that went to nobody else.
 */
function deliveryOf(
  { email, originalEmail }: BouncedRecipient,
  siblings: readonly DeliveryRow[],
  named: DeliveryRow,
): DeliveryRow | undefined {
  const told = [originalEmail, email].flatMap((one) => (one === null ? [] : foldAddress(one)));
  const found = siblings.find((row) => told.includes(foldAddress(row.email)));
  return found ?? (siblings.length === 1 ? named : undefined);
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

async function complaintFindings(
  app: App,
  trx: Db,
  row: ReportRow,
  mail: ParsedMail,
): Promise<LateReport[]> {
  const complaint = readComplaint(mail);
  if (!complaint) return [];
  const candidates = await deliveriesComplainedOf(app, trx, complaint);
  const own = candidates.filter((one) => one.organization_id === row.organization_id);
  const told = complaint.recipients.map(foldAddress);
  const meant = own.filter((one) => told.includes(foldAddress(one.email)));
  const delivery = meant[0] ?? (own.length === 1 ? own[0] : undefined);
  if (!delivery) return [];
  const { feedbackType } = complaint;
  return [{ delivery, outcome: { kind: 'complained', feedbackType } }];
}

/** The deliveries of the message that a complaint is about: by our return path, or by our id. */
async function deliveriesComplainedOf(
  app: App,
  trx: Db,
  {
    tokenAddresses,
    originalMailFrom,
    originalMessageId,
  }: NonNullable<ReturnType<typeof readComplaint>>,
): Promise<DeliveryRow[]> {
  for (const address of [...tokenAddresses, originalMailFrom ?? '']) {
    const deliveryId = readReturnPath(app, address);
    const named = deliveryId === null ? undefined : await findDelivery(trx, deliveryId);
    if (named) return findDeliveries(trx, [named.message_id]);
  }
  const messageId = ownMessageId.exec(originalMessageId ?? '')?.[1];
  if (messageId === undefined || !(await findMessageRow(trx, messageId))) return [];
  return findDeliveries(trx, [messageId]);
}
