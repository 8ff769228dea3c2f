// Imports blocks from the export of a mail service. Adds each batch of the pipeline (pipeline.ts),
// or in a dry run only compares the batch with the store.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Encoding } from '../../platform/csv/decode.ts';
import { textSet } from '../../platform/csv/text-set.ts';
import { newBlockRow } from '../blocks/blocks.ts';
import {
  type BlockedRow,
  type BlockRow,
  findActiveBlocks,
  findGroupBlocksAmong,
  insertBlocks,
} from '../blocks/queries.ts';
import { type BlockReason, blockReasons } from '../blocks/schema.ts';
import type { BlockCandidate } from './block-rows.ts';
import { FirstRows, ImportEntry, runImport } from './pipeline.ts';
import { leftResults } from './row-reader.ts';
import { readFile } from './thread.ts';

const rowsShown = 100;
const longestAddressShown = 100;

export interface ImportOptions {
  /** Name of a file format (services.ts). By default the header decides. */
  format?: string | undefined;
  /** Reason for rows of plain lists without a reason. */
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
  /** Reason of the block, or the reason that the row adds no block. */
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
  /** Rows with an address that is blocked already, or that an earlier row of the file has. */
  existing: RowGroup;
  /** Rows that state that the address is not blocked. */
  skipped: RowGroup;
  rejected: RowGroup;
  /** Set if the file states that it is only a part of a longer list. */
  isPartial?: true;
}

function shown({ line, address = '', reason }: { line: number; address?: string; reason: string }) {
  return { line, address: address.slice(0, longestAddressShown), reason };
}

function blockRow(app: App, { organizationId }: Caller, candidate: BlockCandidate): BlockRow {
  const { madeAt, unsubscribeGroupId } = candidate;
  const row = newBlockRow(app, organizationId, candidate);
  const created_at = madeAt ?? row.created_at;
  return { ...row, unsubscribe_group_id: unsubscribeGroupId, created_at };
}

/** Returns a key that is equal for blocks of the same address and group, whatever their reasons. */
function keyOf({ folded_address, unsubscribe_group_id }: BlockedRow): string {
  return unsubscribe_group_id === null
    ? folded_address
    : `${folded_address} ${unsubscribe_group_id}`;
}

/** Returns the keys (`keyOf`) of new rows. Except in a dry run, also adds these blocks. */
type Take = (rows: BlockRow[]) => Promise<ReadonlySet<string>>;

function adding(app: App, caller: Caller, format: string): Take {
  const byAddress = (a: BlockRow, b: BlockRow) => (a.folded_address < b.folded_address ? -1 : 1);
  const entry = new ImportEntry(app, caller, 'block.imported');
  let added = 0;
  return async (unsorted) => {
    const rows = unsorted.sort(byAddress);
    const inserted = await entry.write(async (trx, grow) => {
      const addresses = rows.map((row) => row.folded_address);
      const known = await findActiveBlocks(trx, caller.organizationId, addresses);
      const blocked = new Set(known.map((row) => row.folded_address));
      // A block of all mail is new only if the address has no block of all mail for any reason.
      const isNew = (row: BlockRow) =>
        row.unsubscribe_group_id !== null || !blocked.has(keyOf(row));
      const newRows = rows.filter(isNew);
      const done = newRows.length === 0 ? [] : await insertBlocks(trx, newRows);
      if (done.length > 0) await grow({ format, added: added + done.length });
      return done;
    }, 'now');
    added += inserted.length;
    return new Set(inserted.map(keyOf));
  };
}

function comparing(app: App, caller: Caller): Take {
  const seen = textSet();
  return async (rows) => {
    const { db } = app.store;
    const { organizationId } = caller;
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
    // Records all keys in `seen`, so that a repeated address is not counted again.
    return new Set(rows.map(keyOf).filter((key) => seen.add(key) && !blocked.has(key)));
  };
}

/**
 * Reads `source` (CSV or JSON Lines) and blocks the addresses in it, or with `dryRun` only reports
 * them. A repeated address counts as existing from the second mention on.
 * @throws ValidationError for a file that cannot be read to the end; blocks added before stay.
 */
export async function importBlocks(
  app: App,
  caller: Caller,
  source: AsyncIterable<Buffer>,
  { format: named, reason, dryRun, onBatch }: ImportOptions,
): Promise<ImportReport> {
  const options = { noun: 'blocks', format: named, reason, now: app.clock.now() } as const;
  const file = await readFile(source, options);
  const { format, title, isPartial, encoding } = file;
  const groups = {
    added: new FirstRows<ReportedRow>(rowsShown),
    existing: new FirstRows<ReportedRow>(rowsShown),
    skipped: new FirstRows<ReportedRow>(rowsShown),
    rejected: new FirstRows<ReportedRow>(rowsShown),
  };
  const reasons = Object.fromEntries(blockReasons.map((one) => [one, 0]));
  const report: ImportReport = {
    format,
    title,
    dryRun,
    encoding: encoding(),
    rows: 0,
    added: Object.assign(groups.added.group, { reasons: reasons as Record<BlockReason, number> }),
    existing: groups.existing.group,
    skipped: groups.skipped.group,
    rejected: groups.rejected.group,
    ...(isPartial && { isPartial }),
  };
  const take = dryRun ? comparing(app, caller) : adding(app, caller, format);
  await runImport(caller, file, {
    begin(window) {
      for (const result of leftResults) {
        const { count, first } = window[result];
        report.rows += count;
        groups[result].add(first.map(shown), count);
      }
    },
    async take({ candidates }) {
      const batch = JSON.parse(candidates) as BlockCandidate[];
      const rows = batch.map((one) => blockRow(app, caller, one));
      const first = new Map<string, number>();
      for (const [at, row] of rows.entries()) if (!first.has(keyOf(row))) first.set(keyOf(row), at);
      const taken = await take([...first.values()].map((at) => rows[at] as BlockRow));
      for (const [at, one] of batch.entries()) {
        const key = keyOf(rows[at] as BlockRow);
        const isNew = taken.has(key) && first.get(key) === at;
        groups[isNew ? 'added' : 'existing'].add([shown(one)]);
        if (isNew) report.added.reasons[one.reason]++;
      }
      report.rows += batch.length;
      return true;
    },
    onBatch: () => onBatch?.(report),
    end() {
      for (const group of Object.values(groups)) group.endWindow();
    },
    progress: () =>
      dryRun || report.added.count === 0
        ? null
        : {
            done: `${report.added.count} addresses before it were added`,
            rest: 'importing the corrected file adds the rest',
          },
  });
  report.encoding = encoding();
  return report;
}
