// Decodes the bytes of texts and encoded words of received mail by the label of their charset.
// Bytes without a usable label are read like a header: UTF-8 if valid, else
// Windows-1252; HTML by the sniffing of the HTML standard. Pure and linear; never fails.

import { isUtf8 } from 'node:buffer';
import libmime from 'libmime';
import { decode as decodeKnown } from 'libmime/lib/charset.js';
import { readTokens } from '../html/tokens.ts';
import { decodeJohab } from './johab.ts';
import { eucOfIso2022Kr, gbkOfHz } from './shifted.ts';

export interface DecodedText {
  text: string;
  /** False if the label names no known charset. */
  isKnown: boolean;
}

type Decoder = (bytes: Buffer) => string;

const iso2022Jp: Decoder = (bytes) => decodeKnown(bytes, 'iso-2022-jp');
const korean: Decoder = (bytes) => decodeKnown(bytes, 'euc-kr');

/** Charsets and labels that libmime lacks or reads as UTF-8. */
const ownDecoders = new Map<string, Decoder>(
  (
    [
      [
        'csiso2022jp csiso2022jp2 cp50220 cp50221 cp50222 windows-50220 windows-50221 x-windows-50221 x-windows-iso2022jp',
        iso2022Jp,
      ],
      ['uhc ms949 cp949 x-windows-949 ks_c_5601 ksc_5601-1987 cseuckr-1987', korean],
      ['iso-2022-kr csiso2022kr', (bytes) => korean(eucOfIso2022Kr(bytes))],
      ['hz hz-gb-2312 hz-gb2312', (bytes) => decodeKnown(gbkOfHz(bytes), 'gbk')],
      ['johab x-johab cp1361 ms1361 ks_c_5601-1992', (bytes) => decodeJohab(bytes, korean)],
    ] satisfies [labels: string, decoder: Decoder][]
  ).flatMap(([labels, decoder]) => labels.split(' ').map((label) => [label, decoder] as const)),
);

/** Labels that name no usable charset, such as ASCII, which has no bytes above 127. */
const empties = new Set(
  (
    'us-ascii ascii us ansi_x3.4-1968 iso646-us 7bit 8bit binary unknown unknown-8bit x-unknown unspecified none ' +
    'default default_charset _autodetect _autodetect_all'
  ).split(' '),
);

const windows1252 = new TextDecoder('windows-1252');
const byteOrderMarks: readonly (readonly [Buffer, string])[] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
];

const keyOf = (label: string) =>
  label
    .trim()
    .replace(/^["']|["']$/g, '')
    .toLowerCase();

function findDecoder(key: string): Decoder | null {
  const own = ownDecoders.get(key);
  if (own) return own;
  const { supported, charset } = libmime.createDecodeStream(key);
  return supported ? (bytes) => decodeKnown(bytes, charset) : null;
}

/** Returns the charset of a byte order mark or, in HTML, of a `<meta>`; empty without either. */
function sniffed(bytes: Buffer, isHtml: boolean): string {
  const mark = byteOrderMarks.find(([start]) => bytes.subarray(0, start.length).equals(start));
  if (mark) return mark[1];
  return isHtml ? keyOf(sniffHtmlCharset(bytes) ?? '') : '';
}

/** Drops a last character that a cut left unfinished. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < length ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function decodeUnlabelled(bytes: Buffer, isCut: boolean): string {
  return isUtf8(isCut ? withoutCutCharacter(bytes) : bytes)
    ? bytes.toString()
    : windows1252.decode(bytes);
}

const withoutMark = (text: string) => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

/**
 * Decodes a text in the charset named by `label`, which may be absent. `isCut`: the bytes may end
 * within a character.
 */
export function decodeText(
  bytes: Buffer,
  label: string | undefined,
  { isHtml = false, isCut = false } = {},
): DecodedText {
  const given = keyOf(label ?? '');
  const isEmpty = given === '' || empties.has(given);
  const declared = isEmpty ? null : findDecoder(given);
  if (declared) return { text: withoutMark(declared(bytes)), isKnown: true };
  const found = sniffed(bytes, isHtml);
  const decoder = found === '' || empties.has(found) ? null : findDecoder(found);
  const text = decoder ? decoder(bytes) : decodeUnlabelled(bytes, isCut);
  return { text: withoutMark(text), isKnown: isEmpty };
}

const encodedWord = /=\?([\w.:+-]{1,60})(\*[\w-]{0,60})?\?([bq])\?([^?\r\n]{0,2000})\?=/gi;

function bytesOfWord(encoding: string, text: string): Buffer {
  if (encoding.toLowerCase() === 'b') return Buffer.from(text, 'base64');
  const latin1 = text
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(latin1, 'latin1');
}

/**
 * Rewrites encoded words (RFC 2047) as UTF-8 if libmime does not know their charset. Leaves all
 * further words unchanged.
 */
export function withKnownCharsets(value: string): string {
  if (!value.includes('=?')) return value;
  return value.replace(encodedWord, (word, label: string, _language, encoding: string, text) => {
    const decoder = ownDecoders.get(label.toLowerCase());
    if (!decoder) return word;
    const utf8 = Buffer.from(decoder(bytesOfWord(encoding, text)));
    return `=?utf-8?B?${utf8.toString('base64')}?=`;
  });
}

// Finds the charset that an HTML document declares in a `<meta>`: the prescan of the HTML standard
// (13.2.3.2).

/**
 * Bytes that the prescan reads. Some programs write a long comment first, so the limit is higher
 * than the standard's 1,024.
 */
const prescanBytes = 4096;
const inContent = /charset[\s]{0,20}=[\s]{0,20}["']?([^\s"';]{1,60})/i;

/**
 * Returns the label of the first `<meta>` with a charset, or null. The `<meta>` was readable as
 * ASCII, so a label of UTF-16 must mean UTF-8.
 */
function sniffHtmlCharset(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, prescanBytes);
  if (!/charset/i.test(start)) return null;
  let found: string | null = null;
  readTokens(start, {
    open(name, attributes) {
      if (name !== 'meta' || found !== null) return;
      const isPragma = attributes.get('http-equiv')?.trim().toLowerCase() === 'content-type';
      const content = isPragma ? inContent.exec(attributes.get('content') ?? '')?.[1] : undefined;
      const label = attributes.get('charset') ?? content;
      if (label) found = label;
    },
    close() {},
    text() {},
  });
  return found !== null && /^utf-?16/i.test(found) ? 'utf-8' : found;
}
