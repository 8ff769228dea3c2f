// Reads imported CSV (RFC 4180 and common variants) row by row in constant memory. A row that is
// too long, or an unclosed quotation mark, ends the read with an error that names the line. Callers
// interpret the rows. Only this file imports csv-parse.
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ValidationError } from '../errors.ts';

/** A row of the file. `line`: number of the first line of the row, from 1. */
export interface CsvRow {
  line: number;
  values: string[];
}

/** Error texts by the codes of csv-parse. `%` stands for `longestRow`. */
const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_MAX_RECORD_SIZE: 'the row is longer than % characters, or a quotation mark is not closed',
};

const lineEnd = /\r\n|\n|\r/g;

function occurrences(values: readonly string[], text: RegExp): number {
  let found = 0;
  for (const value of values) found += value.match(text)?.length ?? 0;
  return found;
}

/**
 * Yields the rows of UTF-8 text, without empty rows and without a byte order mark. Accepts a
 * quotation mark inside a value that is not doubled, as in many exports.
 * @throws ValidationError naming the line of a row that cannot be read
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
  longestRow: number,
): AsyncGenerator<CsvRow> {
  let lastLine = 0;
  // csv-parse counts a CR LF inside quotation marks as two lines.
  let countedTwice = 0;
  const parser = parse({
    bom: true,
    delimiter,
    // All line ends are accepted instead of the kind in the first line, because files edited by
    // hand mix them.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRow,
    // The parser emits this result, although the type allows only records.
    on_record: (values: string[], { lines }) => {
      countedTwice += occurrences(values, /\r\n/g);
      lastLine = lines - countedTwice;
      const row: CsvRow = { line: lastLine - occurrences(values, lineEnd), values };
      return row as unknown as string[];
    },
  });
  try {
    // The iteration throws the same error that the callback receives.
    yield* pipeline(Readable.from(chunks), parser, () => {}) as AsyncIterable<CsvRow>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const text = faults[error.code]?.replace('%', longestRow.toLocaleString('en'));
    throw new ValidationError(`Line ${lastLine + 1}: ${text ?? error.message}`);
  }
}
