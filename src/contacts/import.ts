// Contacts from a file: CSV or JSON Lines, read as it comes, 500 rows to a transaction, so that sends go on
// beside it. Each transaction is whole; running the same import again changes nothing more, and goes on
// where one was cut off. What a row says is import-formats.ts, what becomes of it import-merge.ts.
import type { Caller, StreamedBody } from '../api/route.ts';
import { checkWith } from '../api/validate.ts';
import type { App } from '../app.ts';
import { amendAudit } from '../audit/audit.ts';
import { newBlockRow } from '../blocks/blocks.ts';
import { type BlockRow, findActiveBlocks, insertBlocks } from '../blocks/queries.ts';
import { ValidationError } from '../errors.ts';
import { record, told } from '../events/record.ts';
import { type ImportRow, readTable } from '../files/read-table.ts';
import { textSet } from '../files/text-set.ts';
import { foldAddress, parseAddress } from '../net/address.ts';
import { orAgain } from '../store/again.ts';
import type { Db } from '../store/db.ts';
import { findIdsByExternalIds, insertContacts, updateContacts } from './bulk-queries.ts';
import { contactImported } from './events.ts';
import { formatOf, type ReadRow } from './import-formats.ts';
import { type Candidate, type Merged, mergeRows, type Rejected } from './import-merge.ts';
import { findContactRows, findIdentities, findIdentitiesNamed, lockContacts } from './queries.ts';
import { type ImportReport, importedContact } from './schema.ts';

const mostRows = 5_000_000;
const rowsPerTransaction = 500;
const rowsShown = 1_000;
/** Of a transaction that meets the same people in another. */
const mostRuns = 20;

export interface ImportOptions {
  /** What the file is; left out, its beginning decides. */
  as?: 'csv' | 'ndjson' | undefined;
  /** Count what would change, change nothing. */
  dryRun: boolean;
  /** Called after each transaction, with the report so far. */
  onBatch?: (report: ImportReport) => void;
}

/** The candidate of a row, or why it is none. */
function candidateOf(read: ReadRow, source: ImportRow, row: number): Candidate | Rejected {
  if (!source.field) return { row, field: null, reason: 'is not a JSON object' };
  try {
    const { contact, ...standing } = read(source);
    const checked = checkWith(importedContact, contact, 'row', source.object === undefined);
    if ('data' in checked) return { row, contact: checked.data, ...standing };
    return rejectedBy(row, checked.error);
  } catch (error) {
    if (error instanceof ValidationError) return rejectedBy(row, error);
    throw error;
  }
}

function rejectedBy(row: number, { fieldErrors, message }: ValidationError): Rejected {
  const [[field, [reason = message] = []] = [null]] = Object.entries(fieldErrors ?? {});
  return { row, field: field?.replace(/^emails(\.\d+)?$/, 'email') ?? null, reason };
}

/** What rows of a batch ask to be blocked, one for each address, in the order of locks. */
function blocksOf(app: App, caller: Caller, batch: readonly Candidate[], merged: Merged) {
  const rows = new Map<string, BlockRow>();
  for (const [at, { reason }] of batch.entries()) {
    const address = merged.addresses[at];
    const parsed = address && parseAddress(address);
    if (!parsed || reason === null || rows.has(foldAddress(parsed.email))) continue;
    const block = { address: parsed.email, reason, messageId: null };
    rows.set(foldAddress(parsed.email), newBlockRow(app, caller.organizationId, block));
  }
  return [...rows.values()].sort((a, b) => (a.folded_address < b.folded_address ? -1 : 1));
}

/** A row that is there already changes something where its address is blocked only now. */
function withBlocks(merged: Merged, blocked: ReadonlySet<string>): Merged['outcomes'] {
  return merged.outcomes.map((outcome, at) => {
    const address = merged.addresses[at];
    const isNew = address && outcome === 'unchanged' && blocked.has(foldAddress(address));
    return isNew ? 'updated' : outcome;
  });
}

/** What becomes of the candidates, one of each. */
type Take = (batch: readonly Candidate[]) => Promise<Merged['outcomes']>;

async function knownTo(db: Db, organizationId: string, batch: readonly Candidate[], lock: boolean) {
  const folded = [...new Set(batch.flatMap(({ contact }) => contact.emails.map(foldAddress)))];
  const externalIds = batch.flatMap(({ contact }) => contact.externalId ?? []);
  const named = await findIdentitiesNamed(db, organizationId, folded);
  const byId = await findIdsByExternalIds(db, organizationId, externalIds);
  const ids = [...new Set([...named.map(({ contact_id }) => contact_id), ...byId])].sort();
  if (ids.length === 0) return { rows: [], identities: [] };
  if (lock) await lockContacts(db, ids);
  const rows = await findContactRows(db, organizationId, ids);
  const identities = await findIdentities(db, ids);
  return { rows, identities };
}

/** The whole import is one entry of the audit, which grows with each transaction, and one event. */
function writing(app: App, caller: Caller, report: ImportReport) {
  const { organizationId } = caller;
  let entryId: string | null = null;
  const toldOf = (counts = report) => {
    const { format, created, updated, unchanged, rejected } = counts;
    return { format, created, updated, unchanged, rejected };
  };
  const write = (batch: readonly Candidate[]) =>
    app.store.write(async (trx) => {
      const known = await knownTo(trx, organizationId, batch, true);
      const merged = mergeRows(app, organizationId, batch, known);
      await insertContacts(trx, merged.created);
      await updateContacts(trx, merged.changed);
      const blocks = blocksOf(app, caller, batch, merged);
      const blocked = blocks.length > 0 ? await insertBlocks(trx, blocks) : [];
      const newly = new Set(blocked.map((row) => row.folded_address));
      const outcomes = withBlocks(merged, newly);
      const isNews = outcomes.some((outcome) => outcome === 'created' || outcome === 'updated');
      if (!isNews) return { outcomes, id: entryId };
      const details = toldOf(counted({ ...report, rows: [] }, outcomes));
      if (entryId !== null) await amendAudit(trx, entryId, details);
      const change = { subject: null, action: 'contact.imported', details } as const;
      return { outcomes, id: entryId ?? (await record(app, trx, caller, change)) };
      // Lasting with the last one: what is lost in a crash the same import brings again.
    }, 'soon');
  const take: Take = async (batch) => {
    const { outcomes, id } = await orAgain(() => write(batch), mostRuns);
    entryId = id;
    return outcomes;
  };
  const finish = async () => {
    const subject = entryId;
    if (subject === null) return;
    await app.store.write(async (trx) => {
      await amendAudit(trx, subject, toldOf());
      await record(app, trx, caller, {
        subject,
        event: told(contactImported, { id: subject, ...toldOf() }),
      });
    });
  };
  return { take, finish };
}

/** What would be made by an earlier batch is remembered, so that its next mention is not counted again. */
function comparing(app: App, caller: Caller) {
  const { organizationId } = caller;
  const people = textSet();
  const contents = textSet();
  const take: Take = async (batch) => {
    const { db } = app.store;
    const known = await knownTo(db, organizationId, batch, false);
    const merged = mergeRows(app, organizationId, batch, known);
    const blocks = blocksOf(app, caller, batch, merged);
    const addresses = blocks.map((row) => row.folded_address);
    const keyOf = (row: Pick<BlockRow, 'reason' | 'folded_address'>) =>
      `${row.reason} ${row.folded_address}`;
    const there = new Set((await findActiveBlocks(db, organizationId, addresses)).map(keyOf));
    const newly = blocks.filter((row) => !there.has(keyOf(row))).map((row) => row.folded_address);
    const outcomes = withBlocks(merged, new Set(newly));
    return outcomes.map((outcome, at) => {
      const { row: _row, ...content } = batch[at] as Candidate;
      if (typeof outcome !== 'string' || outcome === 'unchanged') return outcome;
      if (!contents.add(JSON.stringify(content))) return 'unchanged';
      const { emails, externalId } = content.contact;
      const names = [...emails.map(foldAddress), ...(externalId === undefined ? [] : [externalId])];
      // All are added, whichever is new.
      const isNew = names.filter((name) => people.add(name)).length === names.length;
      return outcome === 'created' && !isNew ? 'updated' : outcome;
    });
  };
  return { take, finish: async () => {} };
}

/** Adds the outcomes to the report. */
function counted(report: ImportReport, outcomes: Merged['outcomes']): ImportReport {
  for (const outcome of outcomes) {
    if (typeof outcome === 'string') report[outcome]++;
    else {
      report.rejected++;
      if (report.rows.length < rowsShown) report.rows.push(outcome);
    }
  }
  return report;
}

/**
 * Reads `source` and makes or changes a contact for each of its rows; with `dryRun` tells what it would.
 * A row that cannot be taken is reported with its number and stops nothing.
 * @throws ValidationError for a file that cannot be read on; what was done before stays.
 */
export async function importContacts(
  app: App,
  caller: Caller,
  source: AsyncIterable<Buffer>,
  { as, dryRun, onBatch }: ImportOptions,
): Promise<ImportReport> {
  const { header, rows } = await readTable(source, as);
  const { name: format, read } = formatOf(header);
  const counts = { created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const report: ImportReport = { format, dryRun, ...counts, rows: [] };
  const { take, finish } = dryRun ? comparing(app, caller) : writing(app, caller, report);
  const takeBatch = async (batch: readonly (Candidate | Rejected)[]) => {
    const taken = (await take(batch.filter(isCandidate))).values();
    const outcomes = batch.map((one) => (isCandidate(one) ? taken.next().value : one));
    counted(report, outcomes as Merged['outcomes']);
    onBatch?.(report);
  };
  let batch: (Candidate | Rejected)[] = [];
  let row = 0;
  try {
    for await (const one of rows) {
      if (++row > mostRows) throw tooManyRows();
      batch.push(candidateOf(read, one, row));
      if (batch.length < rowsPerTransaction) continue;
      await takeBatch(batch);
      batch = [];
    }
    await takeBatch(batch);
  } catch (error) {
    await finish();
    throw withProgress(error, report);
  }
  await finish();
  return report;
}

function isCandidate(one: Candidate | Rejected): one is Candidate {
  return 'contact' in one;
}

function tooManyRows(): ValidationError {
  const most = mostRows.toLocaleString('en');
  return new ValidationError(`The file has more than ${most} rows: split it`);
}

/** What went wrong, and what had been done by then. */
function withProgress(error: unknown, { dryRun, created, updated }: ImportReport): unknown {
  if (dryRun || created + updated === 0 || !(error instanceof ValidationError)) return error;
  return new ValidationError(
    `${error.message}. ${created} contacts before it were made and ${updated} changed; ` +
      'importing the corrected file does the rest',
  );
}

/** An import over HTTP: its type says what it is. */
export function importStream(
  app: App,
  caller: Caller,
  stream: StreamedBody | undefined,
  { dryRun = false }: { dryRun?: boolean | undefined },
): Promise<ImportReport> {
  if (!stream) throw new Error('An import without its file');
  const as = stream.type === 'text/csv' ? 'csv' : 'ndjson';
  return importContacts(app, caller, stream.chunks, { as, dryRun });
}
