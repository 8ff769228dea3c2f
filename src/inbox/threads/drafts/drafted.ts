// Threads that begin with a draft. They have no message until a draft is sent, and are deleted with
// their last draft.
import type { App } from '../../../core/app.ts';
import { lockMailboxes } from '../../../identity/mailboxes/queries.ts';
import type { Db } from '../../../platform/store/db.ts';
import { deleteThread, findThread, hasDrafts, insertThreads, type ThreadRow } from '../queries.ts';

interface Drafted {
  organizationId: string;
  mailboxId: string;
  subject: string | null;
  from: { email: string; name: string | null };
}

/** Creates a thread in the folder `drafts` and returns the id. */
export async function beginDraftThread(
  app: App,
  trx: Db,
  { organizationId, mailboxId, subject, from }: Drafted,
): Promise<string> {
  const now = app.clock.now();
  const id = app.newId('thread');
  const row: ThreadRow = {
    id,
    organization_id: organizationId,
    mailbox_id: mailboxId,
    folder: 'drafts',
    is_read: 1,
    is_starred: 0,
    last_activity_at: now,
    snoozed_until: null,
    priority: 'normal',
    message_count: 0,
    attachment_count: 0,
    from_address: from.email,
    from_name: from.name,
    subject,
    preview: null,
    created_at: now,
    updated_at: now,
  };
  await insertThreads(trx, [row]);
  return id;
}

/** Deletes the thread if it has neither drafts nor messages. */
export async function endDraftThread(trx: Db, mailboxId: string, id: string): Promise<void> {
  await lockMailboxes(trx, [mailboxId]);
  const thread = await findThread(trx, id);
  if (thread?.message_count === 0 && !(await hasDrafts(trx, id))) await deleteThread(trx, id);
}
