// Reads List-Unsubscribe (RFC 2369, RFC 8058) of inbound mail. The value is a stranger's: only
// https, http and mailto come through, and only in a form that is safe to print and to store.
import { parseAddress } from '../../net/address.ts';

const maxUrlCharacters = 2000;
const maxEntries = 10;

export interface ListUnsubscribe {
  listUnsubscribeUrl: string | null;
  listUnsubscribeEmail: string | null;
}

function readUrl(text: string): URL | null {
  if (text.length > maxUrlCharacters || !/^https?:\/\//i.test(text)) return null;
  const url = URL.parse(text);
  // Credentials in a link have one use: to make it look like another host's.
  return url && url.username === '' && url.password === '' ? url : null;
}

function readMailto(text: string): string | null {
  if (text.length > maxUrlCharacters || !/^mailto:/i.test(text)) return null;
  const encoded = text.slice('mailto:'.length).split('?', 1)[0] ?? '';
  try {
    return parseAddress(decodeURIComponent(encoded))?.email ?? null;
  } catch {
    return null;
  }
}

/** The first https link (else the first http one) and the first mailto address; null for none. */
export function readListUnsubscribe(values: string[]): ListUnsubscribe {
  const entries = (values.join(', ').match(/<[^<>]{1,2100}>/g) ?? []).slice(0, maxEntries);
  const targets = entries.map((entry) => entry.slice(1, -1).replace(/\s+/g, ''));
  const urls = targets.map(readUrl).filter((url) => url !== null);
  const url = urls.find(({ protocol }) => protocol === 'https:') ?? urls[0];
  return {
    listUnsubscribeUrl: url?.href ?? null,
    listUnsubscribeEmail: targets.map(readMailto).find((email) => email !== null) ?? null,
  };
}
