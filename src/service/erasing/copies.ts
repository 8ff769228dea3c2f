// The copies of each kind of deleted resource: a function per kind erases up to a batch of copies
// in a transaction and returns whether all are erased. Each is idempotent.

import { type RunMailing, releaseRunContent } from '../../campaigns/mail/snapshot.ts';
import { clearEntries } from '../../history/audit/queries.ts';
import type { ErasureRow } from '../../history/erasures/queries.ts';
import type { MessagePlace } from '../../history/erasures/request.ts';
import { selectEvent, selectEventsOf } from '../../history/events/queries.ts';
import {
  deleteActions,
  emptyActions,
  isProposedIn,
  selectActionsOfMailbox,
  selectActionsOfMessage,
  selectActionsOfThread,
} from '../../inbox/approvals/copy-queries.ts';
import { mergeWords } from '../../inbox/threads/search-queries.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { deleteRecipients, deleteRun, findRunOf } from '../../run-ledger/list-queries.ts';
import { clearAnswersOfMessage } from '../../webhooks/deliveries/erase-queries.ts';
import { eraseRecorded } from './actions.ts';
import { eraseEvent } from './events.ts';
import { type Erased, eraseMember } from './member.ts';

/** Most rows of a table that a transaction erases. */
const batch = 100;
/** Most contacts that a transaction removes from a ledger. */
const recipientsAtOnce = 500;

type Erase = (trx: Db, row: ErasureRow) => Promise<Erased>;

async function eraseMessage(trx: Db, row: ErasureRow): Promise<Erased> {
  const { id, organization_id: organizationId } = row;
  const answers = await clearAnswersOfMessage(trx, id, batch);
  if (answers === batch) return { isDone: false };
  const place = fromJson<Partial<MessagePlace>>(row.about);
  const isDone = await erasePlaced(trx, organizationId, id, place);
  const { threadId } = place;
  const isWaiting = threadId !== undefined && (await isProposedIn(trx, threadId, row.created_at));
  return { isDone, isWaiting };
}

async function erasePlaced(
  trx: Db,
  organizationId: string,
  messageId: string,
  { threadId, isThreadGone = false, eventId }: Partial<MessagePlace>,
): Promise<boolean> {
  if (threadId === undefined) return true;
  const event = eventId ? await selectEvent(trx, organizationId, eventId) : undefined;
  const isErased = !event || (await eraseEvent(trx, organizationId, event, batch));
  const sent = await selectActionsOfMessage(trx, messageId);
  const unsent = await selectActionsOfThread(trx, threadId, isThreadGone, batch);
  const actions = [...sent, ...unsent];
  await eraseRecorded(trx, actions);
  await emptyActions(
    trx,
    actions.map(({ id }) => id),
  );
  const entries = isThreadGone
    ? await clearEntries(trx, 'details', { organizationId, id: threadId }, batch)
    : 0;
  return isErased && unsent.length < batch && entries < batch;
}

/** Erases copies of a resource; `about` records the last event that was erased. */
const eraseResource: Erase = async (trx, { id, organization_id: organizationId, about }) => {
  const entries = await clearEntries(trx, 'details', { organizationId, id }, batch);
  const { after = '' } = fromJson<{ after?: string }>(about);
  const events = await selectEventsOf(trx, organizationId, id, after, batch);
  let reached = after;
  for (const event of events) {
    if (!(await eraseEvent(trx, organizationId, event, batch))) break;
    reached = event.id;
  }
  const isDone =
    entries < batch && events.length < batch && reached === (events.at(-1)?.id ?? after);
  return { isDone, about: { after: reached } };
};

const eraseMailbox: Erase = async (trx, row) => {
  const actions = await selectActionsOfMailbox(trx, row.id, batch);
  for (const { id } of actions) {
    await clearEntries(trx, 'details', { organizationId: row.organization_id, id }, batch);
  }
  await deleteActions(
    trx,
    actions.map(({ id }) => id),
  );
  return actions.length === batch ? { isDone: false } : eraseResource(trx, row);
};

/** Erases the runs of a campaign with their ledgers, which can have a row for each contact. */
const eraseCampaign: Erase = async (trx, { id, organization_id: organizationId }) => {
  const run = await findRunOf(trx, organizationId, id);
  if (!run) return { isDone: true };
  const rows = await deleteRecipients(trx, run.id, recipientsAtOnce);
  if (rows === recipientsAtOnce) return { isDone: false };
  await deleteRun(trx, run.id);
  const mailing = fromJson<RunMailing>(run.shared);
  if (mailing) await releaseRunContent(trx, mailing);
  return { isDone: false };
};

/** Merges the full-text index without deleted words; `about` records whether this has begun. */
const eraseWords: Erase = async (trx, { about }) => {
  const { isBegun = false } = fromJson<{ isBegun?: boolean }>(about);
  return { isDone: await mergeWords(trx, isBegun), about: { isBegun: true } };
};

export const eraseCopies: Readonly<Record<ErasureRow['kind'], Erase>> = {
  message: eraseMessage,
  resource: eraseResource,
  mailbox: eraseMailbox,
  campaign: eraseCampaign,
  member: eraseMember,
  words: eraseWords,
};
