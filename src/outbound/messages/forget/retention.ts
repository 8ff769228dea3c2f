// Deletes messages older than `retention.messagesDays`, like a deletion by hand, and before that
// the content of messages older than `retention.contentDays`. An organization may have shorter
// periods. Usage keeps the counts. A message that has not ended (for example, scheduled) stays
// until it ends. The oldest messages come first, each in a separate transaction. The run pauses
// after a few messages, and longer while the service has foreground work.
import { findRetainingOrganizations } from '../../../access/organizations/queries.ts';
import type { App } from '../../../core/app.ts';
import { timeOfAge } from '../../../core/clock/age.ts';
import { sleep } from '../../../platform/runtime/clock.ts';
import type { Db } from '../../../platform/store/db.ts';
import { rowsOfPages } from '../../../platform/store/rows/row-pages.ts';
import { hasContent, type LinkKeeper, removeContent } from '../contents/content-removal.ts';
import type { Surroundings } from '../lists/search.ts';
import { removeMessage } from '../messages.ts';
import { type EndedRow, findEnded, findEndedOf } from './retention-queries.ts';

const dayMs = 86_400_000;
/**
 * Time for which deletions run without a pause. It is half of the delay that foreground work may
 * see, as the last message may be large.
 */
const goMs = 25;
const mostPerGo = 50;
const mostPerLook = 500;
const organizationsPerLook = 100;
const restMs = 25;
const restBesideWorkMs = 200;
const restInBurstMs = 500;

interface RetentionParts extends Surroundings {
  /** Keeps the targets of tracked links when their content is deleted. */
  keeper: LinkKeeper;
}

/** A kind of deletion: of whole messages, or of their content alone. */
interface Pass {
  /** Most messages of a single read. */
  limit: number;
  /** Tells whether a message that was read has something to delete. */
  needs(row: EndedRow): boolean;
  /** Prepares a deletion outside the transaction, and returns the transaction's work. */
  prepare(app: App, id: string): Promise<(trx: Db) => Promise<boolean>>;
  /** Message of the log line. */
  words: string;
}

const wholeMessages: Pass = {
  limit: mostPerGo,
  needs: () => true,
  prepare: async (app, id) => (trx) => removeMessage(app, trx, id),
  words: 'old messages were deleted',
};

const contents = (keeper: LinkKeeper): Pass => ({
  // Most old messages have lost their content already, so each read skips many of them.
  limit: mostPerLook,
  needs: hasContent,
  async prepare(app, id) {
    const urls = await keeper.read(app, id);
    return (trx) => removeContent(app, trx, id, { keeper, urls });
  },
  words: 'the content of old messages was deleted',
});

/**
 * Deletes the messages and contents that are too old now, by the periods of the configuration and
 * of organizations. Ends after the current message if the signal aborts.
 * @returns the number of deletions
 */
export async function deleteOldMessages(
  app: App,
  { isPressing, isWorking, keeper }: RetentionParts,
  signal: AbortSignal,
): Promise<number> {
  const { clock, config, store } = app;

  const pauseMs = () => {
    if (isPressing()) return restInBurstMs;
    return isWorking() ? restBesideWorkMs : restMs;
  };

  /**
   * Deletes for `goMs`. Returns the number of deletions and the last handled message, or null if
   * `rows` is empty.
   */
  const go = async ({ needs, prepare }: Pass, rows: readonly EndedRow[]) => {
    const startedAt = clock.elapsed();
    let removed = 0;
    for (const row of rows.filter(needs)) {
      if (await store.write(await prepare(app, row.id), 'quiet')) removed += 1;
      const isOver = clock.elapsed() - startedAt >= goMs || signal.aborted;
      if (isOver) return { removed, at: row };
    }
    return { removed, at: rows.at(-1) ?? null };
  };

  const runPass = async (pass: Pass, days: number | null, organizationId?: string) => {
    if (days === null) return 0;
    const beforeMs = await timeOfAge(app, days * dayMs);
    const look = (after: EndedRow | null) => {
      const range = { after, beforeMs, limit: pass.limit };
      return organizationId === undefined
        ? findEnded(store.db, range)
        : findEndedOf(store.db, organizationId, range);
    };
    let total = 0;
    for (let after: EndedRow | null = null; !signal.aborted; ) {
      const done: { removed: number; at: EndedRow | null } = await go(pass, await look(after));
      total += done.removed;
      after = done.at;
      if (after === null) break;
      await sleep(clock, pauseMs(), signal);
    }
    if (total > 0) app.log.info({ messages: total, days, organizationId }, pass.words);
    return total;
  };

  /** Runs a pass for each organization with a shorter period, then a pass for all organizations. */
  const runPasses = async (
    pass: Pass,
    days: number | null,
    own: (row: Retaining) => number | null,
  ) => {
    let total = 0;
    const organizations = rowsOfPages(
      (after) => findRetainingOrganizations(store.db, { after, limit: organizationsPerLook }),
      ({ id }) => id,
    );
    for await (const row of organizations) {
      const period = own(row);
      const isShorter = period !== null && (days === null || period < days);
      if (isShorter) total += await runPass(pass, period, row.id);
    }
    return total + (await runPass(pass, days));
  };

  const { messagesDays, contentDays } = config.retention;
  const whole = await runPasses(wholeMessages, messagesDays, (row) => row.messages_days);
  return whole + (await runPasses(contents(keeper), contentDays, (row) => row.content_days));
}

type Retaining = Awaited<ReturnType<typeof findRetainingOrganizations>>[number];
