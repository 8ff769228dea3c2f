// Separates files that a reader can save from parts that the HTML shows or that programs process
// (RFC 8621 4.1.4).
import { readTokens } from '../mime/html/tokens.ts';
import type { MailAttachment } from '../mime/parsed-mail.ts';

/** Types of parts that mail programs process but never list. */
const processed = new Set([
  'text/x-amp-html',
  'text/vnd.google.email-reaction+json',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'application/pgp-signature',
  'application/pgp-encrypted',
]);
/**
 * Types of parts that HTML can show. Some programs give pictures the type
 * `application/octet-stream`.
 */
const showable = /^(?:image|video|audio)\/|^application\/octet-stream$/;
const citation = /cid:([^\s"'<>()\\]{1,998})/gi;

function decoded(id: string): string {
  try {
    return decodeURIComponent(id).toLowerCase();
  } catch {
    return id.toLowerCase();
  }
}

/** Returns the Content-IDs (lower case) of parts that the HTML shows. A link shows nothing. */
function citedIn(html: string): Set<string> {
  const cited = new Set<string>();
  const read = (text: string) => {
    if (!/cid:/i.test(text)) return;
    for (const [, id = ''] of text.matchAll(citation)) cited.add(decoded(id));
  };
  readTokens(html, {
    open(_, attributes) {
      for (const [name, value] of attributes) if (name !== 'href') read(value);
    },
    close() {},
    text: read,
  });
  return cited;
}

/**
 * Sets `related` to true for parts that are no files to save: parts shown in the HTML, signatures
 * and parts for programs. A picture without a Content-ID counts as shown if it is in
 * multipart/related and the mail has HTML.
 */
export function withShown(attachments: MailAttachment[], html: string | null): MailAttachment[] {
  if (attachments.length === 0) return attachments;
  const cited = html !== null && /cid:/i.test(html) ? citedIn(html) : new Set<string>();
  return attachments.map((file) => {
    const { contentType, contentId, filename, related } = file;
    const isSignature = filename?.toLowerCase() === 'smime.p7s';
    if (isSignature || processed.has(contentType)) return { ...file, related: true };
    const isCited =
      contentId === null ? related && html !== null : cited.has(contentId.toLowerCase());
    return { ...file, related: isCited && showable.test(contentType) };
  });
}
