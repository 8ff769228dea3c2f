// Stores the contents of messages: HTML, text and files, once for all messages with equal content.
// Also stores the offsets and targets of the links.
import type { App } from '../../core/app.ts';
import { insertBlobs, stageContents } from '../../core/blobs/blobs.ts';
import type { Db } from '../../platform/store/db.ts';
import { insertContents, shareContent } from '../messages/contents/content-queries.ts';
import type { SharedMerge } from '../messages/contents/merge.ts';
import { insertMergedContents } from '../messages/contents/merge-queries.ts';
import { insertContentCuts, insertContentLinks } from '../tracking/queries.ts';
import type { SendContent } from './content.ts';
import { type Draft, draftContent } from './draft.ts';

/**
 * Stores large files of a content outside of the database if the configuration says so. Runs before
 * the transaction that stores the content. Returns undefined for a content without files.
 * @throws CapacityError if the file store refuses the files
 */
export function stageContent(
  app: App,
  organizationId: string,
  { attachments, raw }: SendContent,
): Promise<void> | undefined {
  if (attachments.length === 0 && raw === null) return undefined;
  const files = attachments.map(({ data }) => data);
  return stageContents(app, organizationId, raw === null ? files : [...files, raw.mail.body]);
}

/** The content that the messages of a campaign run share. */
export interface RunContent {
  content: SendContent;
  /** Data to fill in the content for each message; null if all messages are equal. */
  merge: SharedMerge | null;
}

/**
 * Stores the content of a run and returns its id. The run itself counts as a use, so that the
 * content stays until the run and all messages of the run are deleted.
 */
export async function storeRunContent(
  app: App,
  trx: Db,
  organizationId: string,
  { content, merge }: RunContent,
): Promise<string> {
  const drafted = draftContent(app, organizationId, content);
  await insertBlobs(trx, drafted.blobs);
  await insertContents(trx, [{ ...drafted.content, uses: 1 }]);
  await insertLinks(trx, [{ content: drafted.content, links: content.links }]);
  if (merge) {
    const compiled = JSON.stringify(merge);
    await insertMergedContents(trx, [{ content_id: drafted.content.id, compiled }]);
  }
  return drafted.content.id;
}

/** Inserts new contents with the number of messages that use them. Adds uses to stored contents. */
export async function insertUsedContents(trx: Db, drafts: readonly Draft[]): Promise<void> {
  const uses = new Map<string, number>();
  for (const { message } of drafts) {
    const id = message.content_id;
    if (id !== null) uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const made = drafts.flatMap(({ content }) => content ?? []);
  await insertContents(
    trx,
    made.map((content) => ({ ...content, uses: uses.get(content.id) ?? 0 })),
  );
  await insertLinks(trx, drafts);
  for (const { id } of made) uses.delete(id);
  for (const [id, count] of uses) await shareContent(trx, id, count);
}

/** Inserts the link targets of new contents, and the offsets of the links in the HTML. */
async function insertLinks(
  trx: Db,
  drafts: readonly Pick<Draft, 'content' | 'links'>[],
): Promise<void> {
  const tracked = drafts.flatMap(({ content, links }) =>
    content && links ? { contentId: content.id, ...links } : [],
  );
  if (tracked.length === 0) return;
  await insertContentCuts(
    trx,
    tracked.map(({ contentId, cuts }) => ({ content_id: contentId, cuts: JSON.stringify(cuts) })),
  );
  await insertContentLinks(
    trx,
    tracked.flatMap(({ contentId, urls }) =>
      urls.map((url, index) => ({ content_id: contentId, link: index + 1, url })),
    ),
  );
}
