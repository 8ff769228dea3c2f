// The header-only reader: what the receive path needs before a body is looked at (about 40 µs for
// usual mail, linear in the header block), and the header half of the full projection.
import { type AddressList, parseAddressList } from './address-lists.ts';
import { classifyAutoReply } from './auto-reply.ts';
import { cleanLine, type HeaderBlock, readHeaderBlock } from './header-fields.ts';
import {
  decodeWords,
  readDate,
  readMessageIds,
  readParameters,
  readPriority,
  readReferences,
} from './header-values.ts';
import { readListUnsubscribe } from './list-unsubscribe.ts';
import {
  type HeaderAddress,
  type HeaderSummary,
  type MailPriority,
  type ParsedMail,
  type ParseOptions,
  type ParsingError,
  type ParsingErrorCode,
  withFault,
} from './parsed-mail.ts';

const maxSubjectCharacters = 4096;
/** Fields that RFC 5322 3.6 allows once; the first counts. To and Cc are joined instead. */
const singleFields = [
  'From',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'Content-Type',
];
const priorityFields = ['importance', 'x-priority', 'x-msmail-priority', 'priority'];

function readAddresses(block: HeaderBlock, name: string, faults: ParsingError[]): HeaderAddress[] {
  const value = block.all(name.toLowerCase()).join(', ');
  if (value === '') return [];
  const list = parseAddressList(value);
  reportAddresses(name, list, faults);
  return list.addresses;
}

function reportAddresses(name: string, list: AddressList, faults: ParsingError[]): void {
  if (list.invalid > 0) {
    const message = `${name}: ${list.invalid} entries hold no address`;
    faults.push({ code: 'invalid-header', message });
  }
  if (list.truncated) {
    const message = `${name}: more than ${list.addresses.length} addresses: cut`;
    faults.push({ code: 'too-many-addresses', message });
  }
}

/** The author: the first address of the first From. Several are legal but ours has one place. */
function readFrom(block: HeaderBlock, faults: ParsingError[]): HeaderAddress | null {
  const value = block.first('from');
  if (value === null) {
    faults.push({ code: 'missing-header', message: 'From is missing' });
    return null;
  }
  const list = parseAddressList(value);
  reportAddresses('From', list, faults);
  const [from = null, second] = list.addresses;
  if (second) faults.push({ code: 'invalid-header', message: 'From: several authors: first kept' });
  return from;
}

function readSummary(block: HeaderBlock, faults: ParsingError[]): HeaderSummary {
  const subject = block.first('subject');
  const dateValue = block.first('date');
  const date = readDate(dateValue);
  if (dateValue !== null && date === null) {
    faults.push({ code: 'invalid-header', message: 'Date: not a date' });
  }
  const messageIdHeader = readMessageIds(block.first('message-id'))[0] ?? null;
  if (messageIdHeader === null) {
    faults.push({ code: 'missing-header', message: 'Message-ID is missing or unreadable' });
  }
  return {
    subject:
      subject === null ? null : decodeWords(subject).slice(0, maxSubjectCharacters).toWellFormed(),
    from: readFrom(block, faults),
    to: readAddresses(block, 'To', faults),
    cc: readAddresses(block, 'Cc', faults),
    messageIdHeader,
    inReplyTo: readMessageIds(block.first('in-reply-to'))[0] ?? null,
    references: readReferences(block.first('references')),
    date,
  };
}

/**
 * Reads the header block alone: at most 256 KB, never throws, looks at no body byte. Duplicate
 * fields: the first counts, To and Cc are joined.
 */
export function readHeader(raw: Buffer): HeaderSummary {
  return readSummary(readHeaderBlock(raw), []);
}

function reportDuplicates(block: HeaderBlock, faults: ParsingError[]): void {
  for (const name of singleFields) {
    const count = block.all(name.toLowerCase()).length;
    if (count < 2) continue;
    faults.push({ code: 'duplicate-header', message: `${name}: ${count} times, the first counts` });
  }
}

function readFirstPriority(block: HeaderBlock): MailPriority | null {
  for (const name of priorityFields) {
    const value = block.first(name);
    const priority = value === null ? null : readPriority(value);
    if (priority !== null) return priority;
  }
  return null;
}

/**
 * The projection as far as the header tells it: no text, no attachments. It is what remains of a
 * mail whose body could not be parsed. Never throws.
 */
export function projectHeader(block: HeaderBlock, options: ParseOptions): ParsedMail {
  const faults = [...block.faults];
  reportDuplicates(block, faults);
  const summary = readSummary(block, faults);
  const contentType = readParameters(block.first('content-type'));
  const reportType =
    contentType.value === 'multipart/report'
      ? cleanLine(contentType.parameters['report-type'] ?? '').toLowerCase() || null
      : null;
  return {
    ...summary,
    bcc: readAddresses(block, 'Bcc', faults),
    replyTo: readAddresses(block, 'Reply-To', faults),
    text: null,
    html: null,
    newContent: null,
    quotedContent: null,
    hasQuotedContent: false,
    ...classifyAutoReply({
      header: block,
      contentType: contentType.value,
      reportType,
      subject: summary.subject ?? '',
      fromEmail: summary.from?.email ?? '',
      ...options,
    }),
    ...readListUnsubscribe(block.all('list-unsubscribe')),
    priority: readFirstPriority(block),
    attachments: [],
    headers: block.fields,
    reportType,
    reports: [],
    parsingErrors: faults,
  };
}

/** The projection from the header alone, with the reason why there is no more. Never throws. */
export function parseHeaderOnly(
  raw: Buffer,
  options: ParseOptions,
  code: ParsingErrorCode,
  message: string,
): ParsedMail {
  return withFault(projectHeader(readHeaderBlock(raw), options), code, message);
}
