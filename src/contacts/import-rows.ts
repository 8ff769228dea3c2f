// From the bytes of a file to the rows that an import takes, checked and in the order in which they are written
// (import-window.ts). Knows no store, so that a thread of its own can do it (import-thread.ts), and leaves rows
// as JSON, which threads hand over for two thirds of what cloning costs. What a row says is import-formats.ts.
import { checkWith } from '../api/validate.ts';
import { ValidationError } from '../errors.ts';
import { type ImportRow, readTable } from '../files/read-table.ts';
import { foldAddress } from '../net/address.ts';
import { formatOf, type ReadRow } from './import-formats.ts';
import type { Candidate, Rejected } from './import-merge.ts';
import {
  type Batch,
  externalIdOf,
  inBatches,
  type NamedRow,
  nameOfExternalId,
  rowsPerBatch,
} from './import-window.ts';
import { importedContact } from './schema.ts';

const mostRows = 5_000_000;
/** Rows whose order is changed together: fewer at first, so that the import begins soon. */
const firstRows = 5_000;
const mostRowsPerWindow = 10_000;
/** Of a file whose rows are long fewer are taken at once. */
const charactersPerWindow = 2_000_000;
/** Of those that are rejected no more are ever shown. */
export const rejectedShown = 1_000;

export type FileKind = 'csv' | 'ndjson';

/** Rows of one transaction. Lists are JSON. */
export interface ReadBatch {
  candidates: string;
  /** Whom they name, each by `foldAddress`. */
  addresses: string;
  externalIds: string;
  /** As in import-window.ts. */
  place: string | null;
}

/** Rows that follow each other in the file, in the order in which they are written. */
export interface ReadWindow {
  batches: ReadBatch[];
  /** The first of those that are not taken, and how many there are. */
  rejected: Rejected[];
  rejectedCount: number;
}

export interface ReadFile {
  /** As the header shows it. */
  format: string;
  /** Throws a ValidationError where the file cannot be read on; what was read before comes first. */
  windows: AsyncIterable<ReadWindow>;
}

/** A candidate while a window is gathered: few objects, as thousands of them live so long. */
export interface WritableRow extends NamedRow {
  json: string;
}

/** The candidate of a row, or why it is none. */
function checkedRow(read: ReadRow, source: ImportRow, row: number): WritableRow | Rejected {
  if (!source.field) return { row, field: null, reason: 'is not a JSON object' };
  try {
    const { contact, ...standing } = read(source);
    const checked = checkWith(importedContact, contact, 'row', source.object === undefined);
    if ('error' in checked) return rejectedBy(row, checked.error);
    const { profile, preferences, metadata, ...said } = checked.data;
    const folded = said.emails.map(foldAddress);
    const stored = {
      profile: profile ? JSON.stringify(profile) : undefined,
      preferences: preferences ? JSON.stringify(preferences) : undefined,
      metadata: metadata ? JSON.stringify(metadata) : undefined,
    };
    return writable({ row, contact: { ...said, ...stored }, folded, ...standing });
  } catch (error) {
    if (error instanceof ValidationError) return rejectedBy(row, error);
    throw error;
  }
}

/** A candidate as a window gathers it. */
export function writable(candidate: Candidate): WritableRow {
  const { row, folded, contact } = candidate;
  const { externalId } = contact;
  const names = externalId === undefined ? folded : [...folded, nameOfExternalId(externalId)];
  return { row, names, place: '', json: JSON.stringify(candidate) };
}

function rejectedBy(row: number, { fieldErrors, message }: ValidationError): Rejected {
  const [[field, [reason = message] = []] = [null]] = Object.entries(fieldErrors ?? {});
  return { row, field: field?.replace(/^emails(\.\d+)?$/, 'email') ?? null, reason };
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

/** What was read before a fault of the file is given before it is thrown. */
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

/**
 * Reads the header, and the rows as they are asked for. `as`: what the file is; else its beginning decides.
 * @throws ValidationError for what is neither CSV nor JSON Lines, or tells nobody apart.
 */
export async function readRows(source: AsyncIterable<Buffer>, as?: FileKind): Promise<ReadFile> {
  const { header, rows } = await readTable(source, as);
  const { name: format, read } = formatOf(header);
  return { format, windows: windowsOf(rows, read) };
}
