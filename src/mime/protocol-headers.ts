// Headers that a sender may not set: the service, the transport or the receiver's filters own them.
// Everything else that is a valid field name passes (contract 5: "the protocol's own refused").

/** The field that shows reports on our mail for what they are (src/queue/return-path.ts). */
export const copyTokenField = 'X-Service-Token';

const owned = new Set([
  copyTokenField.toLowerCase(),
  'arc-authentication-results',
  'arc-message-signature',
  'arc-seal',
  'authentication-results',
  'bcc',
  'cc',
  'content-disposition',
  'content-id',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'date',
  'delivered-to',
  'dkim-signature',
  'domainkey-signature',
  'from',
  'in-reply-to',
  'importance',
  'message-id',
  'mime-version',
  'original-recipient',
  'priority',
  'received',
  'received-spf',
  'references',
  'reply-to',
  'return-path',
  'sender',
  'status',
  'subject',
  'to',
  'x-priority',
]);

/** Field names are visible ASCII without colon (RFC 5322 3.6.8); 76 keeps the line foldable. */
const fieldName = /^[!-9;-~]{1,76}$/;

/** Why the name cannot be used, or null. */
export function isRefusedHeader(name: string): string | null {
  if (!fieldName.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (owned.has(lower) || lower.startsWith('resent-')) return 'is set by the service';
  return null;
}
