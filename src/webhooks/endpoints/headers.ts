// Headers of a post that the owner of an endpoint may set.

/** Headers that no owner may set: of message and connection (RFC 9110 7.6.1), and of proxies. */
const reserved = new Set([
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const reservedStarts = ['webhook-', 'content-', 'proxy-'];

/** Tells whether an owner may set the header. `folded` is the name in lower case. */
export function isOwnHeader(folded: string): boolean {
  return !reserved.has(folded) && !reservedStarts.some((start) => folded.startsWith(start));
}
