// All SQL on `inbound_reports`: bounces, complaints and DMARC reports that wait to be read.
import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export type ReportKind = 'bounce' | 'complaint' | 'dmarc';

export interface ReportRow {
  id: string;
  organization_id: string;
  kind: ReportKind;
  /** First delivery of the transaction that the token in the address names; null without it. */
  delivery_id: string | null;
  transaction_id: string | null;
  envelope_from: string;
  /** The mail, or its beginning; see `mostReportBytes`. */
  raw: Buffer;
  tries: number;
  due_at: number;
  created_at: number;
}

/** Most bytes of a report mail that are stored and read. A report needs no more. */
export const mostReportBytes = 1024 * 1024;

/** A report that is being read. */
export type ReportMail = Omit<ReportRow, 'tries' | 'due_at'>;

/** A report that is leased for reading. */
export type TakenReport = Pick<ReportRow, 'id' | 'tries'>;

interface InboundTables {
  inbound_reports: ReportRow;
}

const own = ownTables<InboundTables>();

export async function insertReports(db: Db, rows: readonly ReportRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<InboundTables>(db)
    .insertInto('inbound_reports')
    .values([...rows])
    .execute();
}

/**
 * Returns the time when the next report may be read, or null. Hot: read after every change of the
 * store.
 */
export const nextReportAt = own.first(
  (db) => db.selectFrom('inbound_reports').select('due_at').orderBy('due_at').limit(1),
  (row) => row?.due_at ?? null,
);

/**
 * Leases due reports until `leaseUntil`. If the process dies while reading a report, it is read
 * again later. `findReportMail` reads the mails in sequence, to bound memory.
 */
export async function takeReports(
  db: Db,
  { now, leaseUntil, limit }: { now: number; leaseUntil: number; limit: number },
): Promise<TakenReport[]> {
  const q = tables<InboundTables>(db);
  let due = q
    .selectFrom('inbound_reports')
    .select('id')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit);
  if (engineOf(db) === 'postgres') due = due.forUpdate().skipLocked();
  return q
    .updateTable('inbound_reports')
    .set((set) => ({ due_at: leaseUntil, tries: set('tries', '+', 1) }))
    .where('id', 'in', due)
    .returning(['id', 'tries'])
    .execute();
}

/**
 * Returns a report with the first megabyte of the raw mail; undefined if another process has read
 * the report and deleted it.
 */
export async function findReportMail(db: Db, id: string): Promise<ReportMail | undefined> {
  const raw: RawBuilder<Buffer> = sql`substr(raw, 1, ${sql.lit(mostReportBytes)})`;
  return tables<InboundTables>(db)
    .selectFrom('inbound_reports')
    .select(['id', 'organization_id', 'kind', 'delivery_id', 'transaction_id'])
    .select(['envelope_from', 'created_at', raw.as('raw')])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Makes reports due now that are due after `latest`, because a clock ran ahead. */
export const bringReportsToPresent = own.toPresent('inbound_reports', 'due_at');

const lockReports = own.lockerOf('inbound_reports');

/** Extends the leases of these reports, if they still exist. */
export async function renewReports(db: Db, ids: readonly string[], until: number): Promise<void> {
  await lockReports(db, ids);
  await tables<InboundTables>(db)
    .updateTable('inbound_reports')
    .set({ due_at: until })
    .where('id', ...isOneOf(db, ids))
    .execute();
}

/** Deletes a report. Returns false if it is gone already. */
export async function deleteReport(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await tables<InboundTables>(db)
    .deleteFrom('inbound_reports')
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
