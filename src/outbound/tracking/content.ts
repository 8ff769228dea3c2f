// Finds the links of a content before it is stored. Decides whether opens and clicks of a message
// are tracked: by the fields of the send, or else by the default of the organization. Caches the
// links of recent contents.
import { LRUCache } from 'lru-cache';
import { trackingDefaults } from '../../access/organizations/tracking-defaults.ts';
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { trackingBase } from './base-url.ts';
import { type FoundLinks, findLinks, type IsOurs } from './links.ts';
import { pixel, readToken } from './tokens.ts';

/** Most links in the cache, over all contents. */
const mostRemembered = 20_000;

/** Whether opens and clicks of a message are tracked. */
export interface Tracking {
  opens: boolean;
  clicks: boolean;
}

export const nothingTracked: Tracking = { opens: false, clicks: false };

/**
 * Decides whether a send tracks opens and clicks. Returns a promise if the organization must be
 * looked up.
 */
export function trackingWanted(
  app: App,
  organizationId: string,
  wished: { opens?: boolean | undefined; clicks?: boolean | undefined } = {},
): Tracking | Promise<Tracking> {
  const { opens, clicks } = wished;
  if (opens !== undefined && clicks !== undefined) return { opens, clicks };
  const complete = (defaults: Tracking): Tracking => ({
    opens: opens ?? defaults.opens,
    clicks: clicks ?? defaults.clicks,
  });
  const known = trackingDefaults(app, organizationId);
  return known instanceof Promise ? known.then(complete) : complete(known);
}

const rememberedOf = perApp(
  (_app: App) =>
    new LRUCache<string, FoundLinks>({
      maxSize: mostRemembered,
      sizeCalculation: ({ urls }) => urls.length + 1,
    }),
);

/**
 * Finds the links of HTML, except links of this service and `unsubscribeUrls`. Caches the result by
 * `digest`, which must differ for different `html` or `unsubscribeUrls`.
 */
export async function linksOf(
  app: App,
  digest: string,
  html: string,
  unsubscribeUrls: readonly string[],
): Promise<FoundLinks> {
  const remembered = rememberedOf(app);
  const known = remembered.get(digest);
  if (known) return known;
  const found = await findLinks(html, ownUrls(app, unsubscribeUrls));
  remembered.set(digest, found);
  return found;
}

/** Finds the links of HTML that was filled for a single message. Does not use the cache. */
export function linksOfCopy(app: App, html: string): Promise<FoundLinks> {
  return findLinks(html, ownUrls(app, []));
}

function ownUrls(app: App, unsubscribeUrls: readonly string[]): IsOurs {
  const leave = new Set(unsubscribeUrls);
  const base = trackingBase(app, null);
  return (url) => {
    const [, kind, token = ''] = /\/(t\/[oc])\/([^/?#]+)$/.exec(url) ?? [];
    if (kind === 't/o' || kind === 't/c') {
      const tracked = readToken(app, token);
      if (tracked) return kind === 't/o' && tracked.link === pixel ? 'pixel' : 'link';
    }
    const isLeave = leave.has(url) || url.startsWith(`${base}/u/`);
    return isLeave ? 'link' : null;
  };
}

/** Returns the web addresses in a `List-Unsubscribe` header of the sender (RFC 2369). */
export function unsubscribeUrlsOf(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === 'list-unsubscribe'
      ? [...value.matchAll(/<\s*(https?:[^<>\s]+)\s*>/gi)].flatMap(([, url = '']) =>
          URL.canParse(url) ? new URL(url).href : [],
        )
      : [],
  );
}
