// The site of passkeys. A browser uses a passkey only at the site for which it was made (WebAuthn
// Level 3, 5.1.3), and never at an IP address.
//
//   address of the service             | passkeys belong to
//   -----------------------------------+--------------------------------------------------------
//   https://mail.example.com           | mail.example.com: the whole host, never a parent, since
//                                      | a neighbour below the parent could ask for them
//   http://127.0.0.1:4025, on loopback | localhost: the page links to http://localhost:4025
//   http:// elsewhere, IP addresses    | nothing: browsers refuse
import { isIP } from 'node:net';
import type { App } from '../../core/app.ts';
import { isLoopbackHost, reachable } from '../../platform/net/network-address.ts';

export interface PasskeySite {
  /** Host that passkeys are bound to. */
  rpId: string;
  /** Origin of the pages that may ask for a passkey; compared exactly. */
  origin: string;
}

/** Returns the site of passkeys; null where browsers have none, and where they are switched off. */
export function passkeySite({
  config,
  publicUrl,
}: Pick<App, 'config' | 'publicUrl'>): PasskeySite | null {
  if (!config.console.signIn.passkeys) return null;
  const url = new URL(config.http.publicUrl ?? publicUrl.current);
  const host = reachable(url.hostname.replace(/^\[|\]$/g, ''));
  const isLoopback = isLoopbackHost(host);
  if (isIP(host) !== 0) {
    if (!isLoopback) return null;
    url.hostname = 'localhost';
  } else if (url.protocol !== 'https:' && !isLoopback) return null;
  return { rpId: url.hostname, origin: url.origin };
}
