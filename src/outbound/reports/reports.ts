// Reads the bounces, complaints and DMARC reports about our sends, in sequence and in the parse
// worker, after the 250 to their mail. Passes results to
// src/outbound/queue/settling/late-outcome.ts, and DMARC reports to dmarc/dmarc-reports.ts. Anybody
// can write a report: it changes only deliveries for which it has proof, and nothing if it cannot
// be read.
import type { App } from '../../core/app.ts';
import { CapacityError } from '../../platform/errors.ts';
import { mailLogOf } from '../../platform/runtime/mail-log.ts';
import { createDueLoop, type Pause, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import { keepLease, leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { type Apply, type ReportEnd, readBounceOutcomes, unreadable } from './bounce-outcomes.ts';
import { readComplaintOutcome } from './complaint-outcome.ts';
import { storeDmarcReport } from './dmarc/dmarc-reports.ts';
import {
  deleteReport,
  findReportMail,
  nextReportAt,
  type ReportKind,
  type ReportMail,
  renewReports,
  type TakenReport,
  takeReports,
} from './queries.ts';

const batch = 20;
/**
 * A crash delays reports by at most this time. Reading takes 2 s at most; after the lease, a failed
 * report is read again.
 */
const leaseMs = 60_000;
const mostTries = 5;
/** Pause after another daemon has leased all due reports. */
const othersPauseMs = 1_000;

export interface ReportReader {
  start(): void;
  stop(): Promise<void>;
  /** Reads up to 20 due reports; for tests and the loop. Returns the number of leased reports. */
  readDue(): Promise<number>;
}

/** Creates the loop of a daemon that reads received bounces, complaints and DMARC reports. */
export function createReportReader(app: App): ReportReader {
  const readDue = async (): Promise<number> => {
    const now = app.clock.now();
    const dueAt = await nextReportAt(app.store.db);
    const dueTo = now - leaseDelayMs(app, leaseMs);
    if (dueAt === null || dueAt > dueTo) return 0;
    const rows = await app.store.write((trx) =>
      takeReports(trx, { now: dueTo, leaseUntil: now + leaseMs, limit: batch }),
    );
    const waiting = new Set(rows.map(({ id }) => id));
    const endLease = keepLease(app, {
      leaseMs,
      renew: (until) => app.store.write((trx) => renewReports(trx, [...waiting], until), 'quiet'),
      trouble: 'the lease of reports was not renewed',
    });
    try {
      for (const row of rows) {
        await readReport(app, row);
        waiting.delete(row.id);
      }
    } finally {
      endLease();
    }
    return rows.length;
  };

  const step = async (): Promise<number | Pause> => {
    const first = (await nextReportAt(app.store.db)) ?? Infinity;
    const dueAt = first + leaseDelayMs(app, leaseMs);
    if (dueAt > app.clock.now()) return dueAt;
    return (await readDue()) > 0 ? 0 : { pauseMs: othersPauseMs };
  };

  const trouble = 'reports cannot be read now: trying again';
  const loop = createDueLoop(app, { name: 'reports', step, trouble, restMs: usualRestMs });
  return { start: loop.start, stop: loop.stop, readDue };
}

async function readReport(app: App, taken: TakenReport): Promise<void> {
  try {
    const report = await findReportMail(app.store.db, taken.id);
    if (!report) return;
    const apply = await readers[report.kind](app, report);
    const end = await app.store.write(async (trx) => {
      // Applies only a report that still exists: a second daemon may have been faster.
      return (await deleteReport(trx, report.id)) ? apply(trx) : null;
    });
    if (end) logReport(app, report, end);
  } catch (error) {
    const { id, tries } = taken;
    app.log.error({ err: error, reportId: id, tries }, 'a report could not be read');
    // A full parse worker never deletes the report, even at the last try.
    if (tries < mostTries || error instanceof CapacityError) return;
    await app.store.write((trx) => deleteReport(trx, id));
  }
}

const readers: Readonly<Record<ReportKind, (app: App, report: ReportMail) => Promise<Apply>>> = {
  bounce: readBounceOutcomes,
  complaint: readComplaintOutcome,
  dmarc: readDmarc,
};

async function readDmarc(app: App, { raw, organization_id }: ReportMail): Promise<Apply> {
  const summary = await app.mime.readReport('dmarc', raw);
  if (!summary) return async () => unreadable;
  const { domain, messages } = summary;
  return async (trx) => {
    const isStored = await storeDmarcReport(app, trx, organization_id, summary);
    // Leaves out the domain of an ignored report: anybody can have written it.
    return isStored ? { result: 'applied', domain, messages } : { result: 'ignored' };
  };
}

/** Writes a line to the log of mail, as for a received mail and an attempt. */
function logReport(app: App, { id, kind, organization_id }: ReportMail, end: ReportEnd): void {
  const facts = { reportId: id, organizationId: organization_id, kind, ...end };
  mailLogOf(app)?.info(facts, 'report');
}
