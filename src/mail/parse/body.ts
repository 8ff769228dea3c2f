// Runs mailparser over one body within bounds, in the parse worker. Collects texts, report parts and
// attachments; counts and discards the bytes of attachments. header-fields.ts reads the header of the mail
// itself, so mailparser gets only its Content-* fields.
import { Readable } from 'node:stream';
import type { HeaderBlock } from '../mime/header-fields.ts';
import { readParameters } from '../mime/header-values.ts';
import {
  type MailAttachment,
  type ParsingError,
  parseLimits,
  type ReportPart,
} from '../mime/parsed-mail.ts';
import { AttachmentCollector, type AttachmentEvent } from './attachment-collector.ts';
import { createLenientParser, hasUnclosed, treeOf } from './lenient-parser.ts';
import { readPlainBody } from './plain-body.ts';
import { joinTexts, type TextBody, type TextNode } from './text.ts';

export interface MimeBody extends TextBody {
  attachments: MailAttachment[];
  reports: ReportPart[];
  faults: ParsingError[];
}

const chunkBytes = 64 * 1024;
const maxBoundaryBytes = 200;
/**
 * Options shared by all callers, so that part numbers agree. mailparser is pinned to 3.9.31, because later
 * versions cannot be installed. Its own joining of texts is off: it drops plain parts beside HTML without the
 * text-to-HTML step, and that step is unbounded.
 */
const parserOptions = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  checksumAlgo: 'sha1',
  maxHeadSize: parseLimits.headerBytes,
  maxChildNodes: parseLimits.parts,
};

/**
 * Returns the Content-* fields for mailparser. A multipart without a declared boundary, or with one that
 * never occurs, is read as plain text: its words matter more than its structure.
 */
function contentFields(block: HeaderBlock, body: Buffer, faults: ParsingError[]): string {
  const skipped = new Set<string>();
  const { value, parameters } = readParameters(block.first('content-type'));
  if (value.startsWith('multipart/')) {
    const boundary = Buffer.from((parameters.boundary ?? '').trimEnd());
    const isSane = boundary.length > 0 && boundary.length <= maxBoundaryBytes;
    if (!isSane || !body.includes(Buffer.concat([Buffer.from('--'), boundary]))) {
      skipped.add('content-type').add('content-transfer-encoding');
      const message = 'multipart without a usable boundary: read as plain text';
      faults.push({ code: 'missing-boundary', message });
    } else if (!body.includes(Buffer.concat([Buffer.from('--'), boundary, Buffer.from('--')]))) {
      faults.push({ code: 'unclosed-multipart', message: 'the last boundary is missing' });
    }
  }
  let head = '';
  for (const { name, value: fieldValue } of block.fields) {
    const key = name.toLowerCase();
    if (!key.startsWith('content-') || skipped.has(key)) continue;
    skipped.add(key);
    head += `${name}: ${fieldValue}\r\n`;
  }
  return `${head}\r\n`;
}

/**
 * Yields small pieces, which keep mailparser's buffers small: as one piece, 50 MB of base64 would take
 * 400 MB.
 */
function* piecesOf(head: string, body: Buffer): Generator<Buffer> {
  if (head !== '') yield Buffer.from(head);
  for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
}

function faultOf(error: Error & { code?: string }): ParsingError {
  if (error.code !== 'EMAXLEN') return { code: 'parser-failed', message: 'the body is unreadable' };
  return error.message.includes('child nodes')
    ? { code: 'too-many-parts', message: `more than ${parseLimits.parts} parts: the rest is left` }
    : { code: 'part-header-too-large', message: 'the header of a part is too large: cut there' };
}

interface ParserEnd {
  tree: TextNode | null;
  error: (Error & { code?: string }) | null;
  /** True if an inner multipart was not closed; it ends at the outer boundary. */
  isUnclosed: boolean;
}

/**
 * Runs mailparser over `head` and `body`, or over a whole mail with an empty `head`. Passes attachments to
 * `take`. Resolves with the tree once the parser ends, and with its error if it failed.
 */
export function runParser(
  head: string,
  body: Buffer,
  take: (attachment: AttachmentEvent) => void,
): Promise<ParserEnd> {
  return new Promise((resolve) => {
    const parser = createLenientParser(parserOptions);
    const source = Readable.from(piecesOf(head, body), { objectMode: false });
    const finish = (error: Error | null) =>
      resolve({ tree: treeOf(parser), error, isUnclosed: hasUnclosed(parser) });
    parser.on('data', (event: AttachmentEvent | { type: 'text' }) => {
      if (event.type === 'attachment') take(event);
    });
    parser.on('end', () => finish(null));
    parser.on('error', (error: Error) => {
      source.destroy();
      finish(error);
    });
    source.pipe(parser);
  });
}

/**
 * Returns the bytes before the first part beyond the limit: every part opens with a line that starts with
 * `--`.
 */
function cutToParts(body: Buffer): Buffer {
  let at = 0;
  for (let parts = 1; parts < parseLimits.parts; parts += 1) {
    const found = body.indexOf('\n--', at);
    if (found < 0) return body;
    at = found + 1;
  }
  return body.subarray(0, at);
}

async function parseBody(head: string, body: Buffer): Promise<MimeBody> {
  const collector = new AttachmentCollector();
  const run = await runParser(head, body, (event) => collector.take(event));
  const { tree, error, isUnclosed } = run;
  const { attachments, reports, faults } = collector;
  if (isUnclosed) {
    const message = 'an inner multipart is not closed: it ends at the next outer boundary';
    faults.push({ code: 'unclosed-multipart', message });
  }
  if (error) faults.push(faultOf(error));
  return { ...joinTexts(tree, faults), attachments, reports, faults };
}

/**
 * Parses the body of a mail under its Content-* fields. Bounds are 500 parts, 20 levels, and 2 MB each of
 * text and HTML; the excess is left out and a fault reports it. An attached message stays an attachment: its
 * text never joins that of its carrier.
 */
export async function readMimeBody(block: HeaderBlock, body: Buffer): Promise<MimeBody> {
  const faults: ParsingError[] = [];
  const plain = readPlainBody(block, body);
  if (plain) return { ...joinTexts(plain, faults), attachments: [], reports: [], faults };
  const head = contentFields(block, body, faults);
  const found = await parseBody(head, body);
  const overrun = found.faults.find(({ code }) => code === 'too-many-parts');
  if (!overrun) return { ...found, faults: [...faults, ...found.faults] };
  // mailsplit loses data that it has read but not yet emitted; a body without the excess loses nothing.
  const within = await parseBody(head, cutToParts(body));
  return { ...within, faults: [...faults, overrun, ...within.faults] };
}
