// TLS certificates by the name that a client requests (SNI, RFC 6066 3). Each certificate is
// decrypted and parsed once, then cached. A renewed certificate gets a new entry.
import { createSecureContext, type SecureContext } from 'node:tls';
import type { App } from '../../../../core/app.ts';
import { perApp } from '../../../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../../../platform/runtime/recently-used.ts';
import { servedHost } from '../active-hosts.ts';
import { findCertificate } from '../queries.ts';
import { keyContext } from './key-context.ts';

const mostContexts = 1_000;

const contexts = perApp((_app: App) => recentlyUsed<SecureContext>(mostContexts));

/**
 * Returns the TLS context (certificate and key) of a tracking host. Null for a foreign name, or for
 * a host without a certificate.
 * @throws InternalError if the key cannot be decrypted.
 */
export async function certificateContext(
  app: App,
  hostname: string,
): Promise<SecureContext | null> {
  // Searches only memory, so that invented names cost no query.
  const host = servedHost(app, hostname.toLowerCase());
  if (!host || host.certificate_since === null) return null;
  const known = contexts(app);
  const version = `${host.id} ${host.certificate_since}`;
  const kept = known.get(version);
  if (kept) return kept;
  const row = await findCertificate(app.store.db, host.id);
  if (!row?.certificate || !row.certificate_key) return null;
  const key = app.secrets.decrypt(row.certificate_key, keyContext(row)).toString('utf8');
  const context = createSecureContext({ cert: row.certificate, key, minVersion: 'TLSv1.2' });
  known.set(version, context);
  return context;
}
