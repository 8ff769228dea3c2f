// Base address of the links in a mail: the tracking host of the sending domain, or a public address
// of this service.
import type { App } from '../../core/app.ts';
import { activeHostOf } from './custom/active-hosts.ts';

/**
 * Returns the base address of links that recipients can reach: the tracking host of the domain, or
 * a configured URL. Null if there is neither.
 */
function publicBase(app: App, domainId: string | null): string | null {
  const host = domainId === null ? null : activeHostOf(app, domainId);
  if (host !== null) return `https://${host}`;
  return app.config.tracking.publicUrl ?? app.config.http.publicUrl;
}

/** Tells whether recipients can reach the links in mail of this domain. */
export function hasPublicBase(app: App, domainId: string | null): boolean {
  return publicBase(app, domainId) !== null;
}

/**
 * Returns the base address of links, without a final slash. `domainId` is null for mail without a
 * sending domain.
 */
export function trackingBase(app: App, domainId: string | null): string {
  return publicBase(app, domainId) ?? app.publicUrl.current;
}
