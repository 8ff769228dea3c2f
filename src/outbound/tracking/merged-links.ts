// Reads the content of a message with the offsets of the links. The offsets are stored for a shared
// content. In a content that is filled in for each message, the links are searched anew.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsedBytes } from '../../platform/runtime/recently-used.ts';
import type { Db } from '../../platform/store/db.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { ContentRow } from '../messages/contents/content-queries.ts';
import {
  type ContentOwner,
  isMerged,
  type KnownContent,
  readContent,
} from '../messages/contents/merge.ts';
import { findMessageRow, type MessageRow } from '../messages/queries.ts';
import { linksOfCopy } from './content.ts';
import type { Cuts } from './links.ts';
import { findContentCuts } from './queries.ts';

type Tracked = Pick<MessageRow, 'track_opens' | 'track_clicks' | 'content_id'>;

function isTracked({ track_opens, track_clicks }: Tracked): boolean {
  return track_opens === 1 || track_clicks === 1;
}

/** Reads the stored offsets of links in the contents of tracked messages, by content id. */
export async function cutsOf(db: Db, messages: readonly Tracked[]): Promise<Map<string, Cuts>> {
  const ids = messages.flatMap((message) => (isTracked(message) ? (message.content_id ?? []) : []));
  const rows = ids.length > 0 ? await findContentCuts(db, [...new Set(ids)]) : [];
  return new Map(rows.map((row) => [row.content_id, fromJson<Cuts>(row.cuts)]));
}

/**
 * Reads the content of a message, and the offsets of the links if the message is tracked. `known`:
 * stored rows that the caller has already.
 * @throws as `readContent`
 */
export async function readTracked(
  app: App,
  message: ContentOwner & Tracked,
  known: KnownContent & { cuts?: Cuts | null | undefined } = {},
): Promise<{ content: ContentRow | null; cuts: Cuts | null }> {
  const content = (await readContent(app, message, known)) ?? null;
  if (!(await isMerged(app, message))) {
    const cuts = known.cuts ?? (await cutsOf(app.store.db, [message])).get(content?.id ?? '');
    return { content, cuts: cuts ?? null };
  }
  const html = content?.html ?? null;
  const cuts = html !== null && isTracked(message) ? (await linksOfCopy(app, html)).cuts : null;
  return { content, cuts };
}

/** Most messages with link targets in memory, and most bytes of the targets. */
const mostKept = { messages: 10_000, bytes: 8 * 1024 * 1024 };

/**
 * Link targets of messages with unshared content, by message: known targets, and fills under way.
 */
const keptLinks = perApp((_app: App) => ({
  known: recentlyUsedBytes<readonly string[]>(mostKept.messages, mostKept.bytes, (urls) =>
    urls.reduce((bytes, url) => bytes + 2 * url.length, 0),
  ),
  reading: new Map<string, Promise<readonly string[]>>(),
}));

/**
 * Finds the target of a link that is not stored; undefined if the message has no such link. Fills a
 * message once, even for many concurrent requests of the links.
 * @throws as `readContent`
 */
export async function mergedUrlOf(
  app: App,
  messageId: string,
  link: number,
): Promise<string | undefined> {
  const { known, reading } = keptLinks(app);
  const kept = known.get(messageId);
  if (kept) return kept[link - 1];
  let read = reading.get(messageId);
  if (!read) {
    read = readUrls(app, messageId).finally(() => reading.delete(messageId));
    reading.set(messageId, read);
  }
  const urls = await read;
  known.set(messageId, urls);
  return urls[link - 1];
}

async function readUrls(app: App, messageId: string): Promise<readonly string[]> {
  const row = await findMessageRow(app.store.db, messageId);
  return row ? urlsOfMerged(app, row) : [];
}

/**
 * Returns the targets of links of a message with filled content; otherwise an empty list.
 * @throws as `readContent`
 */
export async function urlsOfMerged(app: App, row: MessageRow): Promise<readonly string[]> {
  if (!(await isMerged(app, row))) return [];
  const html = (await readContent(app, row))?.html ?? null;
  return html === null ? [] : (await linksOfCopy(app, html)).urls;
}
