// Reads the bytes of a file into checked rows, in the order of writing (import-window.ts). Does not
// know the store, so it can run on a separate thread (import-thread.ts). Keeps rows as JSON:
// passing it between threads costs two thirds of cloning. import-formats.ts interprets the rows.
import { checkWith } from '../../../core/api/validate.ts';
import type { Encoding } from '../../../platform/csv/decode.ts';
import { type ImportRow, readTable } from '../../../platform/csv/read-table.ts';
import { ValidationError } from '../../../platform/errors.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { importedContact } from '../schema.ts';
import type { ColumnMap } from './import-columns.ts';
import { type FileFormat, formatOf, type ReadRow } from './import-formats.ts';
import type { Candidate, Rejected } from './import-merge.ts';
import {
  type Batch,
  externalIdOf,
  inBatches,
  type NamedRow,
  nameOfExternalId,
  rowsPerBatch,
} from './import-window.ts';

const mostRows = 5_000_000;
/**
 * Rows of the first window, which are reordered together. It is smaller, so that the import begins
 * soon.
 */
const firstRows = 5_000;
const mostRowsPerWindow = 10_000;
/** Limit of a window in a file with long rows. */
const charactersPerWindow = 2_000_000;
/** Most rejected rows that a report shows. */
export const rejectedShown = 1_000;

export type FileKind = 'csv' | 'ndjson';

/** Rows of a transaction. Lists are JSON. */
export interface ReadBatch {
  candidates: string;
  /** Addresses in the rows, each by `foldAddress`. */
  addresses: string;
  externalIds: string;
  /** Place of the batch as import-window.ts defines it. */
  place: string | null;
}

/** Consecutive rows of the file, in the order of writing. */
export interface ReadWindow {
  batches: ReadBatch[];
  /** First rejected rows. `rejectedCount` counts all of them. */
  rejected: Rejected[];
  rejectedCount: number;
}

export interface ReadFile {
  /** Name of the format that the header shows. */
  format: string;
  /** Use of each column. */
  map: FileFormat['map'];
  /** Returns the encoding of the file; final after the last window. */
  encoding(): Encoding;
  /**
   * Yields the windows. Throws a ValidationError at a fault of the file, after the rows before it.
   */
  windows: AsyncIterable<ReadWindow>;
}

/**
 * Candidate while a window is gathered. Has few objects, because thousands of them live that long.
 */
export interface WritableRow extends NamedRow {
  json: string;
}

/** Returns why a CSV row cannot be stored as it is: U+FFFD stands for bytes that are not text. */
function undecodable({ cells = [] }: ImportRow): string | null {
  return cells.some((cell) => cell.includes('\uFFFD'))
    ? 'has bytes that are not text in the encoding of the file: save it as UTF-8'
    : null;
}

/** Checks a row. Returns the candidate, or the reason to reject it. */
function checkedRow(read: ReadRow, source: ImportRow, row: number): WritableRow | Rejected {
  const { line } = source;
  const reason = source.fault ?? undecodable(source);
  if (reason !== null) return { row, line, field: null, reason };
  try {
    const { contact, ...standing } = read(source);
    const checked = checkWith(importedContact, contact, 'row', source.object === undefined);
    if ('error' in checked) return rejectedBy(source, row, checked.error);
    const { profile, preferences, metadata, ...said } = checked.data;
    const folded = said.emails.map(foldAddress);
    const stored = {
      profile: profile ? JSON.stringify(profile) : undefined,
      preferences: preferences ? JSON.stringify(preferences) : undefined,
      metadata: metadata ? JSON.stringify(metadata) : undefined,
    };
    return writable({ row, line, contact: { ...said, ...stored }, folded, ...standing });
  } catch (error) {
    if (error instanceof ValidationError) return rejectedBy(source, row, error);
    throw error;
  }
}

/** Converts a candidate for gathering in a window. */
export function writable(candidate: Candidate): WritableRow {
  const { row, folded, contact } = candidate;
  const { externalId } = contact;
  const names = externalId === undefined ? folded : [...folded, nameOfExternalId(externalId)];
  return { row, names, place: '', json: JSON.stringify(candidate) };
}

function rejectedBy(
  { line }: ImportRow,
  row: number,
  { fieldErrors, message }: ValidationError,
): Rejected {
  const [[field, [reason = message] = []] = [null]] = Object.entries(fieldErrors ?? {});
  return { row, line, field: field?.replace(/^emails(\.\d+)?$/, 'email') ?? null, reason };
}

function tooManyRows(): ValidationError {
  const most = mostRows.toLocaleString('en');
  return new ValidationError(`The file has more than ${most} rows: split it`);
}

async function* partsOf(rows: AsyncIterable<ImportRow>, read: ReadRow) {
  let part: (WritableRow | Rejected)[] = [];
  let row = 0;
  for await (const one of rows) {
    if (++row > mostRows) throw tooManyRows();
    part.push(checkedRow(read, one, row));
    if (part.length < rowsPerBatch) continue;
    yield part;
    part = [];
  }
  yield part;
}

export function readBatch({ rows, place }: Batch<WritableRow>): ReadBatch {
  const addresses: string[] = [];
  const externalIds: string[] = [];
  for (const name of rows.flatMap(({ names }) => names)) {
    const externalId = externalIdOf(name);
    if (externalId === null) addresses.push(name);
    else externalIds.push(externalId);
  }
  return {
    candidates: `[${rows.map(({ json }) => json).join()}]`,
    addresses: JSON.stringify(addresses),
    externalIds: JSON.stringify(externalIds),
    place,
  };
}

/** Gathers a window. */
class Window {
  #rows: WritableRow[] = [];
  #rejected: Rejected[] = [];
  #rejectedCount = 0;
  #characters = 0;

  add(one: WritableRow | Rejected): void {
    if ('json' in one) {
      this.#rows.push(one);
      this.#characters += one.json.length;
      return;
    }
    this.#rejectedCount++;
    if (this.#rejected.length < rejectedShown) this.#rejected.push(one);
  }

  isFull(mostRowsNow: number): boolean {
    const rows = this.#rows.length + this.#rejectedCount;
    return rows >= mostRowsNow || this.#characters >= charactersPerWindow;
  }

  read(): ReadWindow {
    const batches = inBatches(this.#rows).map(readBatch);
    return { batches, rejected: this.#rejected, rejectedCount: this.#rejectedCount };
  }
}

/** Yields the windows. Yields the rows before a fault of the file, then throws it. */
async function* windowsOf(rows: AsyncIterable<ImportRow>, read: ReadRow) {
  let window = new Window();
  let most = firstRows;
  try {
    for await (const part of partsOf(rows, read)) {
      for (const one of part) window.add(one);
      if (!window.isFull(most)) continue;
      yield window.read();
      window = new Window();
      most = mostRowsPerWindow;
    }
  } catch (error) {
    if (error instanceof ValidationError) yield window.read();
    throw error;
  }
  yield window.read();
}

export interface ReadOptions {
  /** Kind of the file. By default the first bytes decide. */
  as?: FileKind | undefined;
  /** Uses of columns that differ from the usual uses. */
  map: ColumnMap;
}

/**
 * Reads the header, and rows on demand.
 * @throws ValidationError for a file that is neither CSV nor JSON Lines, or does not identify
 * people.
 */
export async function readRows(
  source: AsyncIterable<Buffer>,
  { as, map: given }: ReadOptions,
): Promise<ReadFile> {
  const { header, rows, encoding } = await readTable(source, as);
  const { name: format, read, map } = formatOf(header, given);
  return { format, map, windows: windowsOf(rows, read), encoding };
}
