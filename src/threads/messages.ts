// The messages of a thread, as a list, or the newest of them: what each is, what it says anew, and what is
// attached to it.
import { cursorAfter, readCursor } from '../api/cursor.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { findContents } from '../messages/content-queries.ts';
import type { StoredAttachment } from '../messages/email-projection.ts';
import { findMessages } from '../messages/messages.ts';
import { attachmentsOf } from '../messages/projection.ts';
import { findFoundOf } from '../messages/projection-queries.ts';
import { findMessageRows } from '../messages/queries.ts';
import { type Db, fromJson } from '../store/db.ts';
import { countBefore, listMessageRows } from './list-queries.ts';
import type { ThreadMessageRow } from './queries.ts';
import { selectRecent } from './recent-queries.ts';
import { sentPreview } from './restate.ts';
import type { CursorPage, CursorQuery, ThreadMessage } from './schema.ts';
import { getThreadRow } from './threads.ts';

type Said = Pick<ThreadMessage, 'preview' | 'newContent' | 'attachments'>;

const nothingSaid: Said = { preview: null, newContent: null, attachments: [] };

/** What these messages say, by their ids. */
async function saidBy(db: Db, ids: readonly string[]): Promise<Map<string, Said>> {
  const rows = await findMessageRows(db, ids);
  const said = new Map<string, Said>();
  for (const { message_id, ...found } of await findFoundOf(db, ids)) {
    said.set(message_id, {
      preview: found.preview,
      newContent: found.new_content,
      attachments: attachmentsOf(found).map(({ index, filename, contentType, size }) => ({
        ...{ n: index + 1, filename, contentType, size },
      })),
    });
  }
  const contents = await findContents(
    db,
    rows.flatMap(({ content_id }) => content_id ?? []),
  );
  const contentOf = new Map(contents.map((content) => [content.id, content]));
  for (const { id, content_id } of rows) {
    const content = content_id === null ? undefined : contentOf.get(content_id);
    if (!content) continue;
    const attached = fromJson<StoredAttachment[]>(content.attachments) ?? [];
    said.set(id, {
      preview: sentPreview(content.text),
      newContent: content.text,
      attachments: attached.map(({ filename, contentType, size }, index) => ({
        ...{ n: index + 1, filename, contentType, size },
      })),
    });
  }
  return said;
}

/** These rows of one thread, which follow each other, oldest first. */
async function presentMessages(
  db: Db,
  organizationId: string,
  rows: readonly ThreadMessageRow[],
): Promise<ThreadMessage[]> {
  const [first] = rows;
  const start = first ? await countBefore(db, first) : 0;
  const ids = rows.map(({ message_id }) => message_id);
  const messages = await findMessages(db, organizationId, ids);
  const said = await saidBy(db, ids);
  return rows.flatMap(({ thread_id, message_id, kind }, index): ThreadMessage[] => {
    const message = messages.get(message_id);
    if (!message) return [];
    const own = said.get(message_id) ?? nothingSaid;
    return [{ ...message, threadId: thread_id, threadPosition: start + index, kind, ...own }];
  });
}

/** The newest messages of a thread, oldest first. @throws ResourceNotFoundError (mailbox, thread). */
export async function latestThreadMessages(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  threadId: string,
  count: number,
): Promise<ThreadMessage[]> {
  const { db } = app.store;
  await getThreadRow(db, organizationId, mailboxId, threadId);
  const rows = await selectRecent(db, threadId, 0, count);
  return presentMessages(db, organizationId, rows.toReversed());
}

/**
 * A page of the messages of a thread, oldest first.
 * @throws ResourceNotFoundError (mailbox, thread), ValidationError (cursor).
 */
export async function listThreadMessages(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  threadId: string,
  { limit, cursor }: CursorQuery,
): Promise<CursorPage<ThreadMessage>> {
  const { db } = app.store;
  await getThreadRow(db, organizationId, mailboxId, threadId);
  const scope = ['thread messages', threadId];
  const place = cursor === undefined ? null : readCursor(scope, cursor);
  const found = await listMessageRows(db, threadId, place, limit + 1);
  const shown = found.slice(0, limit);
  const items = await presentMessages(db, organizationId, shown);
  const last = found.length > limit ? shown.at(-1) : undefined;
  const nextCursor = last ? cursorAfter(scope, { at: last.at, id: last.message_id }) : null;
  return { items, nextCursor };
}
