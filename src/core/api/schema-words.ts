// Problems of zod schemas in plain words, for requests and typed flags alike. Each text continues
// the name of the field: "subject: is required". An error text in the schema itself has precedence.
import type { z } from 'zod';
import { findNearest } from '../config/nearest.ts';
import { placeElsewhere, synonymsOf } from '../config/synonyms.ts';

type RawIssue = z.core.$ZodRawIssue;

export const isRequired = 'is required';

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const formatWords: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  datetime: 'an ISO 8601 instant',
  date: 'a date (YYYY-MM-DD)',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'base64',
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function inTypeWords(type: string): string {
  return typeWords[type] ?? `of type ${type}`;
}

function wrongType(expected: readonly string[], input: unknown): string {
  const isFraction = expected.includes('int') && typeof input === 'number';
  const found = isFraction ? '' : `, not ${inTypeWords(typeOf(input))}`;
  return `must be ${either(expected.map(inTypeWords))}${found}`;
}

const longestShown = 300;

/**
 * Returns the JSON to write in place of a string, if the schema expects an object with an address
 * or a list; else undefined.
 */
function writtenFor(schema: unknown, input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > longestShown) return undefined;
  const value = valueFor(schema as z.core.$ZodType | undefined, input.trim());
  return typeof value !== 'object'
    ? undefined
    : JSON.stringify(value).replaceAll('":"', '": "').replaceAll('","', '", "');
}

function valueFor(schema: z.core.$ZodType | undefined, input: string): unknown {
  const { shape, element, innerType, in: inner } = (schema?._zod.def ?? {}) as Inner;
  if (element) {
    const entry = valueFor(element, input);
    return entry === undefined ? undefined : [entry];
  }
  if (shape) return shape.email && input.includes('@') ? addressOf(input) : undefined;
  const unwrapped = innerType ?? inner;
  return unwrapped ? valueFor(unwrapped, input) : input;
}

/** Returns the parts of `Ada <ada@example.com>`, or of a plain address. */
function addressOf(input: string): { email: string; name?: string } {
  const start = input.lastIndexOf('<');
  if (start < 0 || !input.endsWith('>')) return { email: input };
  const name = input.slice(0, start).replaceAll('"', '').trim();
  return { email: input.slice(start + 1, -1).trim(), ...(name !== '' && { name }) };
}

/** Joins words as `a, b or c`. */
function either(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
  map: ['entry', 'entries'],
};

interface Bound {
  origin: string;
  exact?: boolean | undefined;
  inclusive?: boolean | undefined;
}

function boundWords({ origin, exact, inclusive }: Bound, limit: number | bigint, isLeast: boolean) {
  const unit = units[origin];
  if (unit) {
    if (isLeast && limit === 1 && !exact) return 'must not be empty';
    const amount = exact ? 'exactly' : isLeast ? 'at least' : 'at most';
    return `must have ${amount} ${limit} ${unit[limit === 1 ? 0 : 1]}`;
  }
  if (exact) return `must be ${limit}`;
  const [within, beyond] = isLeast ? ['at least', 'more than'] : ['at most', 'less than'];
  return `must be ${inclusive === false ? beyond : within} ${limit}`;
}

/**
 * Returns words for a value that fits no schema of a union: all expected types, or the last
 * problem.
 */
function unionWords(errors: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const issues = errors.flatMap(([issue, ...others]) =>
    issue && others.length === 0 && issue.path.length === 0 ? [issue] : [],
  );
  const types = issues.flatMap((issue) => (issue.code === 'invalid_type' ? issue.expected : []));
  if (types.length > 0 && types.length === errors.length) return wrongType(types, input);
  const told = issues.findLast(({ code }) => code !== 'invalid_type');
  return told?.message ?? 'has none of the accepted forms';
}

function withExample(words: string, { inst, input }: RawIssue): string {
  const written = writtenFor(inst, input);
  return written === undefined ? words : `${words}: write ${written}`;
}

/** Error map of zod for all requests; undefined leaves the text to zod. */
export function schemaWords(issue: RawIssue): string | undefined {
  if (issue.input === undefined && /^invalid_(?:type|value|union)$/.test(issue.code ?? '')) {
    return isRequired;
  }
  switch (issue.code) {
    case 'invalid_type':
      return withExample(wrongType([issue.expected], issue.input), issue);
    case 'invalid_value':
      return `must be ${either(issue.values.map((value) => JSON.stringify(value) ?? 'nothing'))}`;
    case 'too_big':
      return boundWords(issue, issue.maximum, false);
    case 'too_small':
      return boundWords(issue, issue.minimum, true);
    case 'invalid_format': {
      const words = formatWords[issue.format];
      return words === undefined ? undefined : `must be ${words}`;
    }
    case 'invalid_key':
      return `its name ${issue.issues[0]?.message ?? 'is not accepted'}`;
    case 'unrecognized_keys':
      // The message of zod would join all names: megabytes of names block the event loop.
      return issue.keys.length > mostNamed ? 'has unknown fields' : undefined;
    case 'invalid_union':
      return unionWords(issue.errors ?? [], issue.input);
    default:
      return undefined;
  }
}

/** Most unknown fields that a message names. */
const mostNamed = 100;
/** Most unknown fields with a suggestion: each is compared with every known field. */
const mostSuggestions = 5;
/** Longest unknown name that gets a suggestion. */
const longestGuessed = 40;
const deepestField = 6;

interface Inner {
  shape?: Record<string, z.core.$ZodType>;
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
}

/** Adds the dotted paths of all fields below `path` to `found`; an entry of a list is `0`. */
function collectFields(schema: z.core.$ZodType, path: readonly string[], found: Set<string>): void {
  if (path.length > deepestField) return;
  const { shape = {}, innerType, element, in: input, out, options = [] } = schema._zod.def as Inner;
  for (const [name, field] of Object.entries(shape)) {
    found.add([...path, name].join('.'));
    collectFields(field, [...path, name], found);
  }
  if (element) collectFields(element, [...path, '0'], found);
  for (const same of [innerType, input, out, ...options])
    if (same) collectFields(same, path, found);
}

const fieldsOfSchemas = new WeakMap<z.core.$ZodType, readonly string[]>();

function fieldsOf(schema: z.core.$ZodType): readonly string[] {
  const known = fieldsOfSchemas.get(schema);
  if (known) return known;
  const found = new Set<string>();
  collectFields(schema, [], found);
  const fields = [...found];
  fieldsOfSchemas.set(schema, fields);
  return fields;
}

const nameOf = (field: string) => field.slice(field.lastIndexOf('.') + 1);

/**
 * Returns the field that an unknown field probably means: a field with the same name elsewhere, a
 * similar name at the same place, or a similar name elsewhere.
 */
function nearestField(schema: z.core.$ZodType, path: readonly string[], key: string) {
  const beside = path.map((part) => `${/^\d+$/.test(part) ? '0' : part}.`).join('');
  // A variant of a union may know the field at this place, so that place is left out.
  const fields = fieldsOf(schema).filter((field) => field !== beside + key);
  const elsewhere = fields.find((field) => nameOf(field) === key);
  if (elsewhere !== undefined) return elsewhere;
  const meant = meantFields(fields, path, beside, key);
  if (meant !== undefined) return meant;
  const siblings = fields.filter(
    (field) => field.startsWith(beside) && !field.slice(beside.length).includes('.'),
  );
  const sibling = findNearest(
    key,
    siblings.map((field) => field.slice(beside.length)),
  );
  if (sibling !== undefined) return [...path, sibling].join('.');
  const nearest = findNearest(key, fields.map(nameOf));
  return nearest && fields.find((field) => nameOf(field) === nearest);
}

/**
 * Returns the fields that a name of a foreign mail service means, as text: fields at the same
 * place, or elsewhere. Undefined for an unknown name.
 */
function meantFields(
  fields: readonly string[],
  path: readonly string[],
  beside: string,
  key: string,
): string | undefined {
  const names = synonymsOf(key);
  const own = names.filter((name) => fields.includes(beside + name));
  if (own.length > 0) return either(own.map((name) => [...path, name].join('.')));
  const others = names.flatMap((name) => fields.find((field) => nameOf(field) === name) ?? []);
  return others.length > 0 ? either(others) : undefined;
}

/**
 * Returns advice if the value of an unknown top-level name belongs outside the body; else
 * undefined.
 */
function placeOutside(schema: z.core.$ZodType, path: readonly string[], key: string) {
  const words = path.length === 0 ? placeElsewhere(key) : undefined;
  if (words === undefined) return undefined;
  const fields = fieldsOf(schema);
  const isTaken = [key, ...synonymsOf(key)].some((name) => fields.includes(name));
  const isScheduled = words.includes('scheduledFor');
  return isTaken || (isScheduled && !fields.includes('email.subject')) ? undefined : words;
}

/** Returns a function that describes unknown fields. The first few get a suggestion. */
export function unknownFieldWords(schema: z.core.$ZodType) {
  let left = mostSuggestions;
  return (path: readonly string[], key: string): string => {
    const isGuessed = left > 0 && key.length <= longestGuessed;
    left -= 1;
    const known = isGuessed ? placeOutside(schema, path, key) : undefined;
    if (known !== undefined) return `unknown field; ${known}`;
    const nearest = isGuessed ? nearestField(schema, path, key) : undefined;
    return nearest === undefined ? 'unknown field' : `unknown field; did you mean ${nearest}?`;
  };
}
