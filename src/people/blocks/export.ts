// Export of blocks as CSV or JSON Lines, page by page, so that millions need no memory. `svc blocks
// import` reads the same format back. Cells that a spreadsheet would take for a formula are
// guarded.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { csvRow } from '../../platform/csv/write-csv.ts';
import { presentBlock } from './blocks.ts';
import { selectBlocksAfter } from './queries.ts';
import type { Block, ExportOptions } from './schema.ts';

const rowsPerPage = 1_000;

const columns = [
  'id',
  'address',
  'reason',
  'unsubscribeGroupId',
  'messageId',
  'createdAt',
] as const satisfies readonly (keyof Block)[];

const csvLine = (block: Block) => csvRow(columns.map((column) => block[column]));

/** Yields the text of the export in pieces, oldest first, each with the number of blocks. */
export async function* exportBlocks(
  app: App,
  caller: Caller,
  { format, reason }: ExportOptions,
): AsyncGenerator<{ text: string; blocks: number }> {
  if (format === 'csv') yield { text: csvRow(columns), blocks: 0 };
  const lineOf = format === 'csv' ? csvLine : (block: Block) => `${JSON.stringify(block)}\n`;
  let afterId = '';
  for (;;) {
    const { db } = app.store;
    const { organizationId } = caller;
    const rows = await selectBlocksAfter(db, organizationId, { reason }, afterId, rowsPerPage);
    const last = rows.at(-1);
    if (!last) return;
    yield { text: rows.map((row) => lineOf(presentBlock(row))).join(''), blocks: rows.length };
    afterId = last.id;
  }
}
