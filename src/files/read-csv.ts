// CSV from outside (RFC 4180 and what is called CSV elsewhere), row by row in constant memory: a row
// that is too long or a quotation mark that is never closed ends the reading with its line. What the
// rows mean is for the reader. Doorway to csv-parse.
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ValidationError } from '../errors.ts';

/** One record; `line` is where it begins, from 1. */
export interface CsvRow {
  line: number;
  values: string[];
}

/** Texts by csv-parse's codes; `%` is the longest row. */
const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_MAX_RECORD_SIZE: 'the row is longer than % characters, or a quotation mark is not closed',
};

function occurrences(values: readonly string[], text: string): number {
  let found = 0;
  for (const value of values) if (value.includes(text)) found += value.split(text).length - 1;
  return found;
}

/**
 * The rows of UTF-8 text, without the empty ones; a byte order mark is left out. Quotation marks
 * inside a value are taken as they are, since many exports do not double them.
 * @throws ValidationError naming the line where it cannot go on.
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
    // Not found out from the first line: what was edited by hand mixes them.
    record_delimiter: ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRow,
    // Whatever this returns comes out; its type knows records only.
    on_record: (values: string[], { lines }) => {
      countedTwice += occurrences(values, '\r\n');
      lastLine = lines - countedTwice;
      const row: CsvRow = { line: lastLine - occurrences(values, '\n'), values };
      return row as unknown as string[];
    },
  });
  try {
    // Its callback is told what the iteration throws too.
    yield* pipeline(Readable.from(chunks), parser, () => {}) as AsyncIterable<CsvRow>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const text = faults[error.code]?.replace('%', longestRow.toLocaleString('en'));
    throw new ValidationError(`Line ${lastLine + 1}: ${text ?? error.message}`);
  }
}
