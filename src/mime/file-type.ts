// What a file is, by its name, for attachments that come without a type. Doorway to nodemailer's table.
import { detectMimeType } from 'nodemailer/lib/mime-funcs';

const anyType = 'application/octet-stream';

/** The media type for this file name. A mail within a mail is bytes: it must not become a part of ours. */
export function fileTypeOf(filename: string): string {
  const type = detectMimeType(filename);
  return /^(?:multipart|message)\//.test(type) ? anyType : type;
}
