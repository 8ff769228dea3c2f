// Encrypted columns of an endpoint: the secrets that sign the posts, and the values of the custom
// headers. An encrypted text is bound to an endpoint.
import type { App } from '../../core/app.ts';
import type { Renew } from '../../core/root-keys/root-keys.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { EndpointRow } from '../rows.ts';

const secretBytes = 32;
/** Time for which both secrets sign after a rotation. */
const overlapMs = 24 * 3_600_000;

export const secretOf = (id: string) => `webhookSecret:${id}`;
export const headersOf = (id: string) => `webhookHeaders:${id}`;

/**
 * Creates a secret in the form of Standard Webhooks; returns the plaintext and the encrypted text.
 */
export function makeSecret(app: App, id: string): { plaintext: string; sealed: string } {
  const bytes = Buffer.from(app.random.bytes(secretBytes));
  const plaintext = `whsec_${bytes.toString('base64')}`;
  return { plaintext, sealed: sealSecret(app, id, plaintext) };
}

export function sealSecret(app: App, id: string, plaintext: string): string {
  return app.secrets.encrypt(plaintext, secretOf(id));
}

type Rotated = Pick<EndpointRow, 'secret' | 'previous_secret' | 'previous_until'>;

/** Returns the columns of the secrets after the secret of an endpoint is replaced. */
export function rotated(row: EndpointRow, sealed: string, now: number): Rotated {
  return { secret: sealed, previous_secret: row.secret, previous_until: now + overlapMs };
}

/** Returns the row with all secrets encrypted by the current root key. */
export function renewed<Row extends Pick<EndpointRow, 'id' | 'secret'> & Partial<EndpointRow>>(
  row: Row,
  renew: Renew,
): Row {
  const { id, secret, previous_secret: previous, headers } = row;
  return {
    ...row,
    secret: renew(secret, secretOf(id)),
    ...(previous && { previous_secret: renew(previous, secretOf(id)) }),
    ...(headers && { headers: renew(headers, headersOf(id)) }),
  };
}

/**
 * Decrypts the secrets that sign posts, the newest first, each with the time until which it signs.
 */
export function openSecrets(
  app: App,
  row: Rotated & { id: string },
): { secret: string; until: number }[] {
  const plain = (sealed: string) => app.secrets.decrypt(sealed, secretOf(row.id)).toString('utf8');
  const own = { secret: plain(row.secret), until: Infinity };
  if (row.previous_secret === null) return [own];
  return [own, { secret: plain(row.previous_secret), until: row.previous_until ?? 0 }];
}

/** Encrypts headers; null without headers. */
export function sealHeaders(
  app: App,
  id: string,
  headers: Readonly<Record<string, string>> | null,
): string | null {
  if (headers === null || Object.keys(headers).length === 0) return null;
  return app.secrets.encrypt(JSON.stringify(headers), headersOf(id));
}

export function openHeaders(
  app: App,
  { id, headers }: Pick<EndpointRow, 'id' | 'headers'>,
): Record<string, string> {
  if (headers === null) return {};
  return fromJson(app.secrets.decrypt(headers, headersOf(id)).toString('utf8'));
}
