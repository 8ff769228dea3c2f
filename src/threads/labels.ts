// Labels of a thread: short texts that keep their case and are compared without it.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { changesOf } from '../audit/audit.ts';
import { ConflictError } from '../errors.ts';
import { record } from '../events/record.ts';
import { storeAction } from '../mailbox-actions/actions.ts';
import type { Db } from '../store/db.ts';
import { deleteLabels, findLabels, insertLabels } from './label-queries.ts';
import type { ThreadRow } from './queries.ts';
import { type LabelsInput, mostLabels, type ThreadStanding } from './schema.ts';
import { foldLabel, holdThread, toStanding } from './threads.ts';

async function standingOf(trx: Db, row: ThreadRow): Promise<ThreadStanding> {
  const labels = await findLabels(trx, [row.id]);
  return toStanding(
    row,
    labels.map(({ label }) => label),
  );
}

/** By how each is compared; of two that are the same the first. */
function byFolded(labels: readonly string[]): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const label of labels) {
    const folded = foldLabel(label);
    if (!wanted.has(folded)) wanted.set(folded, label.trim());
  }
  return wanted;
}

async function recordLabels(
  app: App,
  trx: Db,
  caller: Caller,
  mailboxId: string,
  before: ThreadStanding,
  after: ThreadStanding,
): Promise<void> {
  const details = changesOf(before, after);
  if (Object.keys(details).length === 0) return;
  await record(app, trx, caller, { subject: after.id, action: 'thread.updated', details });
  const about = { mailboxId, type: 'label', messageId: null, threadId: after.id } as const;
  await storeAction(app, trx, caller, { ...about, summary: details });
}

/**
 * Gives a thread labels; one that it has keeps its letters.
 * @throws ResourceNotFoundError; ConflictError where it would have too many.
 */
export function addLabels(
  app: App,
  caller: Caller,
  mailboxId: string,
  threadId: string,
  { labels }: LabelsInput,
): Promise<ThreadStanding> {
  return app.store.write(async (trx) => {
    const row = await holdThread(trx, caller.organizationId, mailboxId, threadId);
    const before = await standingOf(trx, row);
    const { last_activity_at } = row;
    const rows = [...byFolded(labels)].map(([folded, label]) => ({
      ...{ thread_id: threadId, folded, label, mailbox_id: mailboxId, last_activity_at },
    }));
    await insertLabels(trx, rows);
    const standing = await standingOf(trx, row);
    if (standing.labels.length > mostLabels) {
      throw new ConflictError('thread', `A thread has at most ${mostLabels} labels`);
    }
    await recordLabels(app, trx, caller, mailboxId, before, standing);
    return standing;
  });
}

/** Takes labels from a thread; those that it lacks are ignored. @throws ResourceNotFoundError. */
export function removeLabels(
  app: App,
  caller: Caller,
  mailboxId: string,
  threadId: string,
  { labels }: LabelsInput,
): Promise<ThreadStanding> {
  return app.store.write(async (trx) => {
    const row = await holdThread(trx, caller.organizationId, mailboxId, threadId);
    const before = await standingOf(trx, row);
    await deleteLabels(trx, threadId, [...byFolded(labels).keys()]);
    const standing = await standingOf(trx, row);
    await recordLabels(app, trx, caller, mailboxId, before, standing);
    return standing;
  });
}
