// Keeps the targets of tracked links as long as their message exists: recipients click links in old
// mail long after `retention.contentDays`.
//
//   the content of a message    | its targets                     | then
//   ----------------------------+---------------------------------+--------------------------------------------
//   shared by equal messages    | rows of `content_links`         | copied once to a content that all share
//   filled for each message     | found in its HTML when asked    | found once more, and stored for the message
//   without a tracked link      | none                            | the message keeps no content
import { ValidationError } from '../../platform/errors.ts';
import { useLinksOnly } from '../messages/contents/content-queries.ts';
import { type LinkKeeper, linksPrefix } from '../messages/contents/content-removal.ts';
import { findMessageRow } from '../messages/queries.ts';
import { urlsOfMerged } from './merged-links.ts';
import { copyLinks, hasLinks, insertContentLinks } from './queries.ts';

/**
 * Returns the id of the content that keeps only the link targets of a deleted content or message.
 */
function linksIdOf(id: string): string {
  return linksPrefix + id.slice(id.indexOf('_') + 1);
}

export const linkKeeper: LinkKeeper = {
  async read(app, messageId) {
    const row = await findMessageRow(app.store.db, messageId);
    if (!row || row.track_clicks === 0) return [];
    try {
      return await urlsOfMerged(app, row);
    } catch (error) {
      // A click fills the content too, to find the target. If the content can no longer be filled,
      // clicks already find no target, so there is nothing to keep.
      if (error instanceof ValidationError) return [];
      throw error;
    }
  },

  async keep({ clock }, trx, row, urls) {
    const { id, content_id: contentId, organization_id: organizationId } = row;
    if (row.track_clicks === 0 || contentId === null) return null;
    if (urls.length > 0) {
      const linksId = linksIdOf(id);
      await useLinksOnly(trx, linksId, organizationId, clock.now());
      const links = urls.map((url, index) => ({ content_id: linksId, link: index + 1, url }));
      await insertContentLinks(trx, links);
      return linksId;
    }
    if (!(await hasLinks(trx, contentId))) return null;
    const linksId = linksIdOf(contentId);
    await useLinksOnly(trx, linksId, organizationId, clock.now());
    await copyLinks(trx, contentId, linksId);
    return linksId;
  },
};
