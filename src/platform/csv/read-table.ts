// Turns the bytes of a file into rows with named fields: CSV with or without a header, or JSON
// Lines. Files may be hostile: rows are bounded, and unreadable rows are reported.
// src/people/imports interprets the fields.

import { ValidationError } from '../errors.ts';
import { parseAddress } from '../net/address.ts';
import { EncodedFile, type Encoding } from './decode.ts';
import { type CsvRow, csvRows } from './read-csv.ts';
import { jsonRows } from './read-json-lines.ts';

/**
 * Longest row, in characters of CSV or bytes of JSON: longer than the longest diagnostic text of
 * any export.
 */
const longestRow = 65_536;
const mostNamesShown = 10;

export interface ImportRow {
  line: number;
  /** Reason to reject the row, whatever the fields are. */
  fault?: string;
  /** Returns the trimmed text of a column, or '' if the column is missing. */
  field: (column: string) => string;
  /**
   * Unchanged CSV cells in the order of the header (`cellText` cleans a cell); missing for JSON.
   */
  cells?: readonly string[];
  /** Object of a JSON line; missing for CSV. */
  object?: Readonly<Record<string, unknown>>;
}

export interface ImportTable {
  /** Column names in the file; null without a header. */
  header: readonly string[] | null;
  rows: AsyncIterable<ImportRow>;
  /** Returns the encoding of the file; final after the last row. */
  encoding(): Encoding;
  /** Set if the file states that it is only a part of a longer list. */
  isPartial?: true;
}

const asciiName = /^[\0-\x7f]*$/;

/**
 * Returns the key of a column name: `CreatedAt`, `created_at` and `Created at` have the same key.
 * Ignores accents.
 */
export function columnKey(name: string): string {
  const lower = name.toLowerCase();
  if (asciiName.test(lower)) return lower.replace(/[^a-z0-9]/g, '');
  return lower.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '');
}

/** Columns of a list without a header. */
const bareColumns = ['email', 'reason'] as const;

/**
 * Matches the apostrophe before text that spreadsheets would read as a formula. write-csv.ts and
 * similar programs write it as a guard.
 */
const guarded = /^'(?=[=+\-@\t\r'])/;

/**
 * Returns the start of the file, with the first non-empty line or 64 KB, and a stream of the whole
 * file.
 */
async function peek(
  chunks: AsyncGenerator<Buffer>,
): Promise<{ head: string; all: AsyncIterable<Buffer> }> {
  let read = Buffer.alloc(0);
  let head = '';
  // A first line with only a bracket does not show the kind of document, so more is read.
  while (!/[\r\n]/.test(head.replace(/^[{\s]+/, '')) && read.length <= longestRow) {
    const { value, done } = await chunks.next();
    if (done) break;
    read = Buffer.concat([read, value]);
    head = read.toString('utf8').trimStart();
  }
  const all = (async function* () {
    yield read;
    yield* chunks;
  })();
  return { head, all };
}

/** Returns the most frequent separator in the first line: comma, semicolon or tab. */
function delimiterOf(head: string): string {
  const [line = ''] = head.split(/[\r\n]/, 1);
  const count = (delimiter: string) => line.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best));
}

/** Returns the text of a cell: trimmed, without the guard against formulas. */
export function cellText(cell: string): string {
  return (guarded.test(cell) ? cell.slice(1) : cell).trim();
}

function fieldReader(
  columns: readonly string[],
): (values: readonly string[]) => ImportRow['field'] {
  const places = new Map<string, number>();
  for (const [place, name] of columns.entries()) {
    const key = columnKey(name);
    if (!places.has(key)) places.set(key, place);
  }
  return (values) => (column) => {
    return cellText(values[places.get(columnKey(column)) ?? -1] ?? '');
  };
}

/** A table as the reader of a format returns it; the caller adds the encoding. */
type DecodedTable = Omit<ImportTable, 'encoding'>;

/** Returns a fault if a row has more values than columns: values may be in the wrong columns. */
function shiftOf(values: readonly string[], columns: number): { fault?: string } {
  if (values.length <= columns) return {};
  const fault =
    `has ${values.length} values under ${columns} columns: put quotation marks around a value ` +
    'that holds the separator';
  return { fault };
}

/** @throws ValidationError that names two columns with equal keys (`columnKey`) */
export function refuseDuplicates(header: readonly string[]): void {
  const places = Map.groupBy(header.keys(), (at) => columnKey(header[at] ?? ''));
  for (const [key, [first, second]] of places) {
    if (key === '' || first === undefined || second === undefined) continue;
    const [one, other] = [first, second].map((at) => header[at]?.slice(0, 40));
    const names = one === other ? `the column ${one} twice` : `two columns ${one} and ${other}`;
    throw new ValidationError(
      `The file has ${names} (${first + 1} and ${second + 1}): rename or remove one of them`,
    );
  }
}

async function csvTable(all: AsyncIterable<Buffer>, delimiter: string): Promise<DecodedTable> {
  const records = csvRows(all, delimiter, longestRow);
  const first = await records.next();
  if (first.done) throw new ValidationError('The file is empty');
  const [start = ''] = first.value.values;
  const isBare = parseAddress(start.trim()) !== null;
  const header = isBare ? null : first.value.values.map((name) => name.trim());
  const fieldsOf = fieldReader(header ?? bareColumns);
  const width = header?.length ?? Infinity;
  const rowOf = ({ line, values }: CsvRow): ImportRow => {
    return { line, field: fieldsOf(values), cells: values, ...shiftOf(values, width) };
  };
  const rows = (async function* (): AsyncGenerator<ImportRow> {
    if (isBare) yield rowOf(first.value);
    for await (const row of records) yield rowOf(row);
  })();
  return { header, rows };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string').join(', ');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function objectFields(object: Readonly<Record<string, unknown>>): ImportRow['field'] {
  const values = new Map(Object.entries(object).map(([name, value]) => [columnKey(name), value]));
  return (column) => textOf(values.get(columnKey(column)));
}

/** Returns the row of a JSON value; with a fault if the value is not an object. */
function objectRow(line: number, value: unknown): ImportRow {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, fault: 'is not a JSON object', field: () => '' };
  }
  const object = value as Record<string, unknown>;
  return { line, field: objectFields(object), object };
}

async function jsonTable(all: AsyncIterable<Buffer>): Promise<DecodedTable> {
  const objects = jsonRows(all, longestRow);
  const first = await objects.next();
  if (first.done || first.value.object === null) {
    throw new ValidationError(
      'The file is a JSON document, but JSON Lines are expected, one object on each line. ' +
        "For an array: jq -c '.[]', for a list with a name: jq -c '.Suppressions[]'",
    );
  }
  const { line, object } = first.value;
  const rows = (async function* (): AsyncGenerator<ImportRow> {
    yield objectRow(line, object);
    for await (const row of objects) yield objectRow(row.line, row.object);
  })();
  return { header: Object.keys(object), rows };
}

/** Start of the output of `aws sesv2 list-suppressed-destinations`, a document of many lines. */
const sesDocument = /^\{\s*"SuppressedDestinationSummaries"\s*:/;
/**
 * Most bytes of a document of Amazon SES. An answer has at most 1,000 entries in 150 KB; a file of
 * joined answers has more.
 */
const longestDocument = 64_000_000;

async function readWhole(all: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of all) {
    bytes += part.length;
    if (bytes > longestDocument) {
      throw new ValidationError(`The document is longer than ${longestDocument / 1e6} MB`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Reads a document of Amazon SES. Numbers the rows from 1, since the document has no line numbers.
 */
async function sesTable(all: AsyncIterable<Buffer>): Promise<DecodedTable> {
  const text = await readWhole(all);
  let document: Record<string, unknown>;
  try {
    document = JSON.parse(text);
  } catch {
    throw new ValidationError('The JSON document is incomplete');
  }
  const { SuppressedDestinationSummaries: summaries, NextToken: nextToken } = document;
  if (!Array.isArray(summaries)) {
    throw new ValidationError('SuppressedDestinationSummaries is not a list');
  }
  const rows = (async function* (): AsyncGenerator<ImportRow> {
    for (const [at, one] of summaries.entries()) yield objectRow(at + 1, one);
  })();
  const header = ['EmailAddress', 'Reason', 'LastUpdateTime'];
  return { header, rows, ...(Boolean(nextToken) && { isPartial: true }) };
}

/**
 * Reads the header now and the rows on demand. `as` names the format; by default the start of the
 * file decides.
 * @throws ValidationError for a file that is neither CSV nor JSON Lines; reading a row may throw it
 * too
 */
export async function readTable(
  source: AsyncIterable<Buffer>,
  as?: 'csv' | 'ndjson',
): Promise<ImportTable> {
  const file = new EncodedFile();
  const { head, all } = await peek(file.utf8(source));
  const table = await decodedTable(head, all, as);
  return { ...table, encoding: () => file.encoding };
}

function decodedTable(
  head: string,
  all: AsyncIterable<Buffer>,
  as?: 'csv' | 'ndjson',
): Promise<DecodedTable> {
  if (as === undefined && sesDocument.test(head)) return sesTable(all);
  const isJson = as === undefined ? /^[{[]/.test(head) : as === 'ndjson';
  return isJson ? jsonTable(all) : csvTable(all, delimiterOf(head));
}

/** Lists the first ten columns for a message, because a file may have thousands. */
export function columnsInWords(header: readonly string[]): string {
  const names = header.slice(0, mostNamesShown).map((name) => name.slice(0, 40));
  return header.length > mostNamesShown ? `${names.join(', ')}, …` : names.join(', ');
}
