// Gives each column of an import a use: a field of the contact, consent to mail, a custom field, or
// none. The caller's map of columns decides first, then the format of the file, then the names with
// the same meaning in every file (services.ts).

import { columnKey, columnsInWords } from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import { isConsent, speaksOfConsent } from './consent.ts';
import {
  type Columns,
  type ColumnUse,
  type Consent,
  columnUses,
  consents,
  contactFields,
  type ServiceFile,
  serviceColumns,
} from './services.ts';
import { namesBeside } from './words.ts';

/** Fields that several columns of a file can fill. */
const repeatable: ReadonlySet<ColumnUse> = new Set([
  'otherEmails',
  'custom',
  'ignore',
  ...consents,
]);

/** Returns each column key in `columns`, with the use under which it is listed. */
function meaningsIn(columns: Columns): [string, ColumnUse][] {
  return Object.entries(columns).flatMap(([use, keys]) =>
    keys.split(' ').map((key): [string, ColumnUse] => [key, use as ColumnUse]),
  );
}

/** Uses of columns with the same meaning in every file, by column key. */
const meanings: ReadonlyMap<string, ColumnUse> = new Map([
  ...Object.values(serviceColumns).flatMap(meaningsIn),
  ...contactFields.map((field) => [columnKey(field), field] as const),
]);
/** Key of a further address column of Outlook or Google: "E-mail 2 Address", "E-mail 3 - Value". */
const furtherEmail = /^email([2-9]|1\d)(address|value|adresse|adres)?$/;

/** Tells whether the keys contain all columns by which a file format is recognized. */
export function isFile({ has }: ServiceFile, keys: ReadonlySet<string>): boolean {
  return has.every((name) => keys.has(columnKey(name)));
}

/** Returns the uses of column names that get a meaning only beside certain further columns. */
function usesBeside(keys: ReadonlySet<string>): [string, ColumnUse][] {
  const isPart = ({ beside, unless }: (typeof namesBeside)[number]) =>
    keys.has(beside) && !unless.split(' ').some((key) => keys.has(key));
  return namesBeside.filter(isPart).map(({ name, part }) => [name, part]);
}

/** Uses of columns that the caller gives, by column name. */
export type ColumnMap = Readonly<Record<string, string>>;

/**
 * Parses entries such as `Plan=custom`. @throws ValidationError for an entry of a different form
 */
export function columnMapOf(entries: readonly string[]): ColumnMap {
  const pairs = entries.map((entry) => {
    const at = entry.lastIndexOf('=');
    if (at > 0) return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()] as const;
    throw ValidationError.of('map', `must be COLUMN=FIELD: ${entry.slice(0, 60)}`);
  });
  return Object.fromEntries(pairs);
}

export interface ColumnUses {
  /**
   * Returns the use of a column, or of the field `inner` of JSON objects in the column. Null if the
   * name speaks of consent and the meaning is unknown.
   */
  of(name: string, inner?: string): ColumnUse | null;
  /** Tells whether the map of the caller has the column, or `column.inner`. */
  isMapped(name: string): boolean;
}

/** Most columns and JSON fields with a cached use. */
const mostRemembered = 1_000;

/**
 * Builds the lookup of uses from the map of the caller, the columns of the format and the header.
 * @throws ValidationError for an unknown use in `map`, or for a column that the file lacks
 */
export function usesIn(
  map: ColumnMap,
  columns: Columns | undefined,
  header: readonly string[] | null,
): ColumnUses {
  const keys = new Set(header?.map(columnKey));
  const own = new Map([...usesBeside(keys), ...meaningsIn(columns ?? {})]);
  const named = new Map<string, ColumnUse>();
  const byKey = new Map<string, ColumnUse>();
  for (const [name, use] of Object.entries(map)) {
    const known = columnUses.find((one) => columnKey(one) === columnKey(use));
    if (!known) {
      throw ValidationError.of('map', `${use.slice(0, 40)} is none of ${columnUses.join(', ')}`);
    }
    if (header && !name.includes('.') && !keys.has(columnKey(name))) {
      const columns = columnsInWords(header);
      throw ValidationError.of('map', `there is no column ${name.slice(0, 40)} in: ${columns}`);
    }
    named.set(name, known);
    if (!header?.includes(name)) byKey.set(columnKey(name), known);
  }
  const given = (name: string) => named.get(name) ?? byKey.get(columnKey(name));
  const find = (name: string): ColumnUse | null => {
    const mapped = given(name);
    if (mapped !== undefined) return mapped;
    const key = columnKey(name);
    if (key === '') return 'ignore';
    const known = own.get(key) ?? (furtherEmail.test(key) ? 'otherEmails' : meanings.get(key));
    return known ?? ofConsent(name);
  };
  const remembered = new Map<string, ColumnUse | null>();
  const of = (name: string, inner?: string) => {
    const path = inner === undefined ? name : `${name}.${inner}`;
    const place = inner === undefined ? path : `${path}\0`;
    const known = remembered.get(place);
    if (known !== undefined) return known;
    const found =
      inner === undefined ? find(name) : (given(path) ?? consentOf(inner) ?? ofConsent(inner));
    if (remembered.size < mostRemembered) remembered.set(place, found);
    return found;
  };
  return { of, isMapped: (name) => given(name) !== undefined };
}

/** Returns the use of a column if it states consent in every file; else undefined. */
function consentOf(name: string): Consent | undefined {
  const meaning = meanings.get(columnKey(name));
  return meaning !== undefined && isConsent(meaning) ? meaning : undefined;
}

function ofConsent(name: string): ColumnUse | null {
  return speaksOfConsent(name) ? null : 'custom';
}

/**
 * Returns the use of each column of a header; null for a column that speaks of consent without a
 * known meaning. A second column for `email` becomes a further address, a second column for a
 * different field becomes a custom field.
 */
export function usesAt(header: readonly string[], { of }: ColumnUses): (ColumnUse | null)[] {
  const taken = new Set<ColumnUse>();
  return header.map((name) => {
    const found = of(name);
    if (found === null || repeatable.has(found)) return found;
    if (taken.has(found)) return found === 'email' ? 'otherEmails' : 'custom';
    taken.add(found);
    return found;
  });
}

/** Returns the uses as `usesAt` does. @throws ValidationError naming the columns without a use */
export function usesOf(header: readonly string[], known: ColumnUses): ColumnUse[] {
  const all = usesAt(header, known);
  const unknown = header.filter((_, at) => all[at] === null);
  if (unknown.length > 0) throw unknownConsent(unknown);
  return all.filter((use) => use !== null);
}

/** Returns the error that asks the caller to map columns that speak of consent. */
export function unknownConsent(names: readonly string[]): ValidationError {
  const [first = ''] = names;
  const many = names.length > 1;
  return ValidationError.of(
    'map',
    `the column${many ? 's' : ''} ${columnsInWords(names)} ${many ? 'speak' : 'speaks'} of consent, ` +
      `and the meaning is unknown. Map ${many ? 'each' : 'it'} to subscribed or unsubscribed (yes ` +
      `or no), status (words), custom or ignore: "${first.slice(0, 40)}=unsubscribed"`,
  );
}
