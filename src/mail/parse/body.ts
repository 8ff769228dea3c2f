// Runs mailparser over a body within bounds, in the parse worker. Collects texts, report parts
// and attachments; counts and discards the bytes of attachments. header-fields.ts reads the headers
// of the mail and of the parts, so mailparser gets only the Content-* fields.
import { Readable } from 'node:stream';
import { findBodyStart, type HeaderBlock, readHeaderBlock } from '../mime/headers/header-fields.ts';
import { readParameters } from '../mime/headers/header-values.ts';
import {
  type MailAttachment,
  type ParsingError,
  parseLimits,
  type ReportPart,
} from '../mime/parsed-mail.ts';
import { AttachmentCollector, type AttachmentEvent } from './attachment-collector.ts';
import { type ByteWatcher, createLenientParser } from './lenient-parser.ts';
import { contentFields, type SplitFindings, type SplitNode } from './lenient-splitter.ts';
import { joinTexts, partNumberOf, type TextBody, type TextNode } from './text.ts';

const carriageReturn = 0x0d;

export interface MimeBody extends TextBody {
  attachments: MailAttachment[];
  reports: ReportPart[];
  faults: ParsingError[];
}

const chunkBytes = 64 * 1024;
/**
 * Options shared by all callers, so that part numbers agree. The conversions between text and HTML
 * are off, because they have no bound. Without them mailparser drops plain parts beside HTML, so
 * text.ts joins the texts.
 */
const parserOptions = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  checksumAlgo: false as const,
  maxHeadSize: parseLimits.headerBytes,
  maxChildNodes: parseLimits.parts,
};

/** A mail, split into the parsed header and the bytes of the body. */
export interface SplitMail {
  block: HeaderBlock;
  body: Buffer;
}

/** Splits a mail, and repairs line ends that were converted twice (CR CR LF). */
export function splitMail(raw: Buffer): SplitMail {
  const firstLine = raw.subarray(0, Math.max(raw.indexOf('\n'), 0));
  const isDoubled = firstLine.at(-1) === carriageReturn && firstLine.at(-2) === carriageReturn;
  const mail = isDoubled
    ? Buffer.from(raw.toString('latin1').replaceAll('\r\r\n', '\r\n'), 'latin1')
    : raw;
  const block = readHeaderBlock(mail);
  const bodyStart = block.bodyStart ?? findBodyStart(mail, block.end);
  return { block, body: mail.subarray(bodyStart) };
}

/**
 * Yields small pieces, so that mailparser's buffers stay small: a single piece with 50 MB of base64
 * would take 400 MB.
 */
function* piecesOf(head: Buffer, body: Buffer): Generator<Buffer> {
  yield head;
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
  findings: SplitFindings;
}

/**
 * Runs mailparser over a mail. Passes attachments to `take`, and the decoded bytes of each part to
 * `watch`. Resolves with the tree once the parser ends, and with the error if it failed.
 */
export function runParser(
  { block, body }: SplitMail,
  take: (attachment: AttachmentEvent) => void,
  watch?: ByteWatcher,
): Promise<ParserEnd> {
  return new Promise((resolve) => {
    const head = contentFields(block);
    const sourceBytes = { headBytes: head.length, body };
    const { parser, findings, tree } = createLenientParser(parserOptions, sourceBytes, watch);
    const source = Readable.from(piecesOf(head, body), { objectMode: false });
    const finish = (error: Error | null) => resolve({ tree: tree(), error, findings });
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
 * Returns the bytes before the first part beyond the limit. Every part begins after a line that
 * starts with `--`.
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

/** Returns the faults of the structure that the splitter found. */
function structureFaults({ tree, findings }: ParserEnd): ParsingError[] {
  const faults: ParsingError[] = [...findings.malformed].map((node) => ({
    code: 'malformed-header',
    message: 'the header of a part has a line that is no field, or no empty line behind it',
    ...partNumberOf({ node }),
  }));
  if (findings.isUnclosed) {
    const message = 'an inner multipart is not closed: it ends at the next outer boundary';
    faults.push({ code: 'unclosed-multipart', message });
  }
  if (findings.hasPartsBehindEnd) {
    const message = 'a multipart has parts behind its closing boundary: they are left out';
    faults.push({ code: 'unclosed-multipart', message });
  }
  const isOpen =
    tree?.node && tree.children.length > 0 && !findings.closed.has(tree.node as SplitNode);
  if (isOpen) faults.push({ code: 'unclosed-multipart', message: 'the last boundary is missing' });
  return faults;
}

async function parseBody(mail: SplitMail): Promise<MimeBody> {
  const collector = new AttachmentCollector();
  const run = await runParser(mail, (event) => collector.take(event));
  const { attachments, reports } = collector;
  const faults = [...collector.faults, ...structureFaults(run)];
  if (run.error) faults.push(faultOf(run.error));
  return { ...joinTexts(run.tree, faults), attachments, reports, faults };
}

/**
 * Parses the body of a mail as the Content-* fields declare. Limits are 500 parts, and 2 MB each of
 * text and HTML; the rest is dropped and reported as a fault. An attached message stays an
 * attachment: its text does not become text of the mail.
 */
export async function readMimeBody(mail: SplitMail): Promise<MimeBody> {
  const faults: ParsingError[] = [];
  const plain = readPlainBody(mail.block, mail.body);
  if (plain) return { ...joinTexts(plain, faults), attachments: [], reports: [], faults };
  const found = await parseBody(mail);
  const overrun = found.faults.find(({ code }) => code === 'too-many-parts');
  if (!overrun) return found;
  // mailsplit loses data that was read but not emitted when it stops. A body cut to the limit loses
  // nothing.
  const within = await parseBody({ ...mail, body: cutToParts(mail.body) });
  return { ...within, faults: [overrun, ...within.faults] };
}

// Reads the body of a mail that is only text: the bytes are the text, so mailparser is skipped,
// which takes ten times as long. The result equals that of mailparser for the same mail.

/** Most bytes of a body that is read here; lenient-parser.ts cuts longer texts. */
const mostBytes = 512 * 1024;
/** Content-* fields that do not affect how the body is read. */
const harmless = new Set(['content-language', 'content-length']);
const identities = new Set(['', '7bit', '8bit', 'binary']);
const utf8s = new Set(['utf-8', 'us-ascii']);

/**
 * Returns the charset in an object, which is empty if the mail names no charset. Returns null if
 * the body is not plain.
 */
function plainCharset(block: HeaderBlock): Pick<TextNode, 'charset'> | null {
  for (const { name } of block.fields) {
    const key = name.toLowerCase();
    if (!key.startsWith('content-') || harmless.has(key)) continue;
    if (key !== 'content-type' && key !== 'content-transfer-encoding') return null;
    if (block.all(key).length > 1) return null;
  }
  const encoding = block.first('content-transfer-encoding') ?? '';
  if (!identities.has(encoding.toLowerCase())) return null;
  const type = block.first('content-type');
  if (type === null) return {};
  const { value, parameters } = readParameters(type);
  const { charset, ...others } = parameters;
  if (value !== 'text/plain' || Object.keys(others).length > 0) return null;
  if (charset === undefined) return {};
  return utf8s.has(charset.toLowerCase()) ? { charset } : null;
}

/** Returns the tree of a plain mail, a single leaf, or null if the body needs mailparser. */
export function readPlainBody(block: HeaderBlock, body: Buffer): TextNode | null {
  if (body.length > mostBytes || body.length === 0) return null;
  const plain = plainCharset(block);
  if (plain === null) return null;
  const text = { bytes: body, isCut: false };
  return { contentType: 'text/plain', ...plain, node: { text }, children: [] };
}
