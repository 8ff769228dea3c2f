// The address of a visitor. Behind a proxy every connection comes from the proxy, so the visitor is
// in `X-Forwarded-For`; only a proxy of `http.trustedProxies` is believed, as anybody can write the
// header. All limits, ranges and log lines of HTTP use this address.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { App } from '../../src/core/app.ts';
import { isInRanges, parseRange } from '../../src/platform/net/network-address.ts';
import { perApp } from '../../src/platform/runtime/per-app.ts';

/** Longest address in text, without a zone (RFC 4291 2.2). */
const longestAddress = 45;

const proxiesOf = perApp((app: App) =>
  app.config.http.trustedProxies.flatMap((text) => parseRange(text) ?? []),
);

interface Asking {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

/**
 * Returns the address of the visitor: of the peer, or the last address before the trusted proxies.
 * Text other than an address ends the search at the proxy that wrote it. Empty without a peer.
 */
export function visitorOf(app: App, { headers, socket }: Asking): string {
  const proxies = proxiesOf(app);
  const written = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  let visitor = socket.remoteAddress ?? '';
  while (isInRanges(visitor, proxies)) {
    const before = written.pop()?.trim() ?? '';
    if (isIP(before) === 0 || before.length > longestAddress) return visitor;
    visitor = before;
  }
  return visitor;
}
