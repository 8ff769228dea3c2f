// Turns a row of an import into the fields of a contact. Exports of other services are recognized by their
// header and differ in the columns to ignore. An opt-out in any known form becomes a block. An unknown status
// refuses its row, so that no opt-out is lost.

import {
  cellText,
  columnKey,
  columnsInWords,
  type ImportRow,
} from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import type { BlockReason } from '../blocks/schema.ts';

interface ImportFormat {
  name: string;
  /** Columns that identify the format. All must be present. */
  columns: readonly string[];
  /** Columns without data about the person. */
  ignored?: RegExp;
}

/** Known formats. The first match wins. */
const importFormats: readonly ImportFormat[] = [
  {
    name: 'svc',
    columns: ['id', 'email', 'externalId', 'statusReason'],
    ignored: /^(id|createdat|updatedat)$/,
  },
  { name: 'svc', columns: ['id', 'identities'] },
  {
    name: 'mailchimp',
    columns: ['Email Address', 'LEID', 'EUID'],
    ignored:
      /^(memberrating|(optin|confirm)(time|ip)|latitude|longitude|gmtoff|dstoff|lastchanged|leid|euid|(unsub|clean)campaign.*)$/,
  },
  {
    name: 'sendgrid',
    columns: ['EMAIL', 'ALTERNATE_EMAILS', 'CONTACT_ID'],
    ignored: /^(contactid|createdat|updatedat)$/,
  },
  {
    name: 'listmonk',
    columns: ['uuid', 'email', 'attributes', 'status'],
    ignored: /^(uuid|createdat|updatedat)$/,
  },
  { name: 'resend', columns: ['email', 'unsubscribed'], ignored: /^(id|createdat)$/ },
  { name: 'plain', columns: [] },
];

/** Meaning of a column, by its key. */
const meanings: Readonly<Record<string, string>> = {
  email: 'email',
  emailaddress: 'email',
  otheremails: 'others',
  alternateemails: 'others',
  externalid: 'externalId',
  name: 'name',
  fullname: 'name',
  displayname: 'displayName',
  avatar: 'avatar',
  firstname: 'firstName',
  lastname: 'lastName',
  company: 'company',
  jobtitle: 'jobTitle',
  country: 'country',
  cc: 'country',
  state: 'state',
  region: 'state',
  stateprovinceregion: 'state',
  city: 'city',
  timezone: 'timezone',
  source: 'source',
  language: 'language',
  tags: 'tags',
  customfields: 'customFields',
  metadata: 'metadata',
  attributes: 'metadata',
  status: 'status',
  statusreason: 'statusReason',
  unsubscribed: 'unsubscribed',
  unsubtime: 'unsubscribedAt',
  cleantime: 'cleanedAt',
};

/** Fields of a row before validation: `contact` may still violate the schema. */
export interface ImportedRow {
  contact: Record<string, unknown>;
  /** Reason to block the address, or null. */
  reason: BlockReason | null;
  isArchived: true | undefined;
}

/** Reads a row. @throws ValidationError naming the field with an unknown value */
export type ReadRow = (row: ImportRow) => ImportedRow;

const statuses = new Map<string, BlockReason | 'archived' | 'active'>([
  ...['active', 'enabled', 'subscribed', 'confirmed'].map((word) => [word, 'active'] as const),
  ['archived', 'archived'],
  ...['unsubscribed', 'blocklisted', 'blacklisted', 'optout', 'optedout'].map(
    (word) => [word, 'unsubscribe'] as const,
  ),
  ...['bounced', 'cleaned', 'invalid'].map((word) => [word, 'bounce'] as const),
  ...['complained', 'spam', 'abuse'].map((word) => [word, 'complaint'] as const),
  // The contact exists but gets no mail.
  ...['disabled', 'blocked'].map((word) => [word, 'manual'] as const),
]);

const yes = /^(true|yes|y|1|t)$/i;
const no = /^(false|no|n|0|f|)$/i;

const notBlocked = { reason: null, isArchived: undefined };
const ownReason = /^The first email is blocked \((bounce|complaint|unsubscribe|manual)\)/;

function standingOf(said: Said): Pick<ImportedRow, 'reason' | 'isArchived'> {
  // Only this text of our own export shows that a contact was blocked by hand, or archived and
  // blocked.
  const [, blocked] = ownReason.exec(said.statusReason ?? '') ?? [];
  const { status = '', unsubscribed = '', unsubscribedAt = '', cleanedAt = '' } = said;
  const isPlain = status === '' && unsubscribed === '' && said.statusReason === undefined;
  if (isPlain && unsubscribedAt === '' && cleanedAt === '') return notBlocked;
  const found = status === '' ? undefined : statuses.get(columnKey(status));
  if (status !== '' && !found) {
    throw ValidationError.of('status', `is not a known status: ${status.slice(0, 60)}`);
  }
  const isYes = yes.test(unsubscribed);
  if (!isYes && !no.test(unsubscribed)) {
    throw ValidationError.of('unsubscribed', 'is neither true nor false');
  }
  // A file never reactivates an archived contact.
  const isArchived = found === 'archived' ? true : undefined;
  if (found !== undefined && found !== 'archived' && found !== 'active') {
    return { reason: found, isArchived };
  }
  if (blocked !== undefined) return { reason: blocked as BlockReason, isArchived };
  if (cleanedAt !== '') return { reason: 'bounce', isArchived };
  return { reason: isYes || unsubscribedAt !== '' ? 'unsubscribe' : null, isArchived };
}

type Said = Partial<Record<string, string>>;

/** Splits a list. Removes quotation marks around each entry: `"a","b"`. */
function listIn(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  return text
    .split(',')
    .map((one) => one.trim().replace(/^"(.*)"$/, '$1'))
    .filter((one) => one !== '');
}

/** Parses a JSON object in a cell. Nested objects stay text. */
function objectIn(field: string, text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw ValidationError.of(field, 'is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw ValidationError.of(field, 'is not a JSON object');
  }
  const flat = (one: unknown) =>
    typeof one === 'object' && one !== null ? JSON.stringify(one) : one;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, flat(one)]));
}

/** Drops values without content: null, empty texts, and objects that are empty after that. */
function said(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (typeof value !== 'object' || value === undefined || Array.isArray(value)) return value;
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const inner = said(one);
    return inner === undefined ? [] : [[name, inner] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Builds a contact from columns of any format. `others`: columns without a known meaning. */
function flatContact(columns: Said, others: Readonly<Record<string, string>>): ImportedRow {
  const { email, name, firstName, lastName, company, jobTitle, source } = columns;
  const { country, state, city, timezone, language, externalId, displayName, avatar } = columns;
  const both = [firstName, lastName].filter((one) => one).join(' ');
  const ofCell = objectIn('customFields', columns.customFields);
  const customFields = filled(ofCell ? { ...ofCell, ...others } : others);
  const location = filled({ country, state, city, timezone });
  const contact: ImportedRow['contact'] = { emails: listIn(columns.others) };
  if (email) (contact.emails as string[]).unshift(email);
  put(contact, 'name', name || both || undefined);
  put(contact, 'externalId', externalId);
  put(contact, 'displayName', displayName);
  put(contact, 'avatar', avatar);
  const person = { firstName, lastName, company, jobTitle, location, customFields, source };
  put(contact, 'profile', filled(person));
  put(contact, 'preferences', filled({ language }));
  if (columns.tags) contact.tags = listIn(columns.tags);
  put(contact, 'metadata', objectIn('metadata', columns.metadata));
  return { contact, ...standingOf(columns) };
}

function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) object[name] = value;
}

/** Drops undefined fields. Returns undefined if nothing is left. */
function filled(object: Record<string, unknown>): Record<string, unknown> | undefined {
  let left: Record<string, unknown> | undefined;
  for (const name in object) {
    if (object[name] === undefined) continue;
    left ??= {};
    left[name] = object[name];
  }
  return left;
}

/** Builds a contact from an object in the form of our API. */
function ownContact(object: Readonly<Record<string, unknown>>): ImportedRow {
  const { id: _id, createdAt: _made, updatedAt: _changed, statusReason, ...rest } = object;
  const { email, identities, status, ...contact } = rest;
  const named = Array.isArray(identities)
    ? identities.map((one) => (one as { identifier?: unknown } | null)?.identifier)
    : [];
  const emails = [email, ...named].filter((one) => one !== undefined && one !== null);
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const standing = standingOf({ status: text(status), statusReason: text(statusReason) });
  return { contact: { ...(said(contact) as object), emails }, ...standing };
}

/** Maps each column index to a contact field, or to the name of a custom field. */
function csvReader(header: readonly string[], { ignored }: ImportFormat): ReadRow {
  const taken = new Set<string>();
  const places = header.map((name) => {
    const key = columnKey(name);
    const meaning = meanings[key];
    const isUsed = key !== '' && !taken.has(meaning ?? name) && !ignored?.test(key);
    if (!isUsed) return null;
    taken.add(meaning ?? name);
    return { name: meaning ?? name, isOwn: meaning === undefined };
  });
  return ({ cells = [] }) => {
    const columns: Record<string, string> = {};
    const others: Record<string, string> = {};
    for (const [at, place] of places.entries()) {
      if (!place) continue;
      const text = cellText(cells[at] ?? '');
      if (text !== '') (place.isOwn ? others : columns)[place.name] = text;
    }
    return flatContact(columns, others);
  };
}

function objectReader({ ignored }: ImportFormat): ReadRow {
  return ({ object = {}, field }) => {
    if (Array.isArray(object.identities)) return ownContact(object);
    const columns: Record<string, string> = {};
    const others: Record<string, string> = {};
    for (const [name, value] of Object.entries(object)) {
      const key = columnKey(name);
      if (ignored?.test(key)) continue;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const text = isObject ? JSON.stringify(value) : (field?.(name) ?? '');
      if (text !== '') (meanings[key] ? columns : others)[meanings[key] ?? name] = text;
    }
    return flatContact(columns, others);
  };
}

/** Most columns of a file. No list of people has as many. */
const mostColumns = 500;

/**
 * Returns the format and row reader for a header. Null means a file without a header.
 * @throws ValidationError without a column that identifies people.
 */
export function formatOf(header: readonly string[] | null): { name: string; read: ReadRow } {
  if (header === null)
    return { name: 'plain', read: csvReader(['email'], { name: '', columns: [] }) };
  if (header.length > mostColumns) {
    throw new ValidationError(`The file has ${header.length} columns, more than ${mostColumns}`);
  }
  const keys = new Set(header.map(columnKey));
  const isKnown = ['email', 'externalId'].some((wanted) =>
    [...keys].some((key) => meanings[key] === wanted || key === 'identities'),
  );
  if (!isKnown) {
    throw new ValidationError(
      `The file has no column email or externalId. Its columns: ${columnsInWords(header)}`,
    );
  }
  const format = importFormats.find(({ columns }) =>
    columns.every((name) => keys.has(columnKey(name))),
  ) as ImportFormat;
  return { name: format.name, read: keyed(format, header) };
}

/** Reads CSV rows by column index, and objects by field name. */
function keyed(format: ImportFormat, header: readonly string[]): ReadRow {
  const ofCells = csvReader(header, format);
  const ofObject = objectReader(format);
  return (row) => (row.object ? ofObject(row) : ofCells(row));
}
