// The messages of a thread, as a list or only the newest: metadata, new content and attachments.
import { type CursorPage, cutPage, readCursor } from '../../core/api/cursor.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findContentBriefs } from '../../outbound/messages/contents/content-queries.ts';
import { attachmentsOf } from '../../outbound/messages/contents/projection.ts';
import { findBriefs } from '../../outbound/messages/contents/projection-queries.ts';
import type { StoredAttachment } from '../../outbound/messages/lists/email-projection.ts';
import { findMessages } from '../../outbound/messages/messages.ts';
import { findListedMessages, type MessageRow } from '../../outbound/messages/queries.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { countBefore, listMessageRows } from './list-queries.ts';
import type { ThreadMessageRow } from './queries.ts';
import { selectRecent } from './recent-queries.ts';
import { sentPreview } from './restate.ts';
import type { CursorQuery, ThreadMessage } from './schema.ts';
import { getThreadRow } from './threads.ts';

type Said = Pick<ThreadMessage, 'preview' | 'newContent' | 'newContentTruncated' | 'attachments'>;

const nothingSaid: Said = {
  preview: null,
  newContent: null,
  newContentTruncated: false,
  attachments: [],
};

/** Most bytes of new content, in a message and in a page. */
const mostBytes = 64 * 1024;
const mostPageBytes = 4 * 1024 * 1024;
/** Number of texts that are read at once: at most 4 MB, with 4 bytes for each character. */
const together = 16;

/** Truncates the new content of a page to the limits. */
class ContentBudget {
  #left = mostPageBytes;

  get isSpent(): boolean {
    return this.#left === 0;
  }

  take(text: string | null): Pick<Said, 'newContent' | 'newContentTruncated'> {
    if (text === null) return { newContent: null, newContentTruncated: false };
    const bytes = Buffer.from(text);
    const most = Math.min(mostBytes, this.#left);
    this.#left -= Math.min(bytes.length, most);
    if (bytes.length <= most) return { newContent: text, newContentTruncated: false };
    // Moves the end to the beginning of a character: a cut character would become U+FFFD.
    let end = most;
    while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    return { newContent: bytes.toString('utf8', 0, end), newContentTruncated: true };
  }
}

type File = Omit<ThreadMessage['attachments'][number], 'n'>;

function attached(files: readonly File[]) {
  return files.map(({ filename, contentType, size }, index) => {
    return { n: index + 1, filename, contentType, size };
  });
}

/**
 * Reads the texts of these messages, by id. Once the budget of the page is used up, the remaining
 * texts are cut to nothing.
 */
async function saidBy(db: Db, messages: readonly Contained[]): Promise<Map<string, Said>> {
  const budget = new ContentBudget();
  const said = new Map<string, Said>();
  for (let at = 0; at < messages.length; at += together) {
    await addSaid(db, messages.slice(at, at + together), budget, said);
  }
  return said;
}

type Contained = Pick<MessageRow, 'id' | 'content_id'>;

async function addSaid(
  db: Db,
  messages: readonly Contained[],
  budget: ContentBudget,
  said: Map<string, Said>,
): Promise<void> {
  const characters = budget.isSpent ? 1 : mostBytes + 1;
  const ids = messages.map(({ id }) => id);
  const contentIds = messages.flatMap(({ content_id }) => content_id ?? []);
  const received = await findBriefs(db, ids, characters);
  const sent = await findContentBriefs(db, contentIds, characters);
  for (const { id, content_id } of messages) {
    const found = received.get(id);
    const content = sent.get(content_id ?? '');
    if (found) {
      const files = attached(attachmentsOf(found));
      said.set(id, {
        preview: found.preview,
        ...budget.take(found.new_content),
        attachments: files,
      });
    } else if (content) {
      const files = attached(fromJson<StoredAttachment[]>(content.attachments) ?? []);
      const preview = sentPreview(content.text);
      said.set(id, { preview, ...budget.take(content.text), attachments: files });
    }
  }
}

/** Presents consecutive messages of a thread, oldest first. */
async function presentMessages(
  db: Db,
  organizationId: string,
  rows: readonly ThreadMessageRow[],
): Promise<ThreadMessage[]> {
  const [first] = rows;
  const start = first ? await countBefore(db, first) : 0;
  const ids = rows.map(({ message_id }) => message_id);
  const messages = await findMessages(db, organizationId, ids);
  const said = await saidBy(db, await findListedMessages(db, ids));
  return rows.flatMap(({ thread_id, message_id, kind }, index): ThreadMessage[] => {
    const message = messages.get(message_id);
    if (!message) return [];
    const own = said.get(message_id) ?? nothingSaid;
    return [{ ...message, threadId: thread_id, threadPosition: start + index, kind, ...own }];
  });
}

/**
 * Returns the newest messages of a thread, oldest first. @throws ResourceNotFoundError (mailbox,
 * thread).
 */
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
 * Returns a page of the messages of a thread, oldest first.
 * @throws ResourceNotFoundError (mailbox, thread), ValidationError (cursor).
 */
export async function listThreadMessages(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  threadId: string,
  { limit, cursor, ...times }: CursorQuery,
): Promise<CursorPage<ThreadMessage>> {
  const { db } = app.store;
  await getThreadRow(db, organizationId, mailboxId, threadId);
  const { from, to } = boundsOf(times);
  const scope = ['thread messages', threadId, from, to];
  const place = cursor === undefined ? null : readCursor(scope, cursor);
  const found = await listMessageRows(db, threadId, { place, limit: limit + 1, from, to });
  const { shown, nextCursor } = cutPage(scope, found, limit, ({ at, message_id: id }) => ({
    at,
    id,
  }));
  return { items: await presentMessages(db, organizationId, shown), nextCursor };
}
