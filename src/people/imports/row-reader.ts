// The shape of readers of rows (contact-rows.ts, block-rows.ts), as the pipeline calls them.
import type { ImportRow } from '../../platform/csv/read-table.ts';
import type { ColumnUse } from './services.ts';
import type { WritableRow } from './window.ts';

/** Row that changes nothing. */
export interface LeftRow {
  /** Number of the data row, from 1. */
  row: number;
  /** First line of the row in the file. */
  line: number;
  /** Field of the contact with the fault. */
  field: string | null;
  /** Text in the column of addresses of a list of blocks. */
  address?: string;
  reason: string;
}

/** `skipped` rows are understood and ask for no change. */
export const leftResults = ['rejected', 'skipped'] as const;

export interface LeftOut {
  result: (typeof leftResults)[number];
  left: LeftRow;
}

/** Reader of the rows of a file. Needs neither store nor clock, so that it can run on a thread. */
export interface RowReader {
  /** Name of the format that the header shows. */
  format: string;
  title: string;
  /** The use of each column of a file of contacts; empty without a header. */
  map: Readonly<Record<string, ColumnUse>>;
  read(source: ImportRow, row: number): WritableRow | LeftOut;
}
