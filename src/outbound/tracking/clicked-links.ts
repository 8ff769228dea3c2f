// Counts the people that followed each link of messages with the same content.
import type { App } from '../../core/app.ts';
import { fromJson } from '../../platform/store/db.ts';
import { findMessageRow } from '../messages/queries.ts';
import { urlsOfMerged } from './merged-links.ts';
import { findContentUrls, findEngagements } from './queries.ts';

/** A link, with the target in the first message: targets can differ from person to person. */
export interface ClickedLink {
  url: string;
  people: number;
}

/** Most messages in a query. */
const perQuery = 500;

/** Returns the targets of the links of a message, in the order of their numbers. */
async function urlsOf(app: App, messageId: string): Promise<readonly string[]> {
  const row = await findMessageRow(app.store.db, messageId);
  if (!row?.content_id) return [];
  const stored = await findContentUrls(app.store.db, row.content_id);
  return stored.length > 0 ? stored.map(({ url }) => url) : urlsOfMerged(app, row);
}

/**
 * Returns the links that people followed in messages with the same content, most people first.
 * Clicks of programs do not count.
 */
export async function clickedLinks(
  app: App,
  messageIds: readonly string[],
): Promise<ClickedLink[]> {
  const [first] = messageIds;
  if (first === undefined) return [];
  const counts = new Map<number, number>();
  for (let at = 0; at < messageIds.length; at += perQuery) {
    const rows = await findEngagements(app.store.db, messageIds.slice(at, at + perQuery));
    for (const { recorded } of rows) {
      // Keys of opens are 0, and those of programs begin with a letter.
      const followed = Object.keys(fromJson<Record<string, number>>(recorded)).map(Number);
      for (const link of followed) if (link > 0) counts.set(link, (counts.get(link) ?? 0) + 1);
    }
  }
  const urls = await urlsOf(app, first);
  return [...counts]
    .flatMap(([number, people]) => {
      const url = urls[number - 1];
      return url === undefined ? [] : [{ url, people }];
    })
    .sort((a, b) => b.people - a.people);
}
