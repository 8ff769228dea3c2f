// Standard output of a command: the API's object with `--json`, else text for people. Formats are
// in format.ts; errors in failure.ts.
import { isUtf8 } from 'node:buffer';
import type { CommonFlags } from '../command.ts';
import { jsonText } from '../input/json-text.ts';
import { UsageError } from './failure.ts';

/** Text for people. It is made only when it is printed. */
export type View = () => string | Promise<string>;

export function writeLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Writes bytes to standard output: unchanged to a file or a pipe. On a terminal it makes control
 * characters visible. @throws UsageError for binary data on a terminal.
 */
export async function writeBytes(bytes: Buffer): Promise<void> {
  if (!process.stdout.isTTY) {
    await new Promise((resolve) => process.stdout.write(bytes, resolve));
    return;
  }
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new UsageError('The output is not text: write it to a file with > FILE');
  }
  const { plainText } = await import('./format.ts');
  writeLine(plainText(bytes.toString()));
}

/**
 * Writes a warning to standard error, so that a script reads only the object on standard output.
 */
export function writeWarning(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}

/** Writes a remark to standard error, so that standard output has only the result. */
export function writeNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Writes the state at Ctrl-C to standard error. `more` has further fields for programs. */
export function writeInterrupted(flags: CommonFlags, message: string, more: object): void {
  const error = { _tag: 'InterruptedError', message, ...more };
  process.stderr.write(
    flags.json ? `${jsonText(error, 2, process.stderr)}\n` : `\nsvc: ${message}\n`,
  );
}

/** Prints the object of the API, or the text that `view` makes from it. */
export async function print(flags: CommonFlags, value: unknown, view: View): Promise<void> {
  writeLine(flags.json ? jsonText(value) : await view());
}

/** Prints a single resource: a card of `fields` (dotted paths), then `note`. */
export function printCard(
  flags: CommonFlags,
  resource: object,
  fields: readonly string[],
  note = '',
): Promise<void> {
  return print(flags, resource, async () => {
    const { card } = await import('./format.ts');
    return note === '' ? card(resource, fields) : `${card(resource, fields)}\n\n${note}`;
  });
}

export interface Listing {
  items: readonly object[];
  pagination?: { page: number; total: number; totalPages: number };
}

/** Presentation of a list for people, if it differs from the fields of the items. */
export interface Looks {
  /** Rows that represent the items, in their order. */
  rows: readonly object[];
  /** Text below the table. */
  note: string;
  /** Columns instead of the usual columns. */
  columns?: readonly string[];
}

/** The parsed flags of `tableFlags`. */
export interface TableChoice {
  wide?: boolean | undefined;
  columns?: string | undefined;
}

/** Prints a list: a table of `fields`, or the text `whenEmpty`, which names the next step. */
export function printList(
  flags: CommonFlags & TableChoice,
  listing: Listing,
  fields: readonly string[],
  whenEmpty: string,
  { rows, note, columns = fields }: Looks = { rows: listing.items, note: '' },
): Promise<void> {
  return print(flags, listing, async () => {
    const text = await listText(flags, { ...listing, items: rows }, columns, whenEmpty);
    return note === '' ? text : `${text}\n\n${note}`;
  });
}

/** Prints a bare array of the API. */
export function printArray(
  flags: CommonFlags & TableChoice,
  items: readonly object[],
  fields: readonly string[],
  whenEmpty: string,
  { rows, note }: Looks = { rows: items, note: '' },
): Promise<void> {
  return print(flags, items, async () => {
    const text = await listText(flags, { items: rows }, fields, whenEmpty);
    return note === '' ? text : `${text}\n\n${note}`;
  });
}

/**
 * Renders a list as a table of `fields`, or of the chosen fields. @throws UsageError for an unknown
 * field.
 */
export async function listText(
  choice: TableChoice,
  { items, pagination }: Listing,
  fields: readonly string[],
  whenEmpty: string,
): Promise<string> {
  const pages =
    pagination && pagination.totalPages > 1
      ? `Page ${pagination.page} of ${pagination.totalPages}, ${pagination.total} in all.`
      : '';
  if (items.length === 0) return pages === '' ? whenEmpty : pages;
  const text = await tableText(choice, items, fields);
  return pages === '' ? text : `${text}\n\n${pages}`;
}

/**
 * Renders rows as a table of `fields`, or of the chosen fields. @throws UsageError for an unknown
 * field.
 */
export async function tableText(
  { wide = false, columns }: TableChoice,
  rows: readonly object[],
  fields: readonly string[],
): Promise<string> {
  const { hasField, table } = await import('./format.ts');
  const chosen = columns?.split(',').map((field) => field.trim()) ?? fields;
  for (const field of chosen) {
    if (fields.includes(field) || rows.some((row) => hasField(row, field))) continue;
    const { findNearest } = await import('../../../src/core/config/nearest.ts');
    const known = [...new Set([...fields, ...rows.flatMap(Object.keys)])];
    const nearest = findNearest(field, known);
    const hint = nearest ? `Did you mean ${nearest}?` : `It has ${known.join(', ')}`;
    throw new UsageError(`--columns: the list has no field "${field}". ${hint}`);
  }
  return table(rows, chosen, wide);
}
