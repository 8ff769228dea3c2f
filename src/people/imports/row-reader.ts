// Types of the row readers in contact-rows.ts and block-rows.ts, as the pipeline calls them.
import type { ImportRow } from '../../platform/csv/read-table.ts';
import type { ColumnUse } from './services.ts';
import type { WritableRow } from './window.ts';

/** A row that the import leaves out. */
export interface LeftRow {
  /** Number of the data row, from 1. */
  row: number;
  /** First line of the row in the file. */
  line: number;
  /** Field of the contact with the fault; null for a fault of the whole row. */
  field: string | null;
  /** Address column of a list of blocks; missing for contacts. */
  address?: string;
  reason: string;
}

/** Results of rows that are left out. A `skipped` row is valid, but means no block. */
export const leftResults = ['rejected', 'skipped'] as const;

export interface LeftOut {
  result: (typeof leftResults)[number];
  left: LeftRow;
}

/** Reader of the rows of a file. Uses neither store nor clock, so that a thread can run it. */
export interface RowReader {
  /** Name of the recognized file format. */
  format: string;
  title: string;
  /** The use of each column of a file of contacts; empty without a header, and for blocks. */
  map: Readonly<Record<string, ColumnUse>>;
  read(source: ImportRow, row: number): WritableRow | LeftOut;
}
