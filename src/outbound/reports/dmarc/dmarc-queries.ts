// All SQL on `dmarc_reports`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../../../platform/store/db.ts';

export interface DmarcReportRow {
  id: string;
  organization_id: string;
  domain: string;
  reporter: string;
  report_id: string;
  begins_at: number;
  ends_at: number;
  messages: number;
  passed: number;
  failed: number;
  /** JSON: DmarcSource[]. */
  sources: string;
  created_at: number;
}

interface DmarcTables {
  dmarc_reports: DmarcReportRow;
}

/** Selects the reports of a domain that begin at `since` or later. */
export interface DmarcScope {
  organizationId: string;
  domain: string;
  since: number;
}

/** Inserts a report. An existing report stays unchanged. */
export async function insertDmarcReport(db: Db, row: DmarcReportRow): Promise<void> {
  await tables<DmarcTables>(db)
    .insertInto('dmarc_reports')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'reporter', 'report_id']).doNothing(),
    )
    .execute();
}

export async function countDmarcReportsSince(
  db: Db,
  organizationId: string,
  since: number,
): Promise<number> {
  const { count } = await tables<DmarcTables>(db)
    .selectFrom('dmarc_reports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow();
  return count;
}

export async function deleteDmarcReportsBefore(
  db: Db,
  organizationId: string,
  before: number,
): Promise<void> {
  await tables<DmarcTables>(db)
    .deleteFrom('dmarc_reports')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('dmarc_reports')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('created_at', '<', before)
        // Skips rows that another daemon is deleting.
        .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
    )
    .execute();
}

function inScope(db: Db, { organizationId, domain, since }: DmarcScope) {
  return tables<DmarcTables>(db)
    .selectFrom('dmarc_reports')
    .where('organization_id', '=', organizationId)
    .where('domain', '=', domain)
    .where('begins_at', '>=', since);
}

/** Returns reports, newest day first. */
export function selectDmarcReports(
  db: Db,
  scope: DmarcScope,
  range: { limit: number; offset: number },
): Promise<DmarcReportRow[]> {
  return inScope(db, scope)
    .selectAll()
    .orderBy('begins_at', 'desc')
    .orderBy('id', 'desc')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

export async function countDmarcReports(db: Db, scope: DmarcScope): Promise<number> {
  const { count } = await inScope(db, scope)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Adds up reports by day since 1970 (UTC), oldest first. Days without a report are absent. */
export function sumDmarcDays(
  db: Db,
  scope: DmarcScope,
): Promise<{ day: number; messages: number; passed: number; failed: number }[]> {
  const day = sql<number>`begins_at / 86400000`;
  const total = (column: string) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
  return inScope(db, scope)
    .select([
      day.as('day'),
      total('messages').as('messages'),
      total('passed').as('passed'),
      total('failed').as('failed'),
    ])
    .groupBy(day)
    .orderBy(day)
    .execute();
}
