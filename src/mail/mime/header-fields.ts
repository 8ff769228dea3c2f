// Finds and unfolds the header fields of a raw mail (RFC 5322 2.2) within bounds, in one pass over the bytes;
// never throws. header-values.ts interprets the values.
import { isUtf8 } from 'node:buffer';
import { type HeaderField, type ParsingError, parseLimits } from './parsed-mail.ts';

export interface HeaderBlock {
  fields: HeaderField[];
  /** Returns the first value of a lower-case name; `all` returns every value. */
  first(name: string): string | null;
  all(name: string): string[];
  /** Offset of the body; null if the block was cut before its end. */
  bodyStart: number | null;
  /** Offset at which reading stopped. */
  end: number;
  faults: ParsingError[];
}

/** Position of one field in the raw bytes: its name ends at the colon, its value at `end`. */
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
const fieldName = /^[!-9;-~]{1,100}[ \t]*$/;
const windows1252 = new TextDecoder('windows-1252');

interface Scan {
  spans: FieldSpan[];
  bodyStart: number | null;
  end: number;
  malformedLines: number;
  cutBy: 'bytes' | 'lines' | 'fields' | null;
}

function isEmptyLine(raw: Buffer, start: number, lineEnd: number): boolean {
  return lineEnd === start || (lineEnd === start + 1 && raw[start] === carriageReturn);
}

function readName(raw: Buffer, start: number, lineEnd: number): string | null {
  const limit = Math.min(lineEnd, start + 110);
  const at = raw.subarray(start, limit).indexOf(colon);
  if (at < 1) return null;
  const name = raw.toString('latin1', start, start + at);
  return fieldName.test(name) ? name.trimEnd() : null;
}

/** Lists the fields of the header block within `parseLimits`. */
export function scanFields(raw: Buffer): Scan {
  const scan: Scan = { spans: [], bodyStart: null, end: 0, malformedLines: 0, cutBy: null };
  let current: FieldSpan | null = null;
  let start = 0;
  let lines = 0;
  while (start < raw.length) {
    const found = raw.indexOf(lineFeed, start);
    const lineEnd = found < 0 ? raw.length : found;
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
    const first = raw[start];
    if (first === space || first === tab) {
      if (current) current.end = lineEnd;
    } else {
      const name = readName(raw, start, lineEnd);
      if (name === null) {
        current = null;
        scan.malformedLines += 1;
      } else if (scan.spans.length === parseLimits.headerFields) {
        scan.cutBy = 'fields';
        break;
      } else {
        const valueStart = raw.indexOf(colon, start) + 1;
        current = { name, start, valueStart, end: lineEnd };
        scan.spans.push(current);
      }
    }
    start = next;
  }
  scan.end = scan.bodyStart ?? start;
  if (start >= raw.length && scan.cutBy === null) scan.bodyStart ??= raw.length;
  return scan;
}

/** Returns the offset after the first empty line at or after `from`, or the end. Linear in the mail. */
export function findBodyStart(raw: Buffer, from: number): number {
  let start = from;
  while (start < raw.length) {
    const lineEnd = raw.indexOf(lineFeed, start);
    if (lineEnd < 0) return raw.length;
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
 * Writes raw bytes within `Q` encoded words as `=XX`: they belong to the charset named by the word, not to
 * that of the field (RFC 2047 4.2). Returns the same bytes if nothing changes.
 */
export function escapeRawWords(bytes: Buffer): Buffer {
  if (!bytes.includes('=?')) return bytes;
  const text = bytes.toString('latin1');
  if (!rawByte.test(text)) return bytes;
  const escaped = text.replace(quotedWord, (word) =>
    word.replace(rawBytes, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  return Buffer.from(escaped, 'latin1');
}

/** Returns one trimmed line without control characters; white space from folding becomes one space. */
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
  for (const span of scan.spans) {
    if (span.end - span.valueStart <= parseLimits.fieldCharacters) continue;
    const message = `${span.name}: longer than ${parseLimits.fieldCharacters} bytes: cut`;
    faults.push({ code: 'header-field-too-long', message });
  }
  return faults;
}

/** Reads the header block: at most 256 KB, 2,000 lines, 1,000 fields, 64 KB per field. Never throws. */
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
