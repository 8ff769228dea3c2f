// Tells the files that a reader can save from the parts that the HTML shows and the parts that
// programs process (RFC 8621 4.1.4).
import { readTokens } from '../mime/html/tokens.ts';
import type { MailAttachment } from '../mime/parsed-mail.ts';

/** Types of parts that mail programs process and list nowhere. */
const processed = new Set([
  'text/x-amp-html',
  'text/vnd.google.email-reaction+json',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'application/pgp-signature',
  'application/pgp-encrypted',
]);
/** Types of parts that HTML can show in their place; some programs give pictures no type. */
const showable = /^(?:image|video|audio)\/|^application\/octet-stream$/;
const citation = /cid:([^\s"'<>()\\]{1,998})/gi;

function decoded(id: string): string {
  try {
    return decodeURIComponent(id).toLowerCase();
  } catch {
    return id.toLowerCase();
  }
}

/**
 * Returns the ids of the parts that the HTML shows, in lower case. A link to a part shows nothing.
 */
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
 * Returns the attachments, with `related` for attachments that a reader does not save. A picture of
 * multipart/related without an id may be shown by place.
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
