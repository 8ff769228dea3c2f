// Reads values of header fields of received mail: encoded words, message ids, dates, priority, and address
// lists (RFC 5322 3.4 with obsolete forms: groups, comments, quoted strings, routes). All readers are pure,
// linear and bounded, and return null or an empty result for unreadable values. src/platform/net/address.ts has the
// strict grammar of sent mail.
import libmime from 'libmime';
import { parseAddress } from '../../platform/net/address.ts';
import { cleanLine } from './header-fields.ts';
import { type HeaderAddress, type MailPriority, parseLimits } from './parsed-mail.ts';

const maxDateCharacters = 100;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Zones of RFC 5322 4.3; an unknown zone counts as UTC, as that section requires. */
const zoneHours: Partial<Record<string, number>> = {
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};
const dateTime =
  /^(?:[a-z]{3,9}\.?,?\s*)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{2,4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*([+-]\d{4}|[a-z]{1,5})?/i;
const isoDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/;

/**
 * Decodes RFC 2047 encoded words into one clean line, without an encoded CR, LF or NUL. Reads a word in an
 * unknown charset as UTF-8.
 */
export function decodeWords(value: string): string {
  return value.includes('=?') ? cleanLine(libmime.decodeWords(value)) : value;
}

/** Returns all `<id>` of a Message-ID, In-Reply-To or References value; adds brackets to a bare token. */
export function readMessageIds(value: string | null): string[] {
  if (value === null) return [];
  const ids = value.match(/<[^<>\s]{1,996}>/g);
  if (ids) return ids;
  return /^[^\s<>]{1,996}$/.test(value) ? [`<${value}>`] : [];
}

/** Returns the references within the bound: the root of the thread and the newest ids. */
export function readReferences(value: string | null): string[] {
  const ids = [...new Set(readMessageIds(value))];
  const excess = ids.length - parseLimits.references;
  return excess > 0 ? [...ids.slice(0, 1), ...ids.slice(excess + 1)] : ids;
}

function zoneOffsetMinutes(zone: string | undefined): number {
  if (zone === undefined) return 0;
  if (!/^[+-]/.test(zone)) return (zoneHours[zone.toLowerCase()] ?? 0) * 60;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
}

function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return digits.length === 3 ? 1900 + year : year;
}

/**
 * Reads a Date value (RFC 5322 3.3 and 4.3, or ISO 8601) as ms since 1970, or returns null. Avoids
 * `Date.parse`, which reads `foo 1` as a date in 2001.
 */
export function readDate(value: string | null): number | null {
  if (value === null || value.length > maxDateCharacters) return null;
  const iso = isoDateTime.exec(value);
  if (iso) return asDate(Date.parse(iso[0]));
  const match = dateTime.exec(value);
  if (!match) return null;
  const [, day = '', monthName = '', year = '', hour, minute, second = '0', zone] = match;
  const month = months.indexOf(monthName.toLowerCase());
  if (month < 0 || Number(day) > 31 || Number(hour) > 23 || Number(minute) > 59) return null;
  const seconds = Math.min(Number(second), 59);
  const local = Date.UTC(fullYear(year), month, Number(day), Number(hour), Number(minute), seconds);
  return asDate(local - zoneOffsetMinutes(zone) * 60_000);
}

/** Limits times to the range that the API can print: 1970 to 9999. */
function asDate(ms: number): number | null {
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? ms : null;
}

const priorityWords: Partial<Record<string, MailPriority>> = {
  high: 'high',
  urgent: 'high',
  highest: 'high',
  normal: 'normal',
  medium: 'normal',
  low: 'low',
  lowest: 'low',
  'non-urgent': 'low',
};

/**
 * Reads one Importance (RFC 4021 2.1.54), Priority, X-Priority (`1 (Highest)` to `5`) or X-MSMail-Priority
 * value.
 */
export function readPriority(value: string): MailPriority | null {
  const digit = /^[1-5](?!\d)/.exec(value)?.[0];
  if (digit !== undefined) return digit < '3' ? 'high' : digit === '3' ? 'normal' : 'low';
  const word = /^[a-z-]+/.exec(value.toLowerCase())?.[0] ?? '';
  return Object.hasOwn(priorityWords, word) ? (priorityWords[word] ?? null) : null;
}

/** Reads a structured value such as Content-Type: the lower-case value and its parameters (RFC 2231). */
export function readParameters(value: string | null): {
  value: string;
  parameters: Partial<Record<string, string>>;
} {
  if (value === null) return { value: '', parameters: {} };
  const parsed = libmime.parseHeaderValue(value);
  return { value: (parsed.value || '').toLowerCase().trim(), parameters: parsed.params };
}

export interface AddressList {
  addresses: HeaderAddress[];
  /** Number of entries without a usable address. */
  invalid: number;
  /** True if the list has more than 500 addresses. */
  truncated: boolean;
}

const maxNameCharacters = 320;
/** Wider than the grammar of sent mail: received mail contains one-label domains and address literals. */
const looseAddress = /^(?:[^\s@<>()",;:\\]{1,64}|"[^"\r\n]{1,62}")@[^\s@<>()",;\\]{1,255}$/;

/** A local part alone, with which programs name a user of their machine. */
const localPartAlone = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}$/;

function readEmail(text: string, bareDomain: string | null): string | null {
  const word = text.trim().replace(/^mailto:/i, '');
  const bare = bareDomain !== null && localPartAlone.test(word) ? `${word}@${bareDomain}` : word;
  if (bare.length > 320 || bare.includes('=?')) return null;
  const strict = parseAddress(bare);
  if (strict) return strict.email;
  if (!looseAddress.test(bare)) return null;
  const at = bare.lastIndexOf('@');
  return bare.slice(0, at + 1) + bare.slice(at + 1).toLowerCase();
}

function readName(text: string): string | null {
  const name = decodeWords(text.replace(/ {2,}/g, ' ')).trim();
  return name === '' ? null : name.slice(0, maxNameCharacters).toWellFormed();
}

/**
 * Returns the end of the quoted string, comment or angle address that opens at `start`, else the end of the
 * value.
 */
function findClose(value: string, start: number): number {
  const open = value[start];
  const close = open === '(' ? ')' : open === '<' ? '>' : '"';
  let depth = 0;
  for (let at = start + 1; at < value.length; at += 1) {
    const character = value[at];
    if (character === '\\') at += 1;
    else if (character === close && depth === 0) return at;
    else if (open === '(' && character === '(') depth += 1;
    else if (open === '(' && character === ')') depth -= 1;
    else if (open === '<' && character === '<') return at - 1;
  }
  return value.length;
}

const unquote = (text: string) => text.replace(/\\(.)/gs, '$1');

/** One entry during reading: the words before the angle address, the address and the comment. */
class Entry {
  phrase: string = '';
  /** Text of the entry with its quotes, for an address without angle brackets. */
  source = '';
  angle: string | null = null;
  comment: string = '';

  get isBlank(): boolean {
    return this.source.trim() === '' && this.angle === null && this.comment === '';
  }

  /** Drops the text before a colon: the name of a group, or the start of an obsolete form. */
  startGroup(): void {
    this.phrase = '';
    this.source = '';
    this.comment = '';
  }

  finish(bareDomain: string | null): HeaderAddress | null {
    if (this.angle !== null) {
      const route = this.angle.startsWith('@') ? this.angle.indexOf(':') + 1 : 0;
      const email = readEmail(this.angle.slice(route), bareDomain);
      return email === null ? null : { email, name: readName(this.phrase || this.comment) };
    }
    const email = readEmail(this.source, bareDomain);
    return email === null ? null : { email, name: readName(this.comment) };
  }
}

/**
 * Reads an unfolded address-list value; never throws. Accepts `Name <a@b>`, `a@b (Name)`, `Group: a@b, c@d;`
 * and `undisclosed-recipients:;`; an unclosed quote or bracket extends to the end. An encoded word
 * (RFC 2047 5) can become a name, never an address. `bareDomain` completes an address without a domain, which
 * is otherwise invalid.
 */
export function parseAddressList(value: string, bareDomain: string | null = null): AddressList {
  const list: AddressList = { addresses: [], invalid: 0, truncated: false };
  let entry = new Entry();
  const flush = () => {
    if (!entry.isBlank) {
      const address = entry.finish(bareDomain);
      if (address) list.addresses.push(address);
      else list.invalid += 1;
    }
    entry = new Entry();
  };
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (list.addresses.length + list.invalid >= parseLimits.addressesPerField) {
      list.truncated = true;
      return list;
    }
    if (character === ',' || character === ';') flush();
    else if (character === ':' && entry.angle === null && !/^\s*mailto$/i.test(entry.source)) {
      entry.startGroup();
    } else if (character === '"' || character === '(' || character === '<') {
      const end = findClose(value, at);
      const inner = value.slice(at + 1, end);
      if (character === '<') entry.angle ||= inner;
      else if (character === '(') entry.comment = unquote(inner);
      else {
        entry.phrase += unquote(inner);
        entry.source += `"${inner}"`;
      }
      at = end;
    } else if (character !== '>') {
      entry.phrase += character;
      entry.source += character;
    }
  }
  flush();
  return list;
}
