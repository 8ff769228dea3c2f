// Return paths of our own sends (contract 8): `bounce+<token>@<return-path host>`. The token names a
// delivery and is signed, so that nobody can make a bounce of what we never sent (VERP).
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import { findReturnPath } from '../domains/queries.ts';
import type { DeliveryRow } from '../messages/delivery-queries.ts';
import type { MessageRow } from '../messages/queries.ts';

const purpose = 'bounce';
const mostHosts = 10_000;
const prefix = 'bounce+';

/** The return path of a domain never changes, so that it is looked up once. */
const hosts = new WeakMap<App, LRUCache<string, string>>();

async function returnPathHost(app: App, domainId: string): Promise<string | undefined> {
  let known = hosts.get(app);
  if (!known) {
    known = new LRUCache({ max: mostHosts });
    hosts.set(app, known);
  }
  const kept = known.get(domainId);
  if (kept !== undefined) return kept;
  const host = await findReturnPath(app.store.db, domainId);
  if (host !== undefined) known.set(domainId, host);
  return host;
}

/**
 * MAIL FROM for deliveries of a message that share a transaction: bounces name the first of them, and
 * tell by their own fields which recipient they mean. Mail from an address whose domain is not ours
 * has that address.
 */
export async function returnPathOf(
  app: App,
  message: MessageRow,
  [first]: readonly DeliveryRow[],
): Promise<string> {
  const { sender_domain_id: domainId, from_email: from } = message;
  const host = domainId === null ? undefined : await returnPathHost(app, domainId);
  if (host === undefined || !first) return from;
  return `${prefix}${app.secrets.token(purpose, first.id)}@${host}`;
}

/** The delivery that a return path names, or null for any other or a forged address. */
export function readReturnPath(app: App, address: string): string | null {
  const localPart = address.slice(0, address.lastIndexOf('@')).toLowerCase();
  if (!localPart.startsWith(prefix)) return null;
  return app.secrets.verifyToken(purpose, localPart.slice(prefix.length));
}
