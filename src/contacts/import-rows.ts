// From the bytes of a file to the rows that an import takes, checked, some hundred at a time. Knows no store, so
// that a thread of its own can do it (import-thread.ts). What a row says is import-formats.ts.
import { checkWith } from '../api/validate.ts';
import { ValidationError } from '../errors.ts';
import { type ImportRow, readTable } from '../files/read-table.ts';
import { foldAddress } from '../net/address.ts';
import { formatOf, type ReadRow } from './import-formats.ts';
import type { Candidate, Rejected } from './import-merge.ts';
import { importedContact } from './schema.ts';

const mostRows = 5_000_000;
const rowsPerPart = 500;

export type FileKind = 'csv' | 'ndjson';

/** One row of the file: what it says, or why it is not taken. */
export type CheckedRow = Candidate | Rejected;

/** Rows that follow each other in the file. */
export interface ReadPart {
  rows: CheckedRow[];
  /** What they take, at least; 0 where they are few. */
  characters: number;
}

export interface ReadFile {
  /** As the header shows it. */
  format: string;
  /** Throws a ValidationError where the file cannot be read on. */
  parts: AsyncIterable<ReadPart>;
}

/** The candidate of a row, or why it is none. */
function checkedRow(read: ReadRow, source: ImportRow, row: number): CheckedRow {
  if (!source.field) return { row, field: null, reason: 'is not a JSON object' };
  try {
    const { contact, ...standing } = read(source);
    const checked = checkWith(importedContact, contact, 'row', source.object === undefined);
    if ('error' in checked) return rejectedBy(row, checked.error);
    const folded = checked.data.emails.map(foldAddress);
    return { row, contact: checked.data, folded, ...standing };
  } catch (error) {
    if (error instanceof ValidationError) return rejectedBy(row, error);
    throw error;
  }
}

function rejectedBy(row: number, { fieldErrors, message }: ValidationError): Rejected {
  const [[field, [reason = message] = []] = [null]] = Object.entries(fieldErrors ?? {});
  return { row, field: field?.replace(/^emails(\.\d+)?$/, 'email') ?? null, reason };
}

function tooManyRows(): ValidationError {
  const most = mostRows.toLocaleString('en');
  return new ValidationError(`The file has more than ${most} rows: split it`);
}

async function* partsOf(rows: AsyncIterable<ImportRow>, read: ReadRow): AsyncGenerator<ReadPart> {
  let part: CheckedRow[] = [];
  let row = 0;
  for await (const one of rows) {
    if (++row > mostRows) throw tooManyRows();
    part.push(checkedRow(read, one, row));
    if (part.length < rowsPerPart) continue;
    yield { rows: part, characters: 0 };
    part = [];
  }
  yield { rows: part, characters: 0 };
}

/**
 * Reads the header, and the rows as they are asked for. `as`: what the file is; else its beginning decides.
 * @throws ValidationError for what is neither CSV nor JSON Lines, or tells nobody apart.
 */
export async function readRows(source: AsyncIterable<Buffer>, as?: FileKind): Promise<ReadFile> {
  const { header, rows } = await readTable(source, as);
  const { name: format, read } = formatOf(header);
  return { format, parts: partsOf(rows, read) };
}
