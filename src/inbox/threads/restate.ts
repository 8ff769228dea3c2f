// Recomputes a thread's summary from the messages after a removal, a late message or a merge. A
// message at the end of a thread only adds to the summary (placing/put-in.ts).

import { previewOf } from '../../mail/parse/preview.ts';
import { findContents } from '../../outbound/messages/contents/content-queries.ts';
import { findFound } from '../../outbound/messages/contents/projection-queries.ts';
import { findMessageRow, type MessageRow } from '../../outbound/messages/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { moveLabels } from './marks/label-queries.ts';
import { firstOf, newestOf, type ThreadChange, tallyThread, updateThread } from './queries.ts';

/** Returns the preview of a sent message: the first words of `text`; null without words. */
export function sentPreview(text: string | null): string | null {
  return previewOf({ newContent: text, quotedContent: null, text: null });
}

async function previewOfMessage(trx: Db, message: MessageRow): Promise<string | null> {
  const found = await findFound(trx, message.id);
  if (found) return found.preview;
  if (message.content_id === null) return null;
  const [content] = await findContents(trx, [message.content_id]);
  return sentPreview(content?.text ?? null);
}

/** Returns the subject of the first message; null without messages. */
export async function firstSubject(trx: Db, threadId: string): Promise<string | null> {
  const first = await firstOf(trx, threadId);
  return (first && (await findMessageRow(trx, first.message_id)))?.subject ?? null;
}

/** Recomputes counts, last author and preview of the thread, and applies `change`. */
export async function restateThread(
  trx: Db,
  id: string,
  now: number,
  change: ThreadChange = {},
): Promise<void> {
  const { messages, attachments } = await tallyThread(trx, id);
  const newest = await newestOf(trx, id, false);
  const inbound = newest?.kind === 'sent' ? await newestOf(trx, id, true) : newest;
  const last = newest && (await findMessageRow(trx, newest.message_id));
  const lastAuthor = inbound ? await findMessageRow(trx, inbound.message_id) : last;
  const from = lastAuthor ?? last;
  await updateThread(trx, id, {
    message_count: messages,
    attachment_count: attachments,
    from_address: from?.from_email ?? null,
    from_name: from?.from_name ?? null,
    preview: last ? await previewOfMessage(trx, last) : null,
    updated_at: now,
    ...change,
  });
  if (change.last_activity_at !== undefined) await moveLabels(trx, id, change.last_activity_at);
}
