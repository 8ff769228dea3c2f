// Reads the header alone, for the receive path before it reads a body (about 40 µs for usual mail,
// linear in the header block), and for the header half of the full projection. Values are
// untrusted: List-Unsubscribe (RFC 2369, RFC 8058) yields only https, http and mailto links that
// are safe to print and store.
import { foldAddress, parseAddress } from '../../platform/net/address.ts';
import { type AddressList, parseAddressList } from '../mime/headers/header-addresses.ts';
import { cleanLine, type HeaderBlock, readHeaderBlock } from '../mime/headers/header-fields.ts';
import {
  decodeWords,
  readDate,
  readParameters,
  readPriority,
} from '../mime/headers/header-values.ts';
import { boundReferences, readMessageIds } from '../mime/headers/message-ids.ts';
import {
  type HeaderAddress,
  type HeaderSummary,
  type MailPriority,
  type ParsedMail,
  type ParseOptions,
  type ParsingError,
  type ParsingErrorCode,
  withFault,
} from '../mime/parsed-mail.ts';
import { classifyAutoReply } from './auto-reply.ts';
import { readListHeaders } from './list-headers.ts';

const maxUrlCharacters = 2000;
const maxEntries = 10;

interface ListUnsubscribe {
  listUnsubscribeUrl: string | null;
  listUnsubscribeEmail: string | null;
}

function readUrl(text: string): URL | null {
  if (text.length > maxUrlCharacters || !/^https?:\/\//i.test(text)) return null;
  const url = URL.parse(text);
  // A link with credentials is refused: they only serve to imitate a different host.
  return url && url.username === '' && url.password === '' ? url : null;
}

function readMailto(text: string): string | null {
  if (text.length > maxUrlCharacters || !/^mailto:/i.test(text)) return null;
  const encoded = text.slice('mailto:'.length).split('?', 1)[0] ?? '';
  try {
    return parseAddress(decodeURIComponent(encoded))?.email ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the first https link, or else the first http link, and the first mailto address; null for
 * a missing link.
 */
function readListUnsubscribe(values: string[]): ListUnsubscribe {
  const entries = (values.join(', ').match(/<[^<>]{1,2100}>/g) ?? []).slice(0, maxEntries);
  const targets = entries.map((entry) => entry.slice(1, -1).replace(/\s+/g, ''));
  const urls = targets.map(readUrl).filter((url) => url !== null);
  const url = urls.find(({ protocol }) => protocol === 'https:') ?? urls[0];
  return {
    listUnsubscribeUrl: url?.href ?? null,
    listUnsubscribeEmail: targets.map(readMailto).find((email) => email !== null) ?? null,
  };
}

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

/**
 * Returns the author: the first address of the first From. Several authors are legal, but the
 * projection has a single author.
 */
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

/**
 * Returns the ids in In-Reply-To or References. Skips addresses of this mail, which old programs
 * write before the id (`Message from Ann <ann@a.example> of Tuesday <id@a.example>`).
 */
function readParents(
  block: HeaderBlock,
  name: string,
  people: readonly HeaderAddress[],
  faults: ParsingError[],
): string[] {
  const value = block.first(name.toLowerCase());
  const found = readMessageIds(value);
  const named = new Set(found.length > 0 ? people.map(({ email }) => foldAddress(email)) : []);
  const ids = found.filter((id) => !named.has(foldAddress(id.slice(1, -1))));
  if (value && ids.length === 0) {
    faults.push({ code: 'invalid-header', message: `${name}: no message id: it joins no thread` });
  }
  return ids;
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
  const from = readFrom(block, faults);
  const to = readAddresses(block, 'To', faults);
  const cc = readAddresses(block, 'Cc', faults);
  const people = [...(from ? [from] : []), ...to, ...cc];
  return {
    subject:
      subject === null ? null : decodeWords(subject).slice(0, maxSubjectCharacters).toWellFormed(),
    from,
    to,
    cc,
    messageIdHeader,
    inReplyTo: readParents(block, 'In-Reply-To', people, faults)[0] ?? null,
    references: boundReferences(readParents(block, 'References', people, faults)),
    date,
  };
}

/**
 * Reads only the header block, at most 256 KB; never throws. Of duplicate fields the first counts;
 * To and Cc are joined.
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
 * Returns the projection of a mail from the header alone, without text and attachments;
 * parse-mime.ts adds the body if the body can be parsed. Never throws.
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
    signature: null,
    ...classifyAutoReply({
      header: block,
      contentType: contentType.value,
      reportType,
      subject: summary.subject ?? '',
      fromEmail: summary.from?.email ?? '',
      ...options,
    }),
    ...readListUnsubscribe(block.all('list-unsubscribe')),
    ...readListHeaders(block),
    priority: readFirstPriority(block),
    attachments: [],
    headers: block.fields,
    reportType,
    reports: [],
    parsingErrors: faults,
  };
}

/** Parses only the header. `code` and `message` say why the body is missing. Never throws. */
export function parseHeaderOnly(
  raw: Buffer,
  options: ParseOptions,
  code: ParsingErrorCode,
  message: string,
): ParsedMail {
  return withFault(projectHeader(readHeaderBlock(raw), options), code, message);
}
