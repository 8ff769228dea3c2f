// Media types of files by name, for attachments that come without a type. Only this file imports
// nodemailer's table.
import { detectMimeType } from 'nodemailer/lib/mime-funcs';

const anyType = 'application/octet-stream';

/**
 * Returns the media type for a file name. Types `message/*` and `multipart/*` become plain bytes,
 * so that an attached mail does not become a part of our MIME tree.
 */
export function fileTypeOf(filename: string): string {
  const type = detectMimeType(filename);
  return /^(?:multipart|message)\//.test(type) ? anyType : type;
}
