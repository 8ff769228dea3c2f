// Lifts many blocks: by reason, time and domain, such as after a DNS fault that bounced good mail.
// Goes over the blocks of a reason page by page, a page in each transaction.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { presentBlock } from './blocks.ts';
import * as queries from './queries.ts';
import type { Block, LiftBlocks } from './schema.ts';

const rowsPerPage = 500;
/** Most blocks that a person sees before lifting the selection. */
const mostShown = 10;

/** The blocks that a lift would remove. */
export interface Liftable {
  selected: number;
  /** The oldest blocks of the selection. */
  first: Block[];
}

/** Yields the blocks of the selection, page by page, the oldest first. A page may be empty. */
async function* pagesOf(
  db: Db,
  organizationId: string,
  { reason, domain, ...range }: LiftBlocks,
): AsyncGenerator<queries.BlockRow[]> {
  const { from, to } = boundsOf(range);
  let afterId = from === undefined ? '' : firstIdAt('block', Math.max(0, from));
  const isBefore = ({ created_at: at }: queries.BlockRow) => to === undefined || at < to;
  for (;;) {
    const rows = await queries.selectBlocksAfter(
      db,
      organizationId,
      { reason },
      afterId,
      rowsPerPage,
    );
    const last = rows.at(-1);
    if (!last) return;
    const isOfDomain = ({ folded_address: address }: queries.BlockRow) =>
      domain === undefined || address.endsWith(foldAddress(`@${domain}`));
    yield rows.filter((row) => isBefore(row) && isOfDomain(row));
    if (!isBefore(last)) return;
    afterId = last.id;
  }
}

/** Counts the blocks of a selection, and shows the oldest. */
export async function findLiftable(
  app: App,
  caller: Caller,
  selection: LiftBlocks,
): Promise<Liftable> {
  const first: Block[] = [];
  let selected = 0;
  for await (const rows of pagesOf(app.store.db, caller.organizationId, selection)) {
    selected += rows.length;
    first.push(...rows.slice(0, mostShown - first.length).map(presentBlock));
  }
  return { selected, first };
}

/** Lifts the blocks of a selection. `onProgress` receives the number lifted so far. */
export async function liftBlocks(
  app: App,
  caller: Caller,
  selection: LiftBlocks,
  onProgress: (lifted: number) => void = () => {},
): Promise<{ lifted: number }> {
  const { reason, domain } = selection;
  const { from, to } = boundsOf(selection);
  const [since, until] = [from, to].map((ms) => isoTime(ms ?? null) ?? undefined);
  let lifted = 0;
  for await (const rows of pagesOf(app.store.db, caller.organizationId, selection)) {
    if (rows.length === 0) continue;
    const ids = rows.map(({ id }) => id);
    lifted += await app.store.write(async (trx) => {
      const gone = await queries.deleteBlockRows(trx, caller.organizationId, ids);
      const details = { reason, since, until, domain, lifted: gone };
      if (gone > 0) {
        await record(app, trx, caller, { subject: null, action: 'block.deleted', details });
      }
      return gone;
    });
    onProgress(lifted);
  }
  return { lifted };
}
