// What a command prints on standard output: the API's object with `--json`, else text for people.
// How values look is format.ts; errors are failure.ts.
import { isUtf8 } from 'node:buffer';
import type { CommonFlags } from './command.ts';
import { UsageError } from './failure.ts';
import { jsonText } from './json-text.ts';

/** Text for people, made only when it is wanted. */
export type View = () => string | Promise<string>;

export function writeLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Bytes as they are, for a file or a pipe. On a terminal what could steer it is made visible; what is
 * no text is not written there.
 * @throws UsageError for what is no text, on a terminal.
 */
export async function writeBytes(bytes: Buffer): Promise<void> {
  if (!process.stdout.isTTY) {
    await new Promise((resolve) => process.stdout.write(bytes, resolve));
    return;
  }
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new UsageError('That is no text: write it to a file with > FILE');
  }
  const { plainText } = await import('./format.ts');
  writeLine(plainText(bytes.toString()));
}

/** A doubt about what was printed: on standard error, so that scripts read the object alone. */
export function writeWarning(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}

/** What Ctrl-C leaves behind, on standard error; `more` is for programs. */
export function writeInterrupted(flags: CommonFlags, message: string, more: object): void {
  const error = { _tag: 'InterruptedError', message, ...more };
  process.stderr.write(
    flags.json ? `${jsonText(error, 2, process.stderr)}\n` : `\nsvc: ${message}\n`,
  );
}

/** Prints the object of the API, or what `view` makes of it. */
export async function print(flags: CommonFlags, value: unknown, view: View): Promise<void> {
  writeLine(flags.json ? jsonText(value) : await view());
}

/** Prints one resource: a card of `fields` (dotted paths), then `note`. */
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

/** How a list looks to people, where that is not the fields of its items. */
export interface Looks {
  /** What stands for the items, in their order. */
  rows: readonly object[];
  /** Said below the table. */
  note: string;
}

/** Prints a list: a table of `fields`, or `whenEmpty`, which says how to get the first item. */
export function printList(
  flags: CommonFlags,
  listing: Listing,
  fields: readonly string[],
  whenEmpty: string,
  { rows, note }: Looks = { rows: listing.items, note: '' },
): Promise<void> {
  return print(flags, listing, async () => {
    const text = await listText({ ...listing, items: rows }, fields, whenEmpty);
    return note === '' ? text : `${text}\n\n${note}`;
  });
}

/** Prints what the API answers as a bare array. */
export function printArray(
  flags: CommonFlags,
  items: readonly object[],
  fields: readonly string[],
  whenEmpty: string,
  { rows, note }: Looks = { rows: items, note: '' },
): Promise<void> {
  return print(flags, items, async () => {
    const text = await listText({ items: rows }, fields, whenEmpty);
    return note === '' ? text : `${text}\n\n${note}`;
  });
}

async function listText(
  { items, pagination }: Listing,
  fields: readonly string[],
  whenEmpty: string,
): Promise<string> {
  const pages =
    pagination && pagination.totalPages > 1
      ? `Page ${pagination.page} of ${pagination.totalPages}, ${pagination.total} in all.`
      : '';
  if (items.length === 0) return pages === '' ? whenEmpty : pages;
  const { table } = await import('./format.ts');
  return pages === '' ? table(items, fields) : `${table(items, fields)}\n\n${pages}`;
}
