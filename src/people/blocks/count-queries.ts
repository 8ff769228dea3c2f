// All SQL on `block_counts`: blocks of an organization by reason, counted in the transactions that
// add and lift them.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { BlockReason } from './schema.ts';

interface BlockCountRow {
  organization_id: string;
  reason: BlockReason;
  count: number;
}

interface CountTables {
  block_counts: BlockCountRow;
}

const own = ownTables<CountTables>();

const counts = own.counter('block_counts', ['organization_id', 'reason'], ['count']);

/** Records that blocks were added (`by` 1) or lifted (-1). */
export function recordBlocks(
  trx: Db,
  blocks: readonly Pick<BlockCountRow, 'organization_id' | 'reason'>[],
  by: 1 | -1,
): void {
  for (const { organization_id, reason } of blocks) {
    counts.add(trx, { organization_id, reason }, { count: by });
  }
}

/** Counts the blocks of a reason, or of all reasons. */
export async function sumBlocks(
  db: Db,
  organizationId: string,
  reason: BlockReason | undefined,
): Promise<number> {
  const rows = await tables<CountTables>(db)
    .selectFrom('block_counts')
    .select('count')
    .where('organization_id', '=', organizationId)
    .$if(reason !== undefined, (q) => q.where('reason', '=', reason ?? 'manual'))
    .execute();
  return rows.reduce((sum, { count }) => sum + count, 0);
}
