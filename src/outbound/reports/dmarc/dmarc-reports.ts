// DMARC aggregate reports on our domains: stores reports sent to `dmarc@` at a return-path host,
// and lists them. Anybody can write there, so a report counts only for a domain of the addressed
// organization, for a plausible time, and up to a daily number. src/mail/parse/dmarc/dmarc-mail.ts
// reads the mail.

import { toPage } from '../../../core/api/pagination.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { timeOfAge } from '../../../core/clock/age.ts';
import { getDomainRows } from '../../../identity/domains/domains.ts';
import { selectDomainsNamed } from '../../../identity/domains/queries.ts';
import type { DmarcSource, DmarcSummary } from '../../../mail/parse/dmarc/dmarc-summary.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import * as queries from './dmarc-queries.ts';
import {
  type DmarcReportOutput,
  type DmarcReportPage,
  type DmarcReportQuery,
  mostDmarcDays,
} from './dmarc-schema.ts';

const dayMs = 86_400_000;
/** Tolerance for wrong clocks of reporters. A report further in the future is forged. */
const mostAheadMs = 2 * dayMs;
/**
 * Most reports of an organization in a day. A receiver sends a report for each domain and day; with
 * 200 sources it has 40 KB.
 */
const mostPerDay = 500;

/**
 * Tells whether a report covers a plausible time. RFC 7489 7.2.1 expects some hours to a day; up to
 * a week is accepted, not over 90 days ago or two days ahead.
 */
function isTimeOfReport({ beginsAt, endsAt }: DmarcSummary, now: number): boolean {
  const isRange = beginsAt <= endsAt && endsAt - beginsAt <= 7 * dayMs;
  return isRange && endsAt <= now + mostAheadMs && beginsAt >= now - mostDmarcDays * dayMs;
}

/**
 * Stores a report to an organization once, even if it arrives several times. Returns false and
 * stores nothing for a foreign domain, an implausible time, or above the daily limit. Deletes
 * reports older than 90 days.
 */
export async function storeDmarcReport(
  app: App,
  trx: Db,
  organizationId: string,
  summary: DmarcSummary,
): Promise<boolean> {
  const now = app.clock.now();
  const { domain, reporter, reportId, beginsAt, endsAt, messages, passed, failed } = summary;
  if (!isTimeOfReport(summary, now)) return false;
  if ((await selectDomainsNamed(trx, organizationId, [domain])).length === 0) return false;
  const before = await timeOfAge(app, mostDmarcDays * dayMs);
  await queries.deleteDmarcReportsBefore(trx, organizationId, before);
  const taken = await queries.countDmarcReportsSince(trx, organizationId, now - dayMs);
  if (taken >= mostPerDay) return false;
  await queries.insertDmarcReport(trx, {
    id: app.newId('dmarcReport'),
    organization_id: organizationId,
    domain,
    reporter,
    report_id: reportId,
    begins_at: beginsAt,
    ends_at: endsAt,
    messages,
    passed,
    failed,
    sources: JSON.stringify(summary.sources),
    created_at: now,
  });
  return true;
}

function toReport(row: queries.DmarcReportRow): DmarcReportOutput {
  const { id, domain, reporter, messages, passed, failed } = row;
  return {
    id,
    domain,
    reporter,
    reportId: row.report_id,
    beginsAt: isoTime(row.begins_at),
    endsAt: isoTime(row.ends_at),
    messages,
    passed,
    failed,
    sources: fromJson<DmarcSource[]>(row.sources) ?? [],
    createdAt: isoTime(row.created_at),
  };
}

/**
 * Lists the reports on a domain that began in the last `days`, newest first.
 * @throws ResourceNotFoundError.
 */
export async function listDmarcReports(
  app: App,
  { organizationId }: Caller,
  domainId: string,
  { days, ...page }: DmarcReportQuery,
): Promise<DmarcReportPage> {
  const { db } = app.store;
  const { domain } = await getDomainRows(app, db, organizationId, domainId);
  const since = app.clock.now() - days * dayMs;
  const scope = { organizationId, domain: domain.domain, since };
  const range = { limit: page.limit, offset: (page.page - 1) * page.limit };
  const [rows, total, daily] = await Promise.all([
    queries.selectDmarcReports(db, scope, range),
    queries.countDmarcReports(db, scope),
    queries.sumDmarcDays(db, scope),
  ]);
  return {
    ...toPage(rows.map(toReport), total, page),
    daily: daily.map(({ day, ...sums }) => ({
      day: new Date(day * dayMs).toISOString().slice(0, 10),
      ...sums,
    })),
  };
}
