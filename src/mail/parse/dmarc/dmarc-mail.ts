// Finds the aggregate report in a mail to a `rua` address (RFC 7489 7.2.1.1): the attachment and
// its bytes. body.ts discards the bytes of attachments, so the mail is parsed again.

import type { MailAttachment, ParsedMail } from '../../mime/parsed-mail.ts';
import { readAttachmentBytes } from '../attachment-bytes.ts';
import { type DmarcReport, dmarcLimits, readDmarcReport } from './dmarc-report.ts';

const types = new Set([
  'application/zip',
  'application/x-zip',
  'application/x-zip-compressed',
  'application/gzip',
  'application/x-gzip',
  'application/xml',
  'text/xml',
]);
const name = /\.(?:xml|xml\.gz|gz|zip)$/i;
const maxCandidates = 3;

function mayBeReport({ contentType, filename, size }: MailAttachment): boolean {
  if (size === 0 || size > dmarcLimits.bytes) return false;
  return types.has(contentType) || name.test(filename ?? '');
}

/** Reads the aggregate report of a mail, or returns null. `mail` is the parsed form of `raw`. */
export async function readDmarcMail(raw: Buffer, mail: ParsedMail): Promise<DmarcReport | null> {
  for (const { partNumber } of mail.attachments.filter(mayBeReport).slice(0, maxCandidates)) {
    const bytes = await readAttachmentBytes(raw, partNumber, dmarcLimits.bytes);
    const report = bytes && readDmarcReport(bytes);
    if (report) return report;
  }
  return null;
}
