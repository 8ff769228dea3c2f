// Reads imported JSON Lines (an object on each line) in constant memory. A line that is too long
// ends the read with an error. For a line that is not an object, the row has null, which callers
// refuse.
import { ValidationError } from '../errors.ts';

/** A line of the file, counted from 1. `object` is null if the line has no JSON object. */
export interface JsonRow {
  line: number;
  object: Readonly<Record<string, unknown>> | null;
}

const lineFeed = 10;

function readObject(text: string): JsonRow['object'] {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/**
 * Yields the lines without line feeds.
 * @throws ValidationError for a line of more than `longestRow` bytes
 */
async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  longestRow: number,
): AsyncGenerator<{ line: number; text: string }> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  const guard = (length: number) => {
    if (length <= longestRow) return;
    const most = longestRow.toLocaleString('en');
    throw new ValidationError(`Line ${line}: the line is longer than ${most} bytes`);
  };
  for await (const chunk of chunks) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let start = 0;
    for (let end = data.indexOf(lineFeed); end >= 0; end = data.indexOf(lineFeed, start)) {
      guard(end - start);
      yield { line, text: data.toString('utf8', start, end) };
      line++;
      start = end + 1;
    }
    rest = data.subarray(start);
    guard(rest.length);
  }
  if (rest.length > 0) yield { line, text: rest.toString('utf8') };
}

/**
 * Yields a row for each line that is not empty.
 * @throws ValidationError for a line of more than `longestRow` bytes
 */
export async function* jsonRows(
  chunks: AsyncIterable<Buffer>,
  longestRow: number,
): AsyncGenerator<JsonRow> {
  for await (const { line, text } of linesOf(chunks, longestRow)) {
    // `trim` also removes a byte order mark.
    const json = text.trim();
    if (json !== '') yield { line, object: readObject(json) };
  }
}
