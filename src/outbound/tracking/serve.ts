// Serves `/t/o/{token}` (a pixel) and `/t/c/{token}` (a redirect to the stored link), on the main
// HTTP port and on tracking hosts. Answers after the commit that counts the hit; many hits share a
// commit. If the store cannot be written, links still redirect.
import type { App } from '../../core/app.ts';
import type { LinkAnswer, LinkRequest } from '../../core/link-pages/link-page.ts';
import { brokenLink } from '../../core/link-pages/recipient-page.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { groupReads, groupWrites } from '../../platform/store/group.ts';
import { findEngagedDeliveries } from '../deliveries/queries.ts';
import { findEngagedMessages } from '../messages/queries.ts';
import { automatedBy, userAgentOf } from './automated.ts';
import { engageAll, type Hit } from './engage.ts';
import { mergedUrlOf } from './merged-links.ts';
import { findLinkUrl } from './queries.ts';
import { pixel, readToken, type TrackedLink } from './tokens.ts';

const mostPerTransaction = 128;
const mostPerRead = 128;
/** Most hits that wait for a commit. Further hits are answered but not counted. */
const mostWaiting = 2_000;

/** A transparent GIF of a single pixel, 43 bytes. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');

const common = {
  'cache-control': 'no-store, no-cache, private, max-age=0',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

/** Answers paths below `/t/`. Returns null elsewhere. */
export async function serveTracked(app: App, request: LinkRequest): Promise<LinkAnswer | null> {
  const { method, path } = request;
  if (!path.startsWith('/t/')) return null;
  const [, kind, token = ''] = /^\/t\/([oc])\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  const isAsked = method === 'GET' || method === 'HEAD';
  const tracked = isAsked && kind !== undefined ? readToken(app, token) : null;
  // A token of a pixel is invalid for a link, and a token of a link for a pixel.
  if (!tracked || (tracked.link === pixel) !== (kind === 'o')) return brokenLink;
  const found = await findTracked(app, tracked, request.organizationId ?? null);
  if (!found) return brokenLink;
  await count(app, hitOf(app, request, tracked, found));
  return found.url === null ? pixelAnswer(method) : redirect(found.url);
}

/** Message of a token. `url`: target of the link; null for the pixel. */
interface Found {
  organizationId: string;
  messageId: string;
  url: string | null;
}

async function findTracked(
  app: App,
  tracked: TrackedLink,
  organizationId: string | null,
): Promise<Found | null> {
  const found = await finderOf(app)(tracked);
  if (!found || (organizationId !== null && found.organizationId !== organizationId)) return null;
  if (found.url !== undefined) return { ...found, url: found.url };
  // Reads outside of the shared read, which must not wait for the content of a single organization.
  const url = await mergedUrlOf(app, found.messageId, tracked.link);
  return url === undefined ? null : { ...found, url };
}

/** Like `Found`; `url` is undefined for a link without a stored target. */
type Stored = Omit<Found, 'url'> & { url: string | null | undefined };

const finderOf = perApp((app: App) =>
  groupReads(mostPerRead, (tracked: readonly TrackedLink[]) => findAll(app, tracked)),
);

async function findAll(app: App, tracked: readonly TrackedLink[]): Promise<(Stored | null)[]> {
  const { db } = app.store;
  const ids = [...new Set(tracked.map(({ deliveryId }) => deliveryId))];
  const deliveries = new Map((await findEngagedDeliveries(db, ids)).map((row) => [row.id, row]));
  const clicked = tracked.flatMap(({ deliveryId, link }) =>
    link === pixel ? [] : (deliveries.get(deliveryId)?.message_id ?? []),
  );
  const rows = clicked.length > 0 ? await findEngagedMessages(db, [...new Set(clicked)]) : [];
  const contents = new Map(rows.map(({ id, content_id }) => [id, content_id]));
  return Promise.all(
    tracked.map(async ({ deliveryId, link }) => {
      const delivery = deliveries.get(deliveryId);
      if (!delivery) return null;
      const { organization_id: organizationId, message_id: messageId } = delivery;
      if (link === pixel) return { organizationId, messageId, url: null };
      const contentId = contents.get(messageId);
      if (!contentId) return null;
      return { organizationId, messageId, url: await findLinkUrl(db, contentId, link) };
    }),
  );
}

function hitOf(
  app: App,
  request: LinkRequest,
  { deliveryId, link }: TrackedLink,
  { messageId, url }: Found,
): Hit {
  const kind = link === pixel ? 'open' : 'click';
  return {
    deliveryId,
    messageId,
    kind,
    link,
    url,
    automatedBy: automatedBy(kind, request),
    userAgent: userAgentOf(request),
    at: app.clock.now(),
  };
}

interface Counter {
  waiting: number;
  write(hit: Hit): Promise<unknown>;
}

const counterOf = perApp(
  (app: App): Counter => ({
    waiting: 0,
    write: groupWrites(
      app.store,
      mostPerTransaction,
      async (trx, hits: Hit[]) => {
        await engageAll(app, trx, hits);
        return hits.map(() => undefined);
      },
      'soon',
    ),
  }),
);

/** Counts a hit. Never rejects, because a failed count must not break a link. */
async function count(app: App, hit: Hit): Promise<void> {
  const counter = counterOf(app);
  if (counter.waiting >= mostWaiting) {
    app.metrics.refused.inc({ reason: 'capacity-tracking' });
    return;
  }
  counter.waiting++;
  try {
    await counter.write(hit);
  } catch (error) {
    const { deliveryId, kind } = hit;
    app.log.warn({ err: error, deliveryId, kind }, 'an open or click could not be counted');
  } finally {
    counter.waiting--;
  }
}

function pixelAnswer(method: string): LinkAnswer {
  return {
    status: 200,
    headers: { ...common, 'content-type': 'image/gif', 'content-length': `${gif.length}` },
    body: method === 'HEAD' ? Buffer.alloc(0) : gif,
  };
}

function redirect(url: string): LinkAnswer {
  return { status: 302, headers: { ...common, location: url }, body: Buffer.alloc(0) };
}
