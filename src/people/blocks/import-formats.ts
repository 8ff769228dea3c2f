// The exports of other services as data: the columns that identify each, and the meaning of a row.
// One rule guides the mapping: a fault of an address blocks it, a fault of a message does not.

import { columnKey, columnsInWords, refuseDuplicates } from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import { reasonWords } from './reason-words.ts';
import type { BlockReason } from './schema.ts';

/**
 * Meaning of a row: a block, of all mail unless it names a group; no block (`skip`); or unreadable
 * (`reject`).
 */
export type Verdict =
  | { reason: BlockReason; unsubscribeGroupId?: string }
  | { skip: string }
  | { reject: string };

/** Returns the trimmed text under a column of a row, or '' if the column is missing. */
export type Field = (column: string) => string;

export interface ImportFormat {
  /** The value of `--format`. */
  name: string;
  title: string;
  /** The columns that identify the format; all must be present. */
  columns: readonly string[];
  /** Whether a file may lack a header: the columns are then address and reason. */
  mayBeBare?: true;
  judge(field: Field, fallback: BlockReason): Verdict;
}

const addressColumns = ['email', 'address', 'emailaddress'];
const madeAtColumns = ['createdat', 'created', 'bouncedat', 'lastupdatetime'];

function byReason(word: string, fallback?: BlockReason): Verdict {
  const reason = word === '' ? fallback : reasonWords.get(columnKey(word));
  if (reason) return { reason };
  return { reject: word === '' ? 'has no reason' : `has an unknown reason: ${word.slice(0, 60)}` };
}

/** Returns the word of a reason for a type of listmonk's bounces. */
function typeOfBounce(type: string): string {
  return type === 'hard' ? 'bounce' : type;
}

const always =
  (reason: BlockReason): ImportFormat['judge'] =>
  () => ({ reason });

/**
 * Types of bounces that concern the address. Postmark also counts many other events as bounces.
 */
const postmarkBounceTypes = new Map<string, BlockReason>([
  ['hardbounce', 'bounce'],
  ['bademailaddress', 'bounce'],
  ['spamcomplaint', 'complaint'],
  ['unsubscribe', 'unsubscribe'],
  ['manuallydeactivated', 'manual'],
]);

function judgePostmarkBounce(field: Field): Verdict {
  const type = field('Type');
  const reason = postmarkBounceTypes.get(columnKey(type));
  if (field('Inactive').toLowerCase() === 'false') return { skip: 'is active again at Postmark' };
  return reason ? { reason } : { skip: `${type.slice(0, 60)} does not justify a block` };
}

/**
 * Translates a suppression. A "manual" suppression by the recipient is a click on Postmark's
 * unsubscribe link.
 */
function judgePostmarkSuppression(field: Field): Verdict {
  const word = field('SuppressionReason');
  if (columnKey(word) !== 'manualsuppression') return byReason(word);
  return { reason: columnKey(field('Origin')) === 'recipient' ? 'unsubscribe' : 'manual' };
}

/**
 * Translates a bounce. SendGrid exports bounces and blocks with the same columns. A block there was
 * temporary (4.x.x) or about policy (5.7.x): SendGrid keeps sending to that address, and so does
 * this service.
 */
function judgeSendgridBounce(field: Field): Verdict {
  const status = field('status');
  return /^(?:4\.|5\.7\.)/.test(status)
    ? { skip: `${status.slice(0, 20)} is not caused by the address` }
    : { reason: 'bounce' };
}

function judgeMailgunUnsubscribe(field: Field): Verdict {
  const tags = field('tags').replace(/^\[|\]$|["']/g, '');
  return tags === '' || tags === '*'
    ? { reason: 'unsubscribe' }
    : { skip: `gets all mail except mail with the tag ${tags.slice(0, 60)}` };
}

const groupIds = idPattern('unsubscribeGroup');

/** Translates a row of our own export. Accepts deleted groups too: their blocks stay in force. */
function judgeOwn(field: Field): Verdict {
  const verdict = byReason(field('reason'));
  const unsubscribeGroupId = field('unsubscribeGroupId');
  if (unsubscribeGroupId === '' || !('reason' in verdict)) return verdict;
  return groupIds.test(unsubscribeGroupId)
    ? { ...verdict, unsubscribeGroupId }
    : { reject: `names an unknown unsubscribe group: ${unsubscribeGroupId.slice(0, 60)}` };
}

const plain: ImportFormat = {
  name: 'plain',
  title: 'List of addresses',
  columns: [],
  mayBeBare: true,
  judge: (field, fallback) => byReason(field('reason'), fallback),
};

/**
 * The known formats; the first match wins, so formats with more columns stand before formats with
 * fewer.
 */
export const importFormats: readonly ImportFormat[] = [
  {
    name: 'svc',
    title: 'Export of svc',
    columns: ['address', 'reason', 'unsubscribeGroupId'],
    judge: judgeOwn,
  },
  {
    name: 'sendgrid-bounces',
    title: 'SendGrid bounces or blocks',
    columns: ['email', 'status', 'reason', 'created'],
    judge: judgeSendgridBounce,
  },
  {
    name: 'sendgrid-invalid-emails',
    title: 'SendGrid invalid emails',
    columns: ['email', 'reason', 'created'],
    judge: (field) => ({ reason: reasonWords.get(columnKey(field('reason'))) ?? 'bounce' }),
  },
  {
    name: 'sendgrid-spam-reports',
    title: 'SendGrid spam reports',
    columns: ['email', 'ip', 'created'],
    judge: always('complaint'),
  },
  {
    name: 'sendgrid-unsubscribes',
    title: 'SendGrid unsubscribes',
    columns: ['email', 'created'],
    judge: always('unsubscribe'),
  },
  {
    name: 'postmark-suppressions',
    title: 'Postmark suppressions',
    columns: ['EmailAddress', 'SuppressionReason'],
    judge: judgePostmarkSuppression,
  },
  {
    name: 'postmark-bounces',
    title: 'Postmark bounces',
    columns: ['Email', 'Type', 'BouncedAt'],
    judge: judgePostmarkBounce,
  },
  {
    name: 'mailgun-bounces',
    title: 'Mailgun bounces',
    columns: ['address', 'code', 'error'],
    judge: always('bounce'),
  },
  {
    name: 'mailgun-unsubscribes',
    title: 'Mailgun unsubscribes',
    columns: ['address', 'tags'],
    judge: judgeMailgunUnsubscribe,
  },
  {
    name: 'ses',
    title: 'Amazon SES suppression list',
    columns: ['EmailAddress', 'Reason'],
    mayBeBare: true,
    judge: (field) => byReason(field('Reason')),
  },
  {
    name: 'resend-suppressions',
    title: 'Resend suppressions',
    columns: ['email', 'origin'],
    judge: (field) => byReason(field('origin')),
  },
  {
    name: 'resend-contacts',
    title: 'Resend contacts',
    columns: ['email', 'unsubscribed'],
    judge: (field) =>
      field('unsubscribed').toLowerCase() === 'true'
        ? { reason: 'unsubscribe' }
        : { skip: 'has not unsubscribed' },
  },
  {
    name: 'postal-suppressions',
    title: 'Postal suppressions',
    columns: ['type', 'address', 'keep_until'],
    // Postal suppresses a recipient after hard or repeated failures.
    judge: (field) =>
      field('type') === 'recipient' ? { reason: 'bounce' } : { skip: 'is no recipient' },
  },
  {
    name: 'listmonk-bounces',
    title: 'listmonk bounces',
    columns: ['email', 'type', 'source', 'subscriber_uuid'],
    judge: (field) => {
      const type = field('type');
      return type === 'soft'
        ? { skip: 'is not caused by the address' }
        : byReason(typeOfBounce(type));
    },
  },
  {
    name: 'mailgun-complaints',
    title: 'Mailgun complaints',
    columns: ['address', 'created_at'],
    // A user's own list may have the same columns; then its reason counts.
    judge: (field) => byReason(field('reason'), 'complaint'),
  },
  plain,
];

/**
 * Returns the format of a file by the header (null for a file without a header), or the named
 * format if the file fits it.
 * @throws ValidationError that names the columns of the file and the missing ones, or a column
 * given twice.
 */
export function formatOf(header: readonly string[] | null, name: string | undefined): ImportFormat {
  const named = importFormats.find((format) => format.name === name);
  if (name !== undefined && !named) throw ValidationError.of('format', `there is no ${name}`);
  if (header === null) {
    if (!named || named.mayBeBare) return named ?? plain;
    throw new ValidationError(`The file has no header: a header of ${named.title} was expected`);
  }
  const keys = new Set(header.map(columnKey));
  const expected = named?.columns ?? [];
  const missing = expected.filter((column) => !keys.has(columnKey(column)));
  if (!addressColumns.some((column) => keys.has(column))) missing.unshift('email');
  if (missing.length > 0) {
    throw new ValidationError(
      `The file lacks the column ${missing.join(', ')}. Its columns: ` +
        `${columnsInWords(header)}`,
    );
  }
  refuseDuplicates(header);
  const fits = ({ columns }: ImportFormat) => columns.every((name) => keys.has(columnKey(name)));
  return named ?? importFormats.find(fits) ?? plain;
}

/** Returns the text in the row's column of addresses. */
export function addressIn(field: Field): string {
  for (const column of addressColumns) {
    const text = field(column);
    if (text !== '') return text;
  }
  return '';
}

/**
 * Returns the time from which the exporting service has had the entry (ms since 1970), or `now` if
 * it is unknown.
 */
export function madeAtIn(field: Field, now: number): number {
  for (const column of madeAtColumns) {
    const at = readTime(field(column));
    if (at > 0 && at <= now) return at;
  }
  return now;
}

/**
 * Reads seconds or milliseconds since 1970, or a date; a date without a zone is UTC. Returns NaN
 * for anything else.
 */
function readTime(text: string): number {
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1_000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  // V8 reads a year into nearly anything: "1" is 2001.
  if (!/\d{4}/.test(text)) return Number.NaN;
  const isLocal = /^\d{4}-\d\d-\d\d[ T][\d:.]+$/.test(text);
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text.slice(0, 60));
}
