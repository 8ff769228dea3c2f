// Formats values for people: tables, cards, colours. Values can come from a stranger's mail, so
// control characters are made visible. Only this file imports cli-table3 and ansis.
import { Ansis } from 'ansis';
import Table from 'cli-table3';
import {
  displayWidth,
  fittingWidths,
  hasAddress,
  hasId,
  headingOf,
  isInstant,
  linesOfRow,
  localTime,
  rowIndent,
  shortenedTo,
  wrappedTo,
} from './table-fit.ts';

/** Colours: only on a terminal, and not with NO_COLOR. */
const colour = new Ansis(process.stdout.isTTY && !process.env.NO_COLOR ? 1 : 0);

const goodWords = ['delivered', 'sent', 'read', 'verified', 'enabled', 'valid'];
const badWords = ['bounced', 'failed', 'complained', 'rejected', 'missing', 'invalid', 'paused'];

/** Control characters, and characters that reverse the direction of writing. */
const steering = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
const steeringButLines = /(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** Makes control characters in a text visible for a terminal; keeps line breaks. */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(steeringButLines, '\uFFFD');
}

/** Makes a text bold on a terminal. */
export function emphasize(text: string): string {
  return colour.bold(text);
}

const nothing = '-';

/** Formats a value as a single line of text. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return nothing;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? nothing : value.map(inWords).join(', ');
  if (typeof value === 'object') {
    return partyInWords(value) ?? resourceInWords(value) ?? mapInWords(value);
  }
  return String(value).replace(steering, '\uFFFD');
}

/** Formats `{messages: ['send']}` as `messages:send`, and `{order: 7}` as `order:7`. */
function mapInWords(value: object): string {
  const entries = Object.entries(value).flatMap(([name, values]) =>
    [values].flat().map((each: unknown) => `${inWords(name)}:${inWords(each)}`),
  );
  return inWords(entries);
}

/** Formats `{email, name}` as people write it: `Ada <ada@example.com>`. */
function partyInWords(value: object): string | undefined {
  if (!('email' in value) || typeof value.email !== 'string') return undefined;
  const name = 'name' in value && typeof value.name === 'string' ? inWords(value.name) : nothing;
  const email = inWords(value.email);
  return name === nothing ? email : `${name} <${email}>`;
}

/** Fields that name a nested resource for people; the first present field counts. */
const namingFields = ['identifier', 'address', 'name', 'id'] as const;

/** Describes an object with an id by the first present field of `namingFields`. */
function resourceInWords(value: object): string | undefined {
  if (!('id' in value) || typeof value.id !== 'string') return undefined;
  const fields = value as Record<string, unknown>;
  const naming = namingFields.find((field) => inWords(fields[field]) !== nothing);
  return naming && inWords(fields[naming]);
}

/** Returns the value at a dotted path. In a list on the path, it reads the value of each entry. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((entry) => valueAt(entry, path));
  return valueAt((value as Record<string, unknown>)[name], rest);
}

/** Returns true if the row has the field of this dotted path, even if it is null. */
export function hasField(row: object, field: string): boolean {
  const value = valueAt(row, field.split('.'));
  return Array.isArray(value) && value.length > 0
    ? value.some((entry) => entry !== undefined)
    : value !== undefined;
}

function wordsAt(row: object, field: string): string {
  return inWords(valueAt(row, field.split('.')));
}

function cell(row: object, field: string): string {
  return coloured(wordsAt(row, field));
}

function coloured(words: string): string {
  if (goodWords.includes(words)) return colour.green(words);
  return badWords.includes(words) ? colour.red(words) : words;
}

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((at) => ['', '-mid', '-left', '-right'].map((part) => `${at}${part}`))
    .map((name) => [name, '']),
);

function columns(head: string[], rows: string[][]): string {
  const table = new Table({
    ...(head.length > 0 && { head }),
    chars: { ...noBorders, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/**
 * Formats a line for each row, with the names of the fields. On a terminal it formats for people:
 * headings, local times, and no line longer than the terminal is wide, unless `isWide`.
 */
export function table(rows: readonly object[], fields: readonly string[], isWide = false): string {
  if (process.stdout.isTTY) {
    return fittedTable(rows, fields, isWide ? Infinity : process.stdout.columns || 80);
  }
  const cells = rows.map((row) => fields.map((field) => cell(row, field)));
  return columns(fields.map(emphasize), cells);
}

/** Columns of a row that share a line: their headings, and the cells of all rows. */
interface TableLine {
  head: string[];
  cells: string[][];
  /** Width to which the only cell is wrapped, if it has an address that is wider. */
  wrapsTo?: number;
}

/** Formats the table for a terminal of `width` columns. */
export function fittedTable(
  rows: readonly object[],
  fields: readonly string[],
  width: number,
): string {
  const headings = fields.map(headingOf);
  const cells = rows.map((row) => fields.map((field) => localTime(wordsAt(row, field))));
  const natural = headings.map((heading, at) =>
    Math.max(...[heading, ...cells.map((row) => row[at] ?? '')].map(displayWidth)),
  );
  const whole = fields.flatMap((field, at) => {
    const isTime = rows.some((row) => isInstant(valueAt(row, field.split('.'))));
    const isWhole = (text = '') => hasId(text) || hasAddress(text);
    return isTime || cells.some((row) => isWhole(row[at])) ? at : [];
  });
  const lines = linesOfRow(natural, width, new Set(whole)).map((line, index): TableLine => {
    const room = index === 0 ? width : width - rowIndent;
    const spared = new Set(line.flatMap((at, place) => (whole.includes(at) ? place : [])));
    const widths = fittingWidths(
      line.map((at) => natural[at] ?? 0),
      room,
      spared,
    );
    const textsOf = (texts: readonly string[]) =>
      line.map((at, place) => shortenedTo(texts[at] ?? '', widths[place] ?? 0));
    const shown = { head: textsOf(headings), cells: cells.map(textsOf) };
    const isTooWide = line.length === 1 && (widths[0] ?? 0) > room;
    const wraps = isTooWide && shown.cells.some(([text = '']) => hasAddress(text));
    return wraps ? { ...shown, wrapsTo: room } : shown;
  });
  return layered(lines);
}

/** Joins the lines of each row. Leaves out a continuation line without a value. */
function layered(lines: readonly TableLine[]): string {
  const drawn = lines.map(({ head, cells }) =>
    columns(
      head.map(emphasize),
      cells.map((row) => row.map(coloured)),
    ).split('\n'),
  );
  const [first = []] = drawn;
  return first
    .flatMap((_line, row) =>
      drawn.flatMap((further, index) => {
        const { cells, wrapsTo } = lines[index] ?? {};
        const values = cells?.[row - 1] ?? [''];
        if (index > 0 && values.every((value) => value === nothing)) return [];
        const text = further[row] ?? '';
        const indent = ' '.repeat(index === 0 ? 0 : rowIndent);
        const wrapped = wrapsTo === undefined ? [text] : wrappedTo(text, wrapsTo);
        return wrapped.map((part) => indent + part);
      }),
    )
    .join('\n');
}

/** Formats a line for each field with a value: name and value. */
export function card(resource: object, fields: readonly string[]): string {
  const lines = fields.map((field) => [emphasize(field), cell(resource, field)]);
  return columns(
    [],
    lines.filter(([, words]) => words !== nothing),
  );
}

/** Formats a card for each resource, separated by empty lines: for values too long for columns. */
export function cards(resources: readonly object[], fields: readonly string[]): string {
  return resources.map((resource) => card(resource, fields)).join('\n\n');
}
