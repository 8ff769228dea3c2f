// Signed URLs for raw MIME, HTML and text (specification 4.1). They work without a key until they
// expire. The token carries all data, so nothing is stored.
import type { App } from '../../../core/app.ts';
import type { TimeOfPayload } from '../../../core/root-keys/token-text.ts';
import { ResourceNotFoundError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';

const defaultExpirySeconds = 3_600;
export const longestExpirySeconds = 604_800;

export const storageParts = ['raw', 'html', 'text'] as const;
export type StoragePart = (typeof storageParts)[number];

interface StorageUrlOptions {
  expiresInSeconds?: number | undefined;
  deliveryId?: string | null;
}

/**
 * Returns URLs for the parts of the message. `raw` is the copy of `deliveryId`, or of the first
 * recipient. `expiresInSeconds` defaults to an hour.
 */
export function storageUrls(
  app: App,
  messageId: string,
  { expiresInSeconds = defaultExpirySeconds, deliveryId = null }: StorageUrlOptions,
  content: { html: string | null; text: string | null },
) {
  const now = app.clock.now();
  const expiresAt = now + expiresInSeconds * 1000;
  const urlOf = (part: StoragePart) => {
    const copy = part === 'raw' && deliveryId !== null ? `.${deliveryId}` : '';
    return storageUrl(app, `${messageId}.${part}.${expiresAt}${copy}`, now);
  };
  return {
    raw: urlOf('raw'),
    html: content.html === null ? null : urlOf('html'),
    text: content.text === null ? null : urlOf('text'),
    expiresAt: isoTime(expiresAt),
  };
}

/**
 * Returns the URL that shows the HTML of a message in a browser, for as long as a storage URL can
 * live. `createdAt` is the time of the message, ms since 1970.
 */
export function viewUrl(app: App, messageId: string, createdAt: number): string {
  const expiresAt = createdAt + longestExpirySeconds * 1000;
  return storageUrl(app, `${messageId}.html.${expiresAt}`, createdAt);
}

/**
 * Makes a URL. `at` is the time from which it is valid; a URL in a mail has the time of the mail,
 * so that each composition of the mail gives the same bytes.
 */
function storageUrl(app: App, payload: string, at: number): string {
  const base = app.publicUrl.current.replace(/\/$/, '');
  return `${base}/storage/${app.secrets.token('storage', payload, at)}`;
}

/**
 * Returns the time span in which a token with this expiry was made. Only root keys of that time may
 * have signed it: a token forged with a replaced key soon fails.
 */
const timeOf: TimeOfPayload = (payload) => {
  const until = Number(payload.split('.')[2]);
  return { from: until - longestExpirySeconds * 1000, until };
};

/**
 * Reads a token. @throws ResourceNotFoundError for a forged or expired token, which does not reveal
 * whether the message exists.
 */
export function readStorageToken(
  app: App,
  token: string,
): { messageId: string; part: StoragePart; deliveryId: string | null } {
  const [messageId = '', partName, expiresAt, deliveryId = null] = (
    app.secrets.verifyToken('storage', token, { timeOf }) ?? ''
  ).split('.');
  const part = storageParts.find((one) => one === partName);
  if (!part || !(Number(expiresAt) > app.clock.now())) {
    throw new ResourceNotFoundError('storage', 'this link');
  }
  return { messageId, part, deliveryId };
}
