// Reads the bytes of a file into checked rows, in the order of writing (window.ts). Does not know
// the store, so it can run on a separate thread (thread.ts). contact-rows.ts and block-rows.ts
// interpret the rows.
import type { Encoding } from '../../platform/csv/decode.ts';
import { cellText, type ImportRow, readTable } from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { blockReader } from './block-rows.ts';
import type { ColumnMap } from './columns.ts';
import { contactReader, recognizedUses } from './contact-rows.ts';
import { type LeftOut, type LeftRow, leftResults, type RowReader } from './row-reader.ts';
import type { ColumnUse } from './services.ts';
import { inBatches, type ReadBatch, readBatch, rowsPerBatch, type WritableRow } from './window.ts';

const mostRows = 5_000_000;
/**
 * Most rows of the first window, fewer than in later windows, so that the import begins soon. The
 * rows of a window are reordered together.
 */
const firstRows = 5_000;
const mostRowsPerWindow = 10_000;
/** Most JSON characters of a window, for files with long rows. */
const charactersPerWindow = 2_000_000;
/** Most left-out rows with a result that a window keeps, because reports show no more. */
export const mostLeftShown = 1_000;

export type FileKind = 'csv' | 'ndjson';

/** Number of the left-out rows with a result, and the first rows. */
export interface LeftRows {
  count: number;
  first: LeftRow[];
}

/** Consecutive rows of the file in batches, in the order of writing, and the left-out rows. */
export interface ReadWindow extends Record<LeftOut['result'], LeftRows> {
  batches: ReadBatch[];
}

/** The facts that the header of a file shows. */
export interface FileHead extends Omit<RowReader, 'read'> {
  /** Set if the file states that it is only a part of a longer list. */
  isPartial?: true;
}

export interface ReadFile extends FileHead {
  /** Returns the encoding of the file; final after the last window. */
  encoding(): Encoding;
  /** Windows of rows. Throws a ValidationError at a fault of the file, after the earlier rows. */
  windows: AsyncIterable<ReadWindow>;
}

/** Options for reading an import file; `noun` is the kind of the imported rows. */
export type ReadOptions =
  | {
      noun: 'contacts';
      /** Kind of the file. By default the first bytes decide. */
      as?: FileKind | undefined;
      /** Uses of columns that the caller gives. */
      map: ColumnMap;
    }
  | {
      noun: 'blocks';
      /** Name of a format of services.ts. By default the header decides. */
      format?: string | undefined;
      /** Reason for rows of plain lists without a reason. */
      reason: BlockReason;
      /** Time of the import: a later time in a row is ignored. */
      now: number;
    };

function readerOf(header: readonly string[] | null, options: ReadOptions): RowReader {
  return options.noun === 'contacts'
    ? contactReader(header, options.map)
    : blockReader(header, options);
}

function tooManyRows(): ValidationError {
  const most = mostRows.toLocaleString('en');
  return new ValidationError(`The file has more than ${most} rows: split it`);
}

async function* partsOf(rows: AsyncIterable<ImportRow>, read: RowReader['read']) {
  let part: (WritableRow | LeftOut)[] = [];
  let row = 0;
  for await (const one of rows) {
    if (++row > mostRows) throw tooManyRows();
    part.push(read(one, row));
    if (part.length < rowsPerBatch) continue;
    yield part;
    part = [];
  }
  yield part;
}

/** Collects the rows of a window until a limit is reached. */
class Window {
  #rows: WritableRow[] = [];
  readonly #left = { rejected: leftRows(), skipped: leftRows() };
  #characters = 0;

  add(one: WritableRow | LeftOut): void {
    if ('json' in one) {
      this.#rows.push(one);
      this.#characters += one.json.length;
      return;
    }
    const group = this.#left[one.result];
    group.count++;
    if (group.first.length < mostLeftShown) group.first.push(one.left);
  }

  isFull(mostRowsNow: number): boolean {
    const left = leftResults.reduce((sum, result) => sum + this.#left[result].count, 0);
    return this.#rows.length + left >= mostRowsNow || this.#characters >= charactersPerWindow;
  }

  read(): ReadWindow {
    return { batches: inBatches(this.#rows).map(readBatch), ...this.#left };
  }
}

const leftRows = (): LeftRows => ({ count: 0, first: [] });

/** Yields the windows. At a fault of the file, yields the earlier rows, then throws. */
async function* windowsOf(rows: AsyncIterable<ImportRow>, read: RowReader['read']) {
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
 * Reads the header now, and the rows on demand. @throws ValidationError for a file that is neither
 * CSV nor JSON Lines, or does not identify people.
 */
export async function readRows(
  source: AsyncIterable<Buffer>,
  options: ReadOptions,
): Promise<ReadFile> {
  const as = options.noun === 'contacts' ? options.as : undefined;
  const { header, rows, encoding, isPartial } = await readTable(source, as);
  const { read, ...head } = readerOf(header, options);
  return { ...head, ...(isPartial && { isPartial }), windows: windowsOf(rows, read), encoding };
}

/** A column of a file of contacts, as the console shows it before an import. */
export interface SeenColumn {
  name: string;
  /** The recognized use; null for a column that the person must map. */
  use: ColumnUse | null;
  /** Values of the first three rows, without empty values. */
  samples: string[];
}

const rowsSeen = 3;
const longestSample = 60;

/** Reads the columns of a file of contacts, with the values of the first rows. */
export async function readColumns(
  source: AsyncIterable<Buffer>,
  as: FileKind,
): Promise<SeenColumn[]> {
  const { header, rows } = await readTable(source, as);
  const names = header ?? ['email'];
  const uses = recognizedUses(names);
  const first: ImportRow[] = [];
  for await (const row of rows) {
    first.push(row);
    if (first.length === rowsSeen) break;
  }
  const valueAt = ({ cells, field }: ImportRow, at: number) =>
    cells ? cellText(cells[at] ?? '') : field(names[at] ?? '');
  return names.map((name, at) => ({
    name,
    use: uses[at] ?? null,
    samples: first.map((row) => valueAt(row, at).slice(0, longestSample)).filter(Boolean),
  }));
}
