// Import of blocks from another service's export. A dry run reports the changes. The real run makes
// them, 500 addresses to a transaction, so that sends go on beside it. A second run changes nothing
// more. src/platform/csv reads the file, import-formats.ts interprets it.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { amendAudit } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import type { Encoding } from '../../platform/csv/decode.ts';
import { type ImportRow, readTable } from '../../platform/csv/read-table.ts';
import { textSet } from '../../platform/csv/text-set.ts';
import { ValidationError } from '../../platform/errors.ts';
import { parseAddress } from '../../platform/net/address.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { newBlockRow } from './blocks.ts';
import {
  addressIn,
  type Field,
  formatOf,
  type ImportFormat,
  madeAtIn,
  type Verdict,
} from './import-formats.ts';
import {
  type BlockedRow,
  type BlockRow,
  findActiveBlocks,
  findGroupBlocksAmong,
  insertBlocks,
} from './queries.ts';
import { type BlockReason, blockReasons } from './schema.ts';

const mostRows = 5_000_000;
const rowsPerTransaction = 500;
const rowsShown = 100;
const longestAddressShown = 100;

export interface ImportOptions {
  /** A name of import-formats.ts. If left out, the header decides. */
  format?: string | undefined;
  /** Reason for rows of plain lists that give none. */
  reason: BlockReason;
  /** Reports the changes without making them. */
  dryRun: boolean;
  /** Called after each transaction, with the report so far. */
  onBatch?: (report: ImportReport) => void;
}

/** Row of the file in a report. */
export interface ReportedRow {
  line: number;
  address: string;
  /** The reason of the block, or the reason why the row adds none. */
  reason: string;
}

/** Number of rows with the same result, and the first rows. */
export interface RowGroup {
  count: number;
  first: ReportedRow[];
}

export interface ImportReport {
  format: string;
  title: string;
  dryRun: boolean;
  /** Encoding of the file. */
  encoding: Encoding;
  rows: number;
  /** Blocks added; in a dry run, the blocks that would be added. */
  added: RowGroup & { reasons: Record<BlockReason, number> };
  /** Blocked already, or named earlier in the file. */
  existing: RowGroup;
  /** Rows that state that the address is not blocked. */
  skipped: RowGroup;
  rejected: RowGroup;
  /** Set if the file states that it is a page of a list. */
  isPartial?: true;
}

interface Candidate {
  line: number;
  row: BlockRow;
}

const messageIds = idPattern('message');

function newReport({ name, title }: ImportFormat, dryRun: boolean): ImportReport {
  const group = (): RowGroup => ({ count: 0, first: [] });
  const reasons = Object.fromEntries(blockReasons.map((reason) => [reason, 0]));
  return {
    format: name,
    title,
    dryRun,
    encoding: 'utf-8',
    rows: 0,
    added: { ...group(), reasons: reasons as Record<BlockReason, number> },
    existing: group(),
    skipped: group(),
    rejected: group(),
  };
}

function count(group: RowGroup, line: number, address: string, reason: string): void {
  group.count++;
  if (group.first.length >= rowsShown) return;
  group.first.push({ line, address: address.slice(0, longestAddressShown), reason });
}

function countCandidate(group: RowGroup, { line, row }: Candidate): void {
  count(group, line, row.address, row.reason);
}

/**
 * Returns the block that a row asks for. For a row without a block returns null and counts the row.
 */
function candidateOf(
  app: App,
  caller: Caller,
  { line, field, fault }: ImportRow,
  verdictOf: (field: Field) => Verdict,
  report: ImportReport,
): Candidate | null {
  const text = addressIn(field);
  if (fault !== undefined) {
    count(report.rejected, line, text, fault);
    return null;
  }
  // U+FFFD replaces bytes that are not UTF-8.
  const address = text.includes('\uFFFD') ? null : parseAddress(text);
  const verdict = verdictOf(field);
  if ('skip' in verdict) count(report.skipped, line, text, verdict.skip);
  else if (!address) count(report.rejected, line, text, 'is not a valid email address');
  else if ('reject' in verdict) count(report.rejected, line, text, verdict.reject);
  else {
    const named = field('messageId');
    const messageId = messageIds.test(named) ? named : null;
    const block = { address: address.email, reason: verdict.reason, messageId };
    const row = newBlockRow(app, caller.organizationId, block);
    const created_at = madeAtIn(field, row.created_at);
    const unsubscribe_group_id = verdict.unsubscribeGroupId ?? null;
    return { line, row: { ...row, unsubscribe_group_id, created_at } };
  }
  return null;
}

/** Returns the key of a block: the address, and the group of a block for a group. */
function keyOf({ folded_address, unsubscribe_group_id }: BlockedRow): string {
  return unsubscribe_group_id === null
    ? folded_address
    : `${folded_address} ${unsubscribe_group_id}`;
}

/**
 * Returns the keys of new candidates; also adds these candidates unless it is a dry run. No two
 * candidates share a key.
 */
type Take = (candidates: readonly Candidate[]) => Promise<ReadonlySet<string>>;

/**
 * Returns a `Take` that adds blocks. The audit has a single entry for the whole import, which grows
 * with each transaction.
 */
function adding(app: App, caller: Caller, format: string): Take {
  const byAddress = (a: BlockRow, b: BlockRow) => (a.folded_address < b.folded_address ? -1 : 1);
  let entryId: string | null = null;
  let added = 0;
  return async (candidates) => {
    const rows = candidates.map(({ row }) => row).sort(byAddress);
    const done = await app.store.write(async (trx) => {
      const addresses = rows.map((row) => row.folded_address);
      const known = await findActiveBlocks(trx, caller.organizationId, addresses);
      const blocked = new Set(known.map((row) => row.folded_address));
      // An existing block of all mail counts for any reason.
      const isNew = (row: BlockRow) =>
        row.unsubscribe_group_id !== null || !blocked.has(keyOf(row));
      const inserted = await insertNew(trx, rows.filter(isNew));
      const details = { format, added: added + inserted.length };
      if (inserted.length === 0) return { inserted, id: entryId };
      if (entryId !== null) await amendAudit(trx, entryId, details);
      const change = { subject: null, action: 'block.imported', details } as const;
      return { inserted, id: entryId ?? (await record(app, trx, caller, change)) };
    });
    entryId = done.id;
    added += done.inserted.length;
    return new Set(done.inserted.map(keyOf));
  };
}

async function insertNew(trx: Db, rows: readonly BlockRow[]): Promise<readonly BlockedRow[]> {
  return rows.length === 0 ? [] : insertBlocks(trx, rows);
}

function comparing(app: App, caller: Caller): Take {
  const seen = textSet();
  return async (candidates) => {
    const { db } = app.store;
    const { organizationId } = caller;
    const rows = candidates.map(({ row }) => row);
    const ofAll = rows.filter((row) => row.unsubscribe_group_id === null).map(keyOf);
    const ofGroups = rows.flatMap(({ folded_address, unsubscribe_group_id }) =>
      unsubscribe_group_id === null
        ? []
        : [[organizationId, folded_address, unsubscribe_group_id] as const],
    );
    const known = [
      ...(await findActiveBlocks(db, organizationId, ofAll)).map((row) => row.folded_address),
      ...(await findGroupBlocksAmong(db, ofGroups)).map(keyOf),
    ];
    const blocked = new Set(known);
    // Records all of them in `seen`, so that a repeated address is not counted again.
    return new Set(rows.map(keyOf).filter((key) => seen.add(key) && !blocked.has(key)));
  };
}

/**
 * Takes a batch and counts it. A repeated address counts as existing from the second mention on.
 */
async function writeBatch(batch: readonly Candidate[], take: Take, report: ImportReport) {
  const first = new Map<string, Candidate>();
  for (const one of batch) {
    const key = keyOf(one.row);
    if (!first.has(key)) first.set(key, one);
  }
  const taken = first.size === 0 ? new Set() : await take([...first.values()]);
  for (const one of batch) {
    const key = keyOf(one.row);
    const isNew = taken.has(key) && first.get(key) === one;
    countCandidate(isNew ? report.added : report.existing, one);
    if (isNew) report.added.reasons[one.row.reason]++;
  }
}

/**
 * Reads `source` (CSV or JSON Lines) and blocks the addresses in it, or with `dryRun` only reports
 * them. A row that cannot be understood is reported with the line number and stops nothing.
 * @throws ValidationError for a file that cannot be read to the end; blocks added before stay.
 */
export async function importBlocks(
  app: App,
  caller: Caller,
  source: AsyncIterable<Buffer>,
  { format: name, reason, dryRun, onBatch }: ImportOptions,
): Promise<ImportReport> {
  const { header, rows, encoding, isPartial } = await readTable(source);
  const format = formatOf(header, name);
  const report = { ...newReport(format, dryRun), ...(isPartial && { isPartial }) };
  const take = dryRun ? comparing(app, caller) : adding(app, caller, format.name);
  const verdictOf = (field: Field) => format.judge(field, reason);
  let batch: Candidate[] = [];
  try {
    for await (const row of rows) {
      if (++report.rows > mostRows) throw tooManyRows();
      const candidate = candidateOf(app, caller, row, verdictOf, report);
      if (candidate) batch.push(candidate);
      if (batch.length < rowsPerTransaction) continue;
      await writeBatch(batch, take, report);
      onBatch?.(report);
      batch = [];
    }
    await writeBatch(batch, take, report);
  } catch (error) {
    throw withProgress(error, report);
  }
  report.encoding = encoding();
  return report;
}

function tooManyRows(): ValidationError {
  return new ValidationError(
    `The file has more than ${mostRows.toLocaleString('en')} rows: split it`,
  );
}

/** Adds the number of blocks made so far to an error. */
function withProgress(error: unknown, { dryRun, added }: ImportReport): unknown {
  if (dryRun || added.count === 0 || !(error instanceof ValidationError)) return error;
  return new ValidationError(
    `${error.message}. ${added.count} addresses before it were added; importing the corrected file adds the rest`,
  );
}
