// All SQL on `inbound_reports`: bounces, complaints and DMARC reports that wait to be read.
import type { Kysely } from 'kysely';
import { type Db, engineOf, statement, tables } from '../store/db.ts';

export type ReportKind = 'bounce' | 'complaint' | 'dmarc';

export interface ReportRow {
  id: string;
  organization_id: string;
  kind: ReportKind;
  /** Whom the return path names. */
  delivery_id: string | null;
  envelope_from: string;
  raw: Buffer;
  tries: number;
  due_at: number;
  created_at: number;
}

interface InboundTables {
  inbound_reports: ReportRow;
}

export async function insertReports(db: Db, rows: readonly ReportRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<InboundTables>(db)
    .insertInto('inbound_reports')
    .values([...rows])
    .execute();
}

const selectNextDue = statement((db: Kysely<InboundTables>) =>
  db.selectFrom('inbound_reports').select('due_at').orderBy('due_at').limit(1),
);

/** When the next report may be read, or null. Hot: asked after every change of the store. */
export async function nextReportAt(db: Db): Promise<number | null> {
  return (await selectNextDue(db, {}))[0]?.due_at ?? null;
}

/** Takes due reports until `leaseUntil`: who dies over one leaves it to the next try. */
export async function takeReports(
  db: Db,
  { now, leaseUntil, limit }: { now: number; leaseUntil: number; limit: number },
): Promise<ReportRow[]> {
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
    .returningAll()
    .execute();
}

export async function deleteReport(db: Db, id: string): Promise<void> {
  await tables<InboundTables>(db).deleteFrom('inbound_reports').where('id', '=', id).execute();
}
