// Turns a row of an import into the fields of a contact. Exports of known services are recognized
// by their header (services.ts). columns.ts gives each column a use. An opt-out in any known form
// becomes a block (consent.ts). An unknown status refuses the row, so that no opt-out is lost.

import { checkWith } from '../../core/api/validate.ts';
import {
  cellText,
  columnKey,
  columnsInWords,
  type ImportRow,
  refuseDuplicates,
} from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { importedContact } from '../contacts/schema.ts';
import {
  type ColumnMap,
  type ColumnUses,
  isFile,
  unknownConsent,
  usesAt,
  usesIn,
  usesOf,
} from './columns.ts';
import { type ConsentCell, type ConsentFound, isConsent, isOptOut, standingOf } from './consent.ts';
import type { Candidate } from './merge.ts';
import type { LeftOut, LeftRow, RowReader } from './row-reader.ts';
import { type ColumnUse, plainFile, type ServiceFile, serviceFiles } from './services.ts';
import { nameOfExternalId, type WritableRow } from './window.ts';

/** Fields of a row before validation: `contact` may still violate the schema. */
interface ImportedRow extends ConsentFound {
  contact: Record<string, unknown>;
}

/** Reads a row. @throws ValidationError naming the field with an unknown value */
type ReadRow = (row: ImportRow) => ImportedRow;

const ownReason = /^The first email is blocked \((bounce|complaint|unsubscribe|manual)\)/;

/**
 * Reads the status in an export of this service. Only `statusReason` shows that a contact was
 * blocked by hand, or archived and blocked.
 */
function ownStanding(status: string, statusReason: string): ConsentFound {
  const said = standingOf(status === '' ? [] : [['status', 'status', status]]);
  const [, blocked] = ownReason.exec(statusReason) ?? [];
  return { ...said, reason: said.reason ?? (blocked as BlockReason | undefined) ?? null };
}

/** Splits a list at commas. Removes quotation marks around each entry: `"a","b"`. */
function listIn(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  return text
    .split(',')
    .map((one) => one.trim().replace(/^"(.*)"$/, '$1'))
    .filter((one) => one !== '');
}

/** Parses a JSON object in a cell. Nested values stay JSON text. @throws ValidationError */
function objectIn(field: string, text: string): Record<string, unknown> {
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

/** Turns values into texts, as custom fields need them, and drops null. */
function textsIn(object: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(object).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * Drops null, empty texts, and objects with no further content. Returns undefined if nothing is
 * left.
 */
function said(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (typeof value !== 'object' || value === undefined || Array.isArray(value)) return value;
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const inner = said(one);
    return inner === undefined ? [] : [[name, inner] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

type ObjectField = 'customFields' | 'metadata';

/** Gathers the cells of a row by the uses of their columns. */
class Cells {
  readonly fields: Record<string, string> = {};
  readonly emails: string[] = [];
  readonly custom: Record<string, string> = {};
  readonly objects: { [Name in ObjectField]?: Record<string, unknown> | undefined } = {};
  readonly consent: ConsentCell[] = [];
  readonly #known: ColumnUses;
  readonly #isOwn: boolean;

  constructor(known: ColumnUses, isOwn: boolean) {
    this.#known = known;
    this.#isOwn = isOwn;
  }

  /** Adds a cell. @throws ValidationError for a text that may mean an opt-out */
  add(name: string, use: ColumnUse, text: string): void {
    if (use === 'ignore') return;
    if (isConsent(use)) this.consent.push([name, use, text]);
    else if (text === '') return;
    else if (use === 'otherEmails') this.emails.push(...listIn(text));
    else if (use === 'customFields' || use === 'metadata') this.#addObject(name, use, text);
    else {
      for (const one of use === 'tags' ? listIn(text) : [text]) this.#refuseOptOut(name, one);
      if (use === 'custom') this.custom[name] = text;
      else this.fields[use] = text;
    }
  }

  #refuseOptOut(name: string, text: string): void {
    if (!isOptOut(text) || this.#isOwn || this.#known.isMapped(name)) return;
    throw ValidationError.of(
      name,
      `says ${text}: map the column to status if this is the person's consent, else to custom`,
    );
  }

  #addObject(name: string, use: ObjectField, text: string): void {
    const object = objectIn(use, text);
    this.objects[use] = this.#isOwn || use === 'metadata' ? object : textsIn(object);
    if (this.#isOwn) return;
    for (const [inner, value] of Object.entries(object)) {
      const found = this.#known.of(name, inner);
      const path = `${name}.${inner}`;
      if (found === null) throw unknownConsent([path]);
      if (isConsent(found)) this.consent.push([path, found, String(value ?? '')]);
      else if (found === 'custom' && typeof value === 'string') this.#refuseOptOut(path, value);
    }
  }
}

/** Builds a contact from the cells of any format. */
function flatContact({ fields, emails, custom, objects, consent }: Cells): ImportedRow {
  const { email, name, firstName, lastName, company, jobTitle, source } = fields;
  const { country, state, city, timezone, language, externalId, displayName, avatar } = fields;
  const both = [firstName, lastName].filter((one) => one).join(' ');
  const customFields = filled({ ...objects.customFields, ...custom });
  const location = filled({ country, state, city, timezone });
  const contact: ImportedRow['contact'] = { emails: email ? [email, ...emails] : emails };
  put(contact, 'name', name || both || undefined);
  put(contact, 'externalId', externalId);
  put(contact, 'displayName', displayName);
  put(contact, 'avatar', avatar);
  const person = { firstName, lastName, company, jobTitle, location, customFields, source };
  put(contact, 'profile', filled(person));
  put(contact, 'preferences', filled({ language }));
  if (fields.tags) contact.tags = listIn(fields.tags);
  put(contact, 'metadata', objects.metadata);
  return { contact, ...standingOf(consent) };
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

/** Builds a contact from an object in the form of the API of this service. */
function ownContact(object: Readonly<Record<string, unknown>>): ImportedRow {
  const { id: _id, createdAt: _made, updatedAt: _changed, statusReason, ...rest } = object;
  const { email, identities, status, ...contact } = rest;
  const named = Array.isArray(identities)
    ? identities.map((one) => (one as { identifier?: unknown } | null)?.identifier)
    : [];
  const emails = [email, ...named].filter((one) => one !== undefined && one !== null);
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const standing = ownStanding(text(status), text(statusReason));
  return { contact: { ...(said(contact) as object), emails }, ...standing };
}

/** Facts about a header that the readers of CSV and of JSON Lines both need. */
interface Plan {
  /** Field with the mailing lists of a person (services.ts), if the format has such a field. */
  lists?: string | undefined;
  header: readonly string[];
  uses: readonly ColumnUse[];
  known: ColumnUses;
  isOwn: boolean;
}

/** Returns a reader of CSV rows, by the positions of the columns. */
function csvReader({ header, uses, known, isOwn }: Plan): ReadRow {
  const columns = header.map((name, at) => [name, uses[at] ?? 'ignore'] as const);
  const reasonAt = isOwn ? header.findIndex((name) => columnKey(name) === 'statusreason') : -1;
  return ({ cells = [] }) => {
    const row = new Cells(known, isOwn);
    for (const [at, [name, one]] of columns.entries()) {
      if (at !== reasonAt) row.add(name, one, cellText(cells[at] ?? ''));
    }
    const contact = flatContact(row);
    if (reasonAt < 0) return contact;
    const [[, , status] = ['', '', '']] = row.consent;
    return { ...contact, ...ownStanding(status, cellText(cells[reasonAt] ?? '')) };
  };
}

/** A mailing list of a person, in the form of listmonk's API. */
interface Subscription {
  name?: unknown;
  subscription_status?: unknown;
}

/**
 * Adds the mailing lists of a person as tags, without lists that the person left. After leaving
 * every list, the person counts as unsubscribed.
 */
function addLists(row: Cells, field: string, value: unknown): void {
  const lists = Array.isArray(value) ? (value as (Subscription | null)[]) : [];
  const stays = lists.filter(
    (one) => columnKey(String(one?.subscription_status)) !== 'unsubscribed',
  );
  const names = stays.map((one) => `"${String(one?.name ?? '').replaceAll(',', ' ')}"`);
  row.add(field, 'tags', names.join());
  if (lists.length > 0 && stays.length === 0) row.add(field, 'status', 'unsubscribed');
}

/** Returns a reader of JSON objects by field names, which can differ from line to line. */
function objectReader({ lists, header, uses, known, isOwn }: Plan): ReadRow {
  const ofHeader = new Map(header.map((name, at) => [name, uses[at]]));
  return ({ object = {}, field }) => {
    if (Array.isArray(object.identities)) return ownContact(object);
    const row = new Cells(known, isOwn);
    for (const [name, value] of Object.entries(object)) {
      if (name === lists) {
        addLists(row, name, value);
        continue;
      }
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const found = ofHeader.get(name) ?? known.of(name);
      if (found === null) throw unknownConsent([name]);
      row.add(name, found, isObject ? JSON.stringify(value) : field(name));
    }
    return flatContact(row);
  };
}

/** Most columns of a file. No real list of people has more. */
const mostColumns = 500;

/** @throws ValidationError for a list of blocked addresses, unless the caller maps columns */
function refuseSuppressions(keys: ReadonlySet<string>, map: ColumnMap): void {
  if (Object.keys(map).length > 0) return;
  const isList = serviceFiles.some(
    (file) => file.isSuppressionList && file.has.length === keys.size && isFile(file, keys),
  );
  if (!isList) return;
  throw new ValidationError(
    'The columns are those of a list of people who get no mail (SendGrid). Import such a list by ' +
      '"svc blocks import"; for any other file map a column: "created=custom"',
  );
}

/** Returns the reason to reject a CSV row with undecodable bytes (U+FFFD); null for a good row. */
function undecodable({ cells = [] }: ImportRow): string | null {
  return cells.some((cell) => cell.includes('\uFFFD'))
    ? 'has bytes that are not text in the encoding of the file: save it as UTF-8'
    : null;
}

/** Reads and validates a row. Returns the row to write, or the reason to reject the row. */
function checkedRow(read: ReadRow, source: ImportRow, row: number): WritableRow | LeftOut {
  const { line } = source;
  const reason = source.fault ?? undecodable(source);
  if (reason !== null) return rejected({ row, line, field: null, reason });
  try {
    const { contact, ...standing } = read(source);
    const checked = checkWith(importedContact, contact, 'row', source.object === undefined);
    if ('error' in checked) return rejectedBy(source, row, checked.error);
    const { profile, preferences, metadata, ...said } = checked.data;
    const folded = said.emails.map(foldAddress);
    const stored = {
      profile: profile ? JSON.stringify(profile) : undefined,
      preferences: preferences ? JSON.stringify(preferences) : undefined,
      metadata: metadata ? JSON.stringify(metadata) : undefined,
    };
    return writable({ row, line, contact: { ...said, ...stored }, folded, ...standing });
  } catch (error) {
    if (error instanceof ValidationError) return rejectedBy(source, row, error);
    throw error;
  }
}

/** Converts a candidate into a row for a window (window.ts), with the names of the contact. */
export function writable(candidate: Candidate): WritableRow {
  const { row, folded, contact } = candidate;
  const { externalId } = contact;
  const names = externalId === undefined ? folded : [...folded, nameOfExternalId(externalId)];
  return { row, names, place: '', json: JSON.stringify(candidate) };
}

function rejectedBy(
  { line }: ImportRow,
  row: number,
  { fieldErrors, message }: ValidationError,
): LeftOut {
  const [[field, [reason = message] = []] = [null]] = Object.entries(fieldErrors ?? {});
  const name = field?.replace(/^emails(\.\d+)?$/, 'email') ?? null;
  return rejected({ row, line, field: name, reason });
}

function rejected(left: LeftRow): LeftOut {
  return { result: 'rejected', left };
}

/** Finds the format of a file by the header, and the uses of columns. @throws ValidationError */
function fileOf(header: readonly string[], map: ColumnMap) {
  if (header.length > mostColumns) {
    throw new ValidationError(`The file has ${header.length} columns, more than ${mostColumns}`);
  }
  if (header.every((name) => name === '')) {
    throw new ValidationError('The first line of the file names no columns');
  }
  const keys = new Set(header.map(columnKey));
  const file: ServiceFile =
    serviceFiles.find((one) => one.contacts && isFile(one, keys)) ?? plainFile;
  return { keys, file, known: usesIn(map, file.contacts?.columns, header) };
}

/** Returns the recognized use of each column; null for a column that the caller must map. */
export function recognizedUses(header: readonly string[]): (ColumnUse | null)[] {
  return usesAt(header, fileOf(header, {}).known);
}

/**
 * Returns the reader of rows for a header (null: a file without a header, with addresses only).
 * `map` overrides the uses of columns. @throws ValidationError if no column identifies people, for
 * a repeated column, and for a column that speaks of consent without a known meaning.
 */
export function contactReader(header: readonly string[] | null, map: ColumnMap): RowReader {
  if (header === null) {
    const known = usesIn(map, undefined, ['email']);
    const plan: Plan = { header: ['email'], uses: ['email'], known, isOwn: false };
    return readerOf(plainFile.service, csvReader(plan), {});
  }
  const { keys, file, known } = fileOf(header, map);
  const isKnown = header.some((name) => ['email', 'externalId'].includes(known.of(name) ?? ''));
  if (!isKnown && !keys.has('identities')) {
    throw new ValidationError(
      `The file has no column email or externalId. Its columns: ${columnsInWords(header)}`,
    );
  }
  refuseDuplicates(header.filter((name) => known.of(name) !== 'ignore'));
  refuseSuppressions(keys, map);
  const uses = usesOf(header, known);
  const isOwn = file.service === 'svc';
  const plan: Plan = { lists: file.contacts?.lists, header, uses, known, isOwn };
  const ofCells = csvReader(plan);
  const ofObject = objectReader(plan);
  return readerOf(
    file.service,
    (row) => (row.object ? ofObject(row) : ofCells(row)),
    Object.fromEntries(header.map((name, at) => [name, uses[at] ?? 'ignore'])),
  );
}

function readerOf(format: string, read: ReadRow, map: RowReader['map']): RowReader {
  return { format, title: format, map, read: (source, row) => checkedRow(read, source, row) };
}
