// The rules of RFC 5322 for a submitted mail: the lengths of lines, and the fields that may occur
// once. A fault names the field, so that the author can correct it.
import { longestLine } from './headers/encoded-words.ts';
import { type FieldSpan, type HeaderBlock, scanFields } from './headers/header-fields.ts';

/**
 * Fault of a mail. `field`: a field name, `header` or `body`. `problem`: the rest of the sentence
 * that begins with `field`.
 */
export interface MailFault {
  field: string;
  problem: string;
}

const lineFeed = 0x0a;

/** Fields that a mail may have at most once (RFC 5322 3.6, RFC 2045), in their usual spelling. */
const singletons = [
  ...['Date', 'From', 'Sender', 'Reply-To', 'To', 'Cc', 'Bcc', 'Message-ID', 'In-Reply-To'],
  ...['References', 'Subject', 'MIME-Version', 'Content-Type', 'Content-Transfer-Encoding'],
  ...['Content-Disposition', 'Content-ID', 'Content-Description'],
];

const date =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[ \t]*,[ \t]*)?(\d{1,2})[ \t]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[ \t]+(\d{2,4})[ \t]+(\d{2}):(\d{2})(?::(\d{2}))?[ \t]+(?:[+-]\d{2}[0-5]\d|[a-z]{1,5})$/i;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const comments = /\([^()]*\)/g;
const longestDate = 100;

/** Returns true for a date of RFC 5322 3.3 or 4.3 that exists in the calendar. */
function isDate(value: string): boolean {
  if (value.length > longestDate) return false;
  const parts = value.replace(comments, ' ').split(':');
  const match = date.exec(parts.map((part) => part.trim()).join(':'));
  if (!match) return false;
  const [, day, month = '', year, hour, minute, second = '0'] = match;
  const daysOfMonth = new Date(
    Date.UTC(Number(year), months.indexOf(month.toLowerCase()) + 1, 0),
  ).getUTCDate();
  return (
    Number(day) >= 1 &&
    Number(day) <= daysOfMonth &&
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 60
  );
}

/**
 * Returns true for a single identifier `<left@right>` in ASCII with at most 900 characters. A
 * comment is allowed.
 */
function isIdentifier(value: string): boolean {
  return /^<[!-;=?A-~]{1,600}@[!-;=?A-~]{1,299}>$/.test(value.replace(comments, ' ').trim());
}

/**
 * Returns the start and the length in octets of the first line that is too long. Steps over 998
 * octets at once.
 */
function longLineOf(raw: Buffer): { start: number; octets: number } | null {
  let start = 0;
  while (raw.length - start > longestLine) {
    const end = raw.lastIndexOf(lineFeed, start + longestLine + 1);
    if (end < start) {
      const next = raw.indexOf(lineFeed, start);
      const octets = next === -1 ? raw.length - start : next - 1 - start;
      return { start, octets };
    }
    start = end + 1;
  }
  return null;
}

type Scan = ReturnType<typeof scanFields>;

function findLongLine(raw: Buffer, { spans, bodyStart }: Scan): MailFault | null {
  const long = longLineOf(raw);
  if (!long) return null;
  const isBody = bodyStart !== null && long.start >= bodyStart;
  const span = spans.findLast(({ start }) => start <= long.start);
  const advice = isBody ? 'encode the part as quoted-printable or base64' : 'fold it';
  return {
    field: isBody ? 'body' : (span?.name ?? 'header'),
    problem: `has a line of ${long.octets} octets, more than ${longestLine} (RFC 5322 2.1.1): ${advice}`,
  };
}

/**
 * Finds a line of white space in a field: for many readers the header ends there (RFC 5322 3.2.2).
 */
function findBlankLine(raw: Buffer, spans: readonly FieldSpan[]): MailFault | null {
  const blank = spans.find(({ valueStart, end }) =>
    /\n[ \t]*\r?(?:\n|$)/.test(raw.toString('latin1', valueStart, end)),
  );
  return blank ? { field: blank.name, problem: 'has a line of white space alone' } : null;
}

/**
 * Returns the first violation of RFC 5322 in the header, or the first line that is too long; null
 * for a good mail.
 */
export function findMailFault(raw: Buffer, block: HeaderBlock): MailFault | null {
  const twice = singletons.find((name) => block.all(name.toLowerCase()).length > 1);
  if (twice !== undefined) return { field: twice, problem: 'is given twice' };
  const dateValue = block.first('date');
  if (dateValue !== null && !isDate(dateValue)) {
    return {
      field: 'Date',
      problem: 'is not a date such as "Mon, 05 Jan 2026 12:00:00 +0000" (RFC 5322 3.3)',
    };
  }
  const id = block.first('message-id');
  if (id !== null && !isIdentifier(id)) {
    return { field: 'Message-ID', problem: 'is not an identifier <left@right> (RFC 5322 3.6.4)' };
  }
  const scan = scanFields(raw);
  return findBlankLine(raw, scan.spans) ?? findLongLine(raw, scan);
}
