// Reads the bounces, complaints and DMARC reports that came back for our own sends, at our own pace
// after their 250: one at a time, in the parse worker. What they say goes to
// src/queue/late-outcome.ts, of DMARC reports to dmarc/dmarc-reports.ts. Anybody may write one: it
// changes only what it proves to be about, and nothing where it cannot be read.
import type { App } from '../app.ts';
import { CapacityError } from '../errors.ts';
import { type Apply, readBounceOutcomes } from './bounce-outcomes.ts';
import { readComplaintOutcome } from './complaint-outcome.ts';
import { storeDmarcReport } from './dmarc/dmarc-reports.ts';
import {
  deleteReport,
  findReportMail,
  nextReportAt,
  type ReportKind,
  type ReportMail,
  type TakenReport,
  takeReports,
} from './queries.ts';

const batch = 20;
/** Reading takes 2 s at the most; after this another try begins. */
const leaseMs = 60_000;
const mostTries = 5;
const longestSleepMs = 60_000;
const troublePauseMs = 1_000;
const noDmarcReport = 'a mail to dmarc@ held no report that can be read: it was dropped';

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

async function readReport(app: App, taken: TakenReport): Promise<void> {
  try {
    const report = await findReportMail(app.store.db, taken.id);
    if (!report) return;
    const apply = await readers[report.kind](app, report);
    await app.store.write(async (trx) => {
      // Another daemon may have read it, where this one took longer than its lease.
      if (await deleteReport(trx, report.id)) await apply(trx);
    });
  } catch (error) {
    const { id, tries } = taken;
    app.log.error({ err: error, reportId: id, tries }, 'a report could not be read');
    // Want of room is no fault of the report.
    if (tries < mostTries || error instanceof CapacityError) return;
    await app.store.write((trx) => deleteReport(trx, id));
  }
}

const readers: Readonly<Record<ReportKind, (app: App, report: ReportMail) => Promise<Apply>>> = {
  bounce: readBounceOutcomes,
  complaint: readComplaintOutcome,
  dmarc: readDmarc,
};

async function readDmarc(app: App, { id, raw, organization_id }: ReportMail): Promise<Apply> {
  const summary = await app.mime.readReport('dmarc', raw);
  if (!summary) app.log.info({ reportId: id, organizationId: organization_id }, noDmarcReport);
  return async (trx) => {
    if (summary) await storeDmarcReport(app, trx, organization_id, summary);
  };
}
