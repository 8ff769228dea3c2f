// Answers with files written by strangers (`sendsFile` of src/core/api/route.ts). A browser saves
// them under their name and never runs them. It may display images, PDF documents and plain text.
import type { FastifyReply } from 'fastify';
import type { FileAnswer } from '../../../src/core/api/route.ts';
import { reserveAnswer } from '../answer-memory.ts';

/** Types that a browser may display in place. SVG is missing, as it may contain scripts. */
const shown = /^(?:image\/(?:png|jpeg|gif|webp)|text\/plain|application\/pdf)$/;
/** Types that a browser might render as a page. */
const pages =
  /^(?:text\/(?!plain|csv|calendar)|application\/(?:xhtml|xml|javascript)|image\/svg|multipart\/|message\/)|[+]xml$/;

/**
 * Returns Content-Disposition (RFC 6266): an ASCII name, and the full name (RFC 8187) if it has
 * other characters.
 */
export function dispositionOf(contentType: string, filename: string | null): string {
  const kind = shown.test(contentType) ? 'inline' : 'attachment';
  if (filename === null) return kind;
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  if (plain === filename) return `${kind}; filename="${plain}"`;
  const whole = encodeURIComponent(filename).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `${kind}; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** Returns the type under which a file of strangers is served. */
export function servedType({ contentType, isMail }: FileAnswer): string {
  return pages.test(contentType) && !isMail ? 'application/octet-stream' : contentType;
}

/**
 * Sets the headers of the answer; returns the body.
 * @throws CapacityError if the memory for answers is used up
 */
export function fileAnswer(reply: FastifyReply, file: FileAnswer): Buffer {
  const { contentType, filename, bytes } = file;
  reserveAnswer(reply.raw, bytes.length);
  reply
    .header('content-type', servedType(file))
    .header('content-disposition', dispositionOf(contentType, filename))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "sandbox; default-src 'none'")
    .header('cache-control', 'private, no-store');
  return bytes;
}
