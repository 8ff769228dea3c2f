// Finds and unfolds the header fields of a raw mail (RFC 5322 2.2) within bounds, in a single pass
// over the bytes; never throws. header-values.ts interprets the values.
import { isUtf8 } from 'node:buffer';
import { type HeaderField, type ParsingError, parseLimits } from '../parsed-mail.ts';

export interface HeaderBlock {
  fields: HeaderField[];
  /** Returns the first value of the field with this lower-case name; `all` returns every value. */
  first(name: string): string | null;
  all(name: string): string[];
  /** Offset of the body; null if reading stopped before the end of the header. */
  bodyStart: number | null;
  /** Offset at which reading stopped: the body, unless a limit cut the header before. */
  end: number;
  faults: ParsingError[];
}

/** Position of a field in the raw bytes: the name ends at the colon, the value at `end`. */
export interface FieldSpan {
  name: string;
  start: number;
  valueStart: number;
  end: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const colon = 0x3a;
const dash = 0x2d;
const fieldName = /^[!-,.-9;-~][!-9;-~]{0,99}[ \t]*$/;
const windows1252 = new TextDecoder('windows-1252');
/** Most lines of white space and folds that are skipped to find the next field. */
const mostLinesAhead = 20;
/** Names of fields in mail and news that are a single word. All other names have a hyphen. */
const singleWords = new Set(
  (
    'approved archive author autoforwarded autosubmitted bcc body cc comments control date distribution encoding ' +
    'encrypted errors expires face from importance keywords language lines mailer newsgroups organisation organization ' +
    'path precedence priority received references reply sender sensitivity solicitation status subject summary ' +
    'supersedes to xref'
  ).split(' '),
);

export interface Scan {
  spans: FieldSpan[];
  bodyStart: number | null;
  end: number;
  malformedLines: number;
  /** True if the header ends without an empty line: at a line of white space, or at body text. */
  isUnseparated: boolean;
  cutBy: 'bytes' | 'lines' | 'fields' | null;
}

/**
 * Returns true for a line without characters except CR: converting line ends twice doubles CR.
 */
function isEmptyLine(raw: Buffer, start: number, lineEnd: number): boolean {
  let at = start;
  while (at < lineEnd && raw[at] === carriageReturn) at += 1;
  return at === lineEnd;
}

const isBlank = (byte: number | undefined) => byte === space || byte === tab;

function isBlankLine(raw: Buffer, start: number, lineEnd: number): boolean {
  let at = start;
  while (at < lineEnd && (isBlank(raw[at]) || raw[at] === carriageReturn)) at += 1;
  return at === lineEnd;
}

function readName(raw: Buffer, start: number, lineEnd: number): string | null {
  const limit = Math.min(lineEnd, start + 110);
  const at = raw.subarray(start, limit).indexOf(colon);
  if (at < 1) return null;
  const name = raw.toString('latin1', start, start + at);
  return fieldName.test(name) ? name.trimEnd() : null;
}

/** Returns false for a word before a colon that occurs in texts rather than in headers. */
function isUsualName(name: string): boolean {
  const key = name.toLowerCase();
  return singleWords.has(key) || (key.includes('-') && key !== 'e-mail');
}

/** Returns the offset of the line feed, or the end. */
function endOfLine(raw: Buffer, start: number): number {
  const found = raw.indexOf(lineFeed, start);
  return found < 0 ? raw.length : found;
}

/** Returns true if a field follows after folds and lines of white space (RFC 5322 4.2). */
function hasFieldAhead(raw: Buffer, from: number): boolean {
  let start = from;
  for (let lines = 0; lines < mostLinesAhead && start < raw.length; lines += 1) {
    const lineEnd = endOfLine(raw, start);
    if (!isBlank(raw[start])) {
      const name = readName(raw, start, lineEnd);
      return name !== null && isUsualName(name);
    }
    start = lineEnd + 1;
  }
  return false;
}

/** Returns true for the `From ` line that a mailbox file has before each mail. */
function isMboxLine(raw: Buffer, start: number): boolean {
  return start === 0 && /^>?From /.test(raw.toString('latin1', 0, 6));
}

/** Returns true for a line that may delimit a multipart: fields after it belong to a part. */
const isDelimiter = (raw: Buffer, start: number) => raw[start] === dash && raw[start + 1] === dash;

/**
 * Ends the header at `start`, where the body begins. The last fields count as body text too if they
 * have no usual name of a header field.
 */
function endAtText(scan: Scan, start: number): void {
  scan.bodyStart = start;
  scan.isUnseparated = true;
  for (let last = scan.spans.at(-1); last && !isUsualName(last.name); last = scan.spans.at(-1)) {
    scan.bodyStart = last.start;
    scan.spans.pop();
  }
}

/**
 * Lists the fields of the header block within `parseLimits`. A line that cannot be a field ends the
 * block (RFC 5322 2.2), except the line of a mailbox file and a broken line before a field.
 */
export function scanFields(raw: Buffer): Scan {
  const scan: Scan = {
    spans: [],
    bodyStart: null,
    end: 0,
    malformedLines: 0,
    isUnseparated: false,
    cutBy: null,
  };
  let current: FieldSpan | null = null;
  let start = 0;
  let lines = 0;
  while (start < raw.length) {
    const lineEnd = endOfLine(raw, start);
    const next = Math.min(lineEnd + 1, raw.length);
    if (isEmptyLine(raw, start, lineEnd)) {
      scan.bodyStart = next;
      break;
    }
    lines += 1;
    if (next > parseLimits.headerBytes || lines > parseLimits.headerLines) {
      scan.cutBy = next > parseLimits.headerBytes ? 'bytes' : 'lines';
      break;
    }
    const isFold = isBlank(raw[start]);
    if (isFold && isBlankLine(raw, start, lineEnd) && !hasFieldAhead(raw, next)) {
      scan.bodyStart = next;
      scan.isUnseparated = true;
      break;
    }
    const name = isFold ? null : readName(raw, start, lineEnd);
    if (name !== null) {
      if (scan.spans.length === parseLimits.headerFields) {
        scan.cutBy = 'fields';
        break;
      }
      const valueStart = raw.indexOf(colon, start) + 1;
      current = { name, start, valueStart, end: lineEnd };
      scan.spans.push(current);
    } else if (isFold && current) {
      current.end = lineEnd;
    } else if (isMboxLine(raw, start) || (!isDelimiter(raw, start) && hasFieldAhead(raw, next))) {
      current = null;
      if (!isFold) scan.malformedLines += 1;
    } else {
      endAtText(scan, start);
      break;
    }
    start = next;
  }
  scan.end = scan.bodyStart ?? start;
  if (start >= raw.length && scan.cutBy === null) scan.bodyStart ??= raw.length;
  return scan;
}

/**
 * Returns the offset after the first empty line at or after `from`, or the end. Linear in the mail.
 */
export function findBodyStart(raw: Buffer, from: number): number {
  let start = from;
  while (start < raw.length) {
    const lineEnd = endOfLine(raw, start);
    if (lineEnd === raw.length) return raw.length;
    if (isEmptyLine(raw, start, lineEnd)) return lineEnd + 1;
    start = lineEnd + 1;
  }
  return raw.length;
}

/** Decodes bytes as UTF-8 if valid (RFC 6532), otherwise as Windows-1252; never fails. */
export function decodeHeaderBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : windows1252.decode(bytes);
}

const rawByte = /[\x80-\xff]/;
const rawBytes = /[\x80-\xff]/g;
const quotedWord = /=\?[\w*-]{1,60}\?q\?[^?\r\n]{1,2000}\?=/gi;

/**
 * Writes raw bytes within `Q` encoded words as `=XX`: they are in the charset that the word names
 * (RFC 2047 4.2), not of the field. Returns the same bytes if nothing changes.
 */
function escapeRawWords(bytes: Buffer): Buffer {
  if (!bytes.includes('=?')) return bytes;
  const text = bytes.toString('latin1');
  if (!rawByte.test(text)) return bytes;
  const escaped = text.replace(quotedWord, (word) =>
    word.replace(rawBytes, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  return Buffer.from(escaped, 'latin1');
}

/**
 * Returns a trimmed line without control characters. A fold or a tab becomes a space; runs of
 * spaces stay.
 */
export function cleanLine(text: string): string {
  return text
    .replace(/[\r\n]+[ \t]*/g, ' ')
    .replaceAll('\t', ' ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .toWellFormed();
}

function readValue(raw: Buffer, span: FieldSpan): string {
  const end = Math.min(span.end, span.valueStart + parseLimits.fieldCharacters);
  return cleanLine(decodeHeaderBytes(escapeRawWords(raw.subarray(span.valueStart, end))));
}

function faultsOf(scan: Scan): ParsingError[] {
  const faults: ParsingError[] = [];
  if (scan.cutBy === 'bytes') {
    const message = `the header block is larger than ${parseLimits.headerBytes} bytes: cut`;
    faults.push({ code: 'header-too-large', message });
  }
  if (scan.cutBy === 'lines') {
    const message = `the header block has more than ${parseLimits.headerLines} lines: cut`;
    faults.push({ code: 'header-too-large', message });
  }
  if (scan.cutBy === 'fields') {
    const message = `the mail has more than ${parseLimits.headerFields} header fields: cut`;
    faults.push({ code: 'too-many-header-fields', message });
  }
  if (scan.malformedLines > 0) {
    const message = `${scan.malformedLines} header lines are no fields: skipped`;
    faults.push({ code: 'malformed-header', message });
  }
  if (scan.isUnseparated) {
    const message =
      'no empty line ends the header: the body begins at the first line that is no field';
    faults.push({ code: 'malformed-header', message });
  }
  for (const span of scan.spans) {
    if (span.end - span.valueStart <= parseLimits.fieldCharacters) continue;
    const message = `${span.name}: longer than ${parseLimits.fieldCharacters} bytes: cut`;
    faults.push({ code: 'header-field-too-long', message });
  }
  return faults;
}

/**
 * Reads the header block: at most 256 KB, 2,000 lines, 1,000 fields, 64 KB per field. Never throws.
 */
export function readHeaderBlock(raw: Buffer): HeaderBlock {
  const scan = scanFields(raw);
  const fields: HeaderField[] = [];
  const byName = new Map<string, string[]>();
  for (const span of scan.spans) {
    const value = readValue(raw, span);
    const key = span.name.toLowerCase();
    fields.push({ name: span.name, value });
    const values = byName.get(key);
    if (values) values.push(value);
    else byName.set(key, [value]);
  }
  return {
    fields,
    first: (name) => byName.get(name)?.[0] ?? null,
    all: (name) => byName.get(name) ?? [],
    bodyStart: scan.bodyStart,
    end: scan.end,
    faults: faultsOf(scan),
  };
}
