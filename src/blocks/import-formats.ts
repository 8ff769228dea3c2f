// The exports of other services as data: the columns that tell them apart, and what a row says. The
// mapping follows one rule: an address is blocked for what it did, not for what a message did.
import { ValidationError } from '../errors.ts';
import { columnKey, columnsInWords } from '../files/read-table.ts';
import { idPattern } from '../runtime/ids.ts';
import type { BlockReason } from './schema.ts';

/**
 * What a row says: a block, of all mail unless it names a group, no block (`skip`), or nothing that could be
 * understood (`reject`).
 */
export type Verdict =
  | { reason: BlockReason; unsubscribeGroupId?: string }
  | { skip: string }
  | { reject: string };

/** Gives the trimmed text under a column of one row, or '' where there is none. */
export type Field = (column: string) => string;

export interface ImportFormat {
  /** As `--format` takes it. */
  name: string;
  title: string;
  /** The columns that it is recognized by, all of them. */
  columns: readonly string[];
  /** May come without a header: address, reason. */
  mayBeBare?: true;
  judge(field: Field, fallback: BlockReason): Verdict;
}

const addressColumns = ['email', 'address', 'emailaddress'];
const madeAtColumns = ['createdat', 'created', 'bouncedat', 'lastupdatetime'];

const reasonWords = new Map<string, BlockReason>([
  ['bounce', 'bounce'],
  ['bounced', 'bounce'],
  ['hardbounce', 'bounce'],
  ['invalid', 'bounce'],
  ['complaint', 'complaint'],
  ['complained', 'complaint'],
  ['spam', 'complaint'],
  ['spamcomplaint', 'complaint'],
  ['spamreport', 'complaint'],
  ['abuse', 'complaint'],
  ['unsubscribe', 'unsubscribe'],
  ['unsubscribed', 'unsubscribe'],
  ['optout', 'unsubscribe'],
  ['manual', 'manual'],
]);

function byReason(word: string, fallback?: BlockReason): Verdict {
  const reason = word === '' ? fallback : reasonWords.get(columnKey(word));
  if (reason) return { reason };
  return { reject: word === '' ? 'has no reason' : `has an unknown reason: ${word.slice(0, 60)}` };
}

const always =
  (reason: BlockReason): ImportFormat['judge'] =>
  () => ({ reason });

/** Postmark counts much as a bounce that says nothing of the address. */
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
  return reason ? { reason } : { skip: `${type.slice(0, 60)} is no reason to block an address` };
}

/** A recipient's "manual" suppression is a click on Postmark's unsubscribe link. */
function judgePostmarkSuppression(field: Field): Verdict {
  const word = field('SuppressionReason');
  if (columnKey(word) !== 'manualsuppression') return byReason(word);
  return { reason: columnKey(field('Origin')) === 'recipient' ? 'unsubscribe' : 'manual' };
}

/**
 * SendGrid exports its bounces and its blocks with the same columns. It goes on sending to the
 * latter, which were temporary (4.x.x) or about policy (5.7.x), and so does this service.
 */
function judgeSendgridBounce(field: Field): Verdict {
  const status = field('status');
  return /^(?:4\.|5\.7\.)/.test(status)
    ? { skip: `${status.slice(0, 20)} is not the address's fault` }
    : { reason: 'bounce' };
}

function judgeMailgunUnsubscribe(field: Field): Verdict {
  const tags = field('tags').replace(/^\[|\]$|["']/g, '');
  return tags === '' || tags === '*'
    ? { reason: 'unsubscribe' }
    : { skip: `gets all mail but that with the tag ${tags.slice(0, 60)}` };
}

const groupIds = idPattern('unsubscribeGroup');

/** A group that was deleted is as good: its blocks outlive it. */
function judgeOwn(field: Field): Verdict {
  const verdict = byReason(field('reason'));
  const unsubscribeGroupId = field('unsubscribeGroupId');
  if (unsubscribeGroupId === '' || !('reason' in verdict)) return verdict;
  return groupIds.test(unsubscribeGroupId)
    ? { ...verdict, unsubscribeGroupId }
    : { reject: `names no unsubscribe group: ${unsubscribeGroupId.slice(0, 60)}` };
}

const plain: ImportFormat = {
  name: 'plain',
  title: 'List of addresses',
  columns: [],
  mayBeBare: true,
  judge: (field, fallback) => byReason(field('reason'), fallback),
};

/** The first that fits is taken: those with more columns stand before those with fewer. */
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
    name: 'mailgun-complaints',
    title: 'Mailgun complaints',
    columns: ['address', 'created_at'],
    // A list of somebody's own looks the same; its reason counts.
    judge: (field) => byReason(field('reason'), 'complaint'),
  },
  plain,
];

/**
 * The format of a file by its header (null where it has none), or the one named, if the file fits it.
 * @throws ValidationError saying what the file has and what is missing.
 */
export function formatOf(header: readonly string[] | null, name: string | undefined): ImportFormat {
  const named = importFormats.find((format) => format.name === name);
  if (name !== undefined && !named) throw ValidationError.of('format', `there is no ${name}`);
  if (header === null) {
    if (!named || named.mayBeBare) return named ?? plain;
    throw new ValidationError(`The file has no header; that of ${named.title} was expected`);
  }
  const keys = new Set(header.map(columnKey));
  const expected = named?.columns ?? [];
  const missing = expected.filter((column) => !keys.has(columnKey(column)));
  if (!addressColumns.some((column) => keys.has(column))) missing.unshift('email');
  if (missing.length > 0) {
    throw new ValidationError(
      `The file has no column ${missing.join(', ')}. It has: ${columnsInWords(header)}`,
    );
  }
  const fits = ({ columns }: ImportFormat) => columns.every((name) => keys.has(columnKey(name)));
  return named ?? importFormats.find(fits) ?? plain;
}

/** What stands in the row's column of addresses. */
export function addressIn(field: Field): string {
  for (const column of addressColumns) {
    const text = field(column);
    if (text !== '') return text;
  }
  return '';
}

/** Since when the other service has it (ms since 1970), or `now` where that cannot be told. */
export function madeAtIn(field: Field, now: number): number {
  for (const column of madeAtColumns) {
    const at = readTime(field(column));
    if (at > 0 && at <= now) return at;
  }
  return now;
}

/** Seconds or milliseconds since 1970, or a date; one without a zone is UTC. NaN for anything else. */
function readTime(text: string): number {
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1_000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  // V8 reads a year into nearly anything: "1" is 2001.
  if (!/\d{4}/.test(text)) return Number.NaN;
  const isLocal = /^\d{4}-\d\d-\d\d[ T][\d:.]+$/.test(text);
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text.slice(0, 60));
}
