// Collects attachments and report parts while mailparser streams them. Bytes are counted and
// discarded; only machine-readable parts of reports are kept, within bounds.
import type { Readable } from 'node:stream';
import { cleanLine, decodeHeaderBytes, findBodyStart } from '../mime/headers/header-fields.ts';
import { decodeWords } from '../mime/headers/header-values.ts';
import {
  type MailAttachment,
  type ParsingError,
  parseLimits,
  type ReportPart,
} from '../mime/parsed-mail.ts';

/** An attachment event of mailparser, whose declared types lack `partId` and `related`. */
export interface AttachmentEvent {
  type: 'attachment';
  content: Readable;
  contentType: string | false;
  contentDisposition?: string;
  contentId?: string;
  filename?: string;
  partId: string | null;
  related?: boolean;
  /** Lets the parser continue; null once called. */
  release: (() => void) | null;
}

const maxFilenameCharacters = 255;
const contentTypeForm = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;
const embeddedMessages = new Set(['message/rfc822', 'message/global']);
export const isEmbeddedMessage = (contentType: string) => embeddedMessages.has(contentType);
const reportTypes = new Set([
  ...embeddedMessages,
  'message/delivery-status',
  'message/global-delivery-status',
  'message/disposition-notification',
  'message/global-disposition-notification',
  'message/feedback-report',
  'message/global-headers',
  'text/rfc822-headers',
]);

function readFilename(event: AttachmentEvent): string | null {
  const name = cleanLine(decodeWords(event.filename ?? ''))
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/^.*[/\\]/, '')
    .slice(0, maxFilenameCharacters)
    .toWellFormed();
  return name === '' || name === '.' || name === '..' ? null : name;
}

function describeAttachment(event: AttachmentEvent): MailAttachment {
  const contentType = (event.contentType || '').toLowerCase();
  const disposition = event.contentDisposition;
  const contentId = cleanLine(event.contentId ?? '').replace(/^<|>$/g, '');
  return {
    index: 0,
    partNumber: event.partId ?? '1',
    filename: readFilename(event),
    contentType: contentTypeForm.test(contentType) ? contentType : 'application/octet-stream',
    contentId: contentId.slice(0, 998) || null,
    disposition: disposition === 'inline' ? 'inline' : disposition ? 'attachment' : null,
    size: 0,
    related: event.related === true,
  };
}

export class AttachmentCollector {
  readonly attachments: MailAttachment[] = [];
  readonly reports: ReportPart[] = [];
  readonly faults: ParsingError[] = [];

  /** Reads an attachment to the end and lets the parser continue. */
  take(event: AttachmentEvent): void {
    const attachment = describeAttachment(event);
    const isReport = reportTypes.has(attachment.contentType);
    const kept: Buffer[] = [];
    let keptBytes = 0;
    attachment.index = this.attachments.length;
    this.attachments.push(attachment);
    event.content.on('data', (chunk: Buffer) => {
      attachment.size += chunk.length;
      if (!isReport || keptBytes > parseLimits.reportBytes) return;
      kept.push(chunk);
      keptBytes += chunk.length;
    });
    event.content.on('error', () => event.release?.());
    event.content.on('end', () => {
      if (isReport) this.keepReport(attachment, Buffer.concat(kept));
      event.release?.();
    });
  }

  private keepReport({ contentType, partNumber }: MailAttachment, content: Buffer): void {
    if (this.reports.length === parseLimits.reports) return;
    const isMessage = isEmbeddedMessage(contentType);
    const bytes = isMessage ? content.subarray(0, findBodyStart(content, 0)) : content;
    if (bytes.length > parseLimits.reportBytes) {
      const message = `${contentType} is longer than ${parseLimits.reportBytes} bytes: cut`;
      this.faults.push({ code: 'report-truncated', message, part: partNumber });
    }
    const text = decodeHeaderBytes(bytes.subarray(0, parseLimits.reportBytes));
    this.reports.push({ contentType, partNumber, text: text.replaceAll('\0', '') });
  }
}
