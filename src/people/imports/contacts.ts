// Imports contacts from CSV or JSON Lines. Writes each batch of the pipeline (pipeline.ts), or in a
// dry run only compares the batch with the store. known.ts finds the contacts of rows, merge.ts
// merges rows into contacts.
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { textSet } from '../../platform/csv/text-set.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { foldAddress, parseAddress } from '../../platform/net/address.ts';
import { orAgain } from '../../platform/store/again.ts';
import type { Db } from '../../platform/store/db.ts';
import { newBlockRow } from '../blocks/blocks.ts';
import { type BlockRow, findActiveBlocks, insertBlocks } from '../blocks/queries.ts';
import { insertContacts, updateContacts } from '../contacts/bulk-queries.ts';
import { contactImported } from '../contacts/events.ts';
import type { ImportReport } from '../contacts/schema.ts';
import { columnMapOf } from './columns.ts';
import { candidatesOf, inOrderOfContacts, knownTo, NamesOfWindow } from './known.ts';
import { type Candidate, type Merged, mergeRows, type Rejected } from './merge.ts';
import { FirstRows, ImportEntry, runImport } from './pipeline.ts';
import { mostLeftShown } from './rows.ts';
import { readFile } from './thread.ts';
import type { ReadBatch } from './window.ts';

/** Most tries of a transaction that conflicts with a concurrent change of the same contacts. */
const mostRuns = 20;

export interface ImportOptions {
  /** Kind of the file. By default the first bytes decide. */
  as?: 'csv' | 'ndjson' | undefined;
  /** Uses of columns that the caller gives, each as `COLUMN=FIELD`. */
  map?: readonly string[] | undefined;
  /** Counts changes without making them. */
  dryRun: boolean;
  /**
   * Called in each transaction with the sorted ids of the locked contacts of accepted rows that can
   * get mail. Returns the number of contacts that now wait for a confirmation.
   */
  confirm?: ((trx: Db, contactIds: readonly string[]) => Promise<number>) | undefined;
  /** Called after each transaction, with the report so far. */
  onBatch?: (report: ImportReport) => void;
}

/** @throws ForbiddenError if the key may not create the block that a row needs. */
function checkMayBlock({ permissions }: Caller, batch: readonly Candidate[]): void {
  if (allows(permissions, 'blocks:write')) return;
  const asking = batch.find(({ reason }) => reason !== null);
  if (!asking) return;
  throw new ForbiddenError(
    `This key lacks the permission blocks:write, which line ${asking.line} needs to ` +
      'block its address. Leave out such rows, or use another key',
  );
}

/**
 * Returns the blocks that the rows of a batch need, a block for each address, sorted by folded
 * address: the order in which blocks are locked.
 * @throws ForbiddenError as `checkMayBlock` does.
 */
function blocksOf(app: App, caller: Caller, batch: readonly Candidate[], merged: Merged) {
  checkMayBlock(caller, batch);
  const rows = new Map<string, BlockRow>();
  for (const [at, { reason }] of batch.entries()) {
    for (const address of merged.addresses[at] ?? []) {
      const parsed = parseAddress(address);
      if (!parsed || reason === null || rows.has(foldAddress(parsed.email))) continue;
      const block = { address: parsed.email, reason, messageId: null };
      rows.set(foldAddress(parsed.email), newBlockRow(app, caller.organizationId, block));
    }
  }
  return [...rows.values()].sort((a, b) => (a.folded_address < b.folded_address ? -1 : 1));
}

/** Counts the first row of a newly blocked address as updated, even if the contact is unchanged. */
function withBlocks(merged: Merged, blocked: readonly Pick<BlockRow, 'folded_address'>[]) {
  const untold = new Set(blocked.map((row) => row.folded_address));
  return merged.outcomes.map((outcome, at) => {
    const addresses = merged.addresses[at] ?? [];
    const isNews = addresses.filter((address) => untold.delete(foldAddress(address))).length > 0;
    return isNews && outcome === 'unchanged' ? 'updated' : outcome;
  });
}

type Outcome = Merged['outcomes'][number];

/**
 * Writes or compares a batch and returns an outcome for each candidate. Returns null, and changes
 * nothing, if a second batch of the window names a contact of this batch by a different address or
 * id.
 */
type Take = (batch: ReadBatch, window: NamesOfWindow | null) => Promise<Outcome[] | null>;

/**
 * Returns the functions that write an import. The import makes a single audit entry, which grows
 * with each transaction, and a single event at the end.
 */
function writing(
  app: App,
  caller: Caller,
  report: ImportReport,
  confirm: ImportOptions['confirm'],
) {
  const { organizationId } = caller;
  const entry = new ImportEntry(app, caller, 'contact.imported');
  const detailsOf = (counts = report) => {
    const { format, created, updated, unchanged, rejected, pending } = counts;
    return { format, created, updated, unchanged, rejected, ...(pending && { pending }) };
  };
  const write = (batch: ReadBatch, window: NamesOfWindow | null, candidates: Candidate[]) =>
    entry.write(async (trx, grow) => {
      const known = await knownTo(trx, organizationId, batch, true);
      if (window?.saysElsewhere(known, batch)) return { outcomes: null, pending: 0 };
      const merged = mergeRows(app, organizationId, candidates, known);
      await insertContacts(trx, merged.created);
      await updateContacts(trx, merged.changed);
      const blocks = blocksOf(app, caller, candidates, merged);
      const blocked = blocks.length > 0 ? await insertBlocks(trx, blocks) : [];
      const outcomes = withBlocks(merged, blocked);
      const pending = (await confirm?.(trx, merged.reachable)) ?? 0;
      const isNews = outcomes.some((outcome) => outcome === 'created' || outcome === 'updated');
      if (isNews || pending > 0) {
        await grow(detailsOf(counted({ ...report, rows: [] }, outcomes, pending)));
      }
      return { outcomes, pending };
      // Not flushed to disk here: the last transaction flushes all changes. After a crash,
      // repeating the import restores lost changes.
    }, 'soon');
  const take: Take = async (batch, window) => {
    const candidates = candidatesOf(batch);
    const { outcomes, pending } = await orAgain(() => write(batch, window, candidates), mostRuns);
    if (report.pending !== undefined) report.pending += pending;
    return outcomes;
  };
  const finish = async () => {
    const subject = entry.id;
    if (subject === null) return;
    await entry.write(async (trx, grow) => {
      await grow(detailsOf());
      await record(app, trx, caller, {
        subject,
        event: eventToRecord(contactImported, { id: subject, ...detailsOf() }),
      });
    }, 'now');
  };
  return { take, finish };
}

/**
 * Returns the functions of a dry run, which only compare. Remembers contacts that earlier batches
 * would create, so that each counts once.
 */
function comparing(app: App, caller: Caller) {
  const { organizationId } = caller;
  const people = textSet();
  const contents = textSet();
  const take: Take = async (batch, window) => {
    const { db } = app.store;
    const candidates = candidatesOf(batch);
    const known = await knownTo(db, organizationId, batch, false);
    if (window?.saysElsewhere(known, batch)) return null;
    const merged = mergeRows(app, organizationId, candidates, known);
    const blocks = blocksOf(app, caller, candidates, merged);
    const addresses = blocks.map((row) => row.folded_address);
    const keyOf = (row: Pick<BlockRow, 'reason' | 'folded_address'>) =>
      `${row.reason} ${row.folded_address}`;
    const there = new Set((await findActiveBlocks(db, organizationId, addresses)).map(keyOf));
    const newly = blocks.filter((row) => !there.has(keyOf(row)));
    const outcomes = withBlocks(merged, newly);
    return outcomes.map((outcome, at) => {
      const { row: _row, line: _line, ...content } = candidates[at] as Candidate;
      if (typeof outcome !== 'string' || outcome === 'unchanged') return outcome;
      if (!contents.add(JSON.stringify(content))) return 'unchanged';
      const { externalId } = content.contact;
      const names = [...content.folded, ...(externalId === undefined ? [] : [externalId])];
      // Adds every name, even after a known name: `some` would stop early.
      const isNew = names.filter((name) => people.add(name)).length === names.length;
      return outcome === 'created' && !isNew ? 'updated' : outcome;
    });
  };
  return { take, finish: async () => {} };
}

/** Adds outcomes to the counts of `report`, and returns the same object. */
function counted(report: ImportReport, outcomes: readonly Outcome[], pending = 0): ImportReport {
  for (const outcome of outcomes) {
    if (typeof outcome === 'string') report[outcome]++;
    else report.rejected++;
  }
  if (report.pending !== undefined) report.pending += pending;
  return report;
}

/**
 * Creates or changes a contact for each row of `source`. With `dryRun` only reports the changes. A
 * bad row is reported with the row number and does not stop the import.
 * @throws ValidationError for a file that cannot be read further, ForbiddenError for a row with a
 * block that the key may not create. Earlier changes stay.
 */
export async function importContacts(
  app: App,
  caller: Caller,
  source: AsyncIterable<Buffer>,
  { as, map: entries = [], dryRun, confirm, onBatch }: ImportOptions,
): Promise<ImportReport> {
  const file = await readFile(source, { noun: 'contacts', as, map: columnMapOf(entries) });
  const { format, map, encoding } = file;
  const counts = { created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const pending = confirm && !dryRun ? { pending: 0 } : {};
  const rejected = new FirstRows<Rejected>(mostLeftShown);
  const { first: rows } = rejected.group;
  const head = { format, encoding: encoding(), map, dryRun };
  const report: ImportReport = { ...head, ...counts, ...pending, rows };
  const { take, finish } = dryRun ? comparing(app, caller) : writing(app, caller, report, confirm);
  let names: NamesOfWindow | null = null;
  await runImport(caller, file, {
    begin({ batches, rejected: { count, first } }) {
      report.rejected += count;
      rejected.add(first, count);
      names = batches.length > 1 ? new NamesOfWindow(batches) : null;
    },
    async take(batch) {
      const outcomes = await take(batch, names);
      if (outcomes === null) return false;
      counted(report, outcomes);
      rejected.add(outcomes.filter((outcome) => typeof outcome !== 'string'));
      return true;
    },
    regroup(rest) {
      names = null;
      return inOrderOfContacts(app, caller.organizationId, rest);
    },
    onBatch: () => onBatch?.(report),
    end: () => rejected.endWindow(),
    finish,
    progress: () =>
      dryRun || report.created + report.updated === 0
        ? null
        : {
            done:
              `${report.created} contacts before it were created and ` +
              `${report.updated} updated`,
            rest: 'import the corrected file to do the rest',
          },
  });
  report.encoding = encoding();
  return report;
}
