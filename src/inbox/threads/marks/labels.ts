// Labels of a thread: short texts. A label keeps its case, but comparisons ignore the case.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { changesOf } from '../../../history/audit/audit.ts';
import { record } from '../../../history/events/record.ts';
import { ConflictError } from '../../../platform/errors.ts';
import type { Db } from '../../../platform/store/db.ts';
import { storeAction } from '../../approvals/actions.ts';
import type { ThreadRow } from '../queries.ts';
import { type LabelsInput, mostLabels, type ThreadStanding } from '../schema.ts';
import { foldLabel, holdThread, toStanding } from '../threads.ts';
import { deleteLabels, findLabels, insertLabels } from './label-queries.ts';

async function standingOf(trx: Db, row: ThreadRow): Promise<ThreadStanding> {
  const labels = await findLabels(trx, [row.id]);
  return toStanding(
    row,
    labels.map(({ label }) => label),
  );
}

/** Maps labels by their folded form; the first of equal labels stays. */
function byFolded(labels: readonly string[]): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const label of labels) {
    const folded = foldLabel(label);
    if (!wanted.has(folded)) wanted.set(folded, label.trim());
  }
  return wanted;
}

/** Locks a thread and changes the labels by `work`. Audits a change. Fails above `most` labels. */
function change(
  app: App,
  caller: Caller,
  { mailboxId, threadId, most }: { mailboxId: string; threadId: string; most: number },
  work: (trx: Db, row: ThreadRow) => Promise<void>,
): Promise<ThreadStanding> {
  return app.store.write(async (trx) => {
    const row = await holdThread(trx, caller.organizationId, mailboxId, threadId);
    const before = await standingOf(trx, row);
    await work(trx, row);
    const standing = await standingOf(trx, row);
    if (standing.labels.length > most) {
      throw new ConflictError('thread', `A thread has at most ${most} labels`);
    }
    const details = changesOf(before, standing);
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: threadId, action: 'thread.updated', details });
      const about = { mailboxId, type: 'label', messageId: null, threadId } as const;
      await storeAction(app, trx, caller, { ...about, summary: details });
    }
    return standing;
  });
}

/**
 * Adds labels to a thread. A label that it already has keeps the old spelling.
 * @throws ResourceNotFoundError; ConflictError if the thread would have more than 50 labels.
 */
export function addLabels(
  app: App,
  caller: Caller,
  mailboxId: string,
  threadId: string,
  { labels }: LabelsInput,
): Promise<ThreadStanding> {
  return change(app, caller, { mailboxId, threadId, most: mostLabels }, (trx, row) =>
    insertLabels(
      trx,
      [...byFolded(labels)].map(([folded, label]) => ({
        thread_id: threadId,
        folded,
        label,
        mailbox_id: mailboxId,
        last_activity_at: row.last_activity_at,
      })),
    ),
  );
}

/** Removes labels from a thread and ignores unknown labels. @throws ResourceNotFoundError. */
export function removeLabels(
  app: App,
  caller: Caller,
  mailboxId: string,
  threadId: string,
  { labels }: LabelsInput,
): Promise<ThreadStanding> {
  const most = Number.POSITIVE_INFINITY;
  return change(app, caller, { mailboxId, threadId, most }, (trx) =>
    deleteLabels(trx, threadId, [...byFolded(labels).keys()]),
  );
}
