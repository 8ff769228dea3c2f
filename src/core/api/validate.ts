// Converts the problems of a zod schema into a ValidationError, for HTTP bodies, queries and
// command-line input alike. Field names are dotted paths such as `to.0.email`. Also refuses
// forbidden characters in all texts: NUL, which PostgreSQL cannot store, and unpaired surrogates
// (RFC 7493 2.1).
import { z } from 'zod';
import { type FieldErrors, ValidationError } from '../../platform/errors.ts';
import type { Route } from './route.ts';
import { schemaWords, unknownFieldWords } from './schema-words.ts';

const inPlainWords = { error: schemaWords };

const mostFieldErrors = 100;
/** Most texts checked for forbidden characters in a value that has a problem already. */
const mostTextsLookedAt = 1_000;
/** Largest nesting of a JSON body. */
const deepestText = 64;

export type Checked<T> = { data: T } | { error: ValidationError };

/**
 * Checks `value` by a schema. `where` names the part in the message (body, query, path, headers,
 * entry). With `hasPlainTexts`, the texts are known to have no forbidden characters.
 */
export function checkWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  where: string,
  hasPlainTexts = false,
): Checked<z.output<T>> {
  const result = schema.safeParse(value, inPlainWords);
  const fields = result.success ? newFields() : fieldsOf(result.error, schema, where);
  if (!hasPlainTexts && !isOpenList(schema)) {
    const left = { texts: result.success ? Infinity : mostTextsLookedAt };
    addTextProblems(fields, value, [], where, left);
  }
  const [first] = Object.entries(fields);
  if (result.success && !first) return { data: result.data };
  const [field, problems] = first ?? [where, ['invalid']];
  return { error: new ValidationError(`Invalid ${where}: ${field}: ${problems[0]}`, fields) };
}

/** Checks `value` with `checkWith` and returns the result. @throws ValidationError */
export function parseWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  where: 'body' | 'query' | 'path' | 'headers',
): z.output<T> {
  const checked = checkWith(schema, value, where);
  if ('error' in checked) throw checked.error;
  return checked.data;
}

/** Part of a request: the schema and the value. */
interface Part {
  schema: z.ZodType | undefined;
  value: unknown;
  /** Whether the texts are known to have no forbidden characters. */
  isPlain?: boolean;
}

/**
 * Checks all parts of a request, so that a single 422 names all problems. A part without a schema
 * gives undefined.
 * @throws ValidationError
 */
export function parseParts<Name extends string>(
  parts: Readonly<Record<Name, Part>>,
): Record<Name, unknown> {
  const problems = newFields();
  const messages: string[] = [];
  const parsed: Record<string, unknown> = {};
  for (const [where, { schema, value, isPlain }] of Object.entries<Part>(parts)) {
    const checked = schema ? checkWith(schema, value, where, isPlain) : { data: undefined };
    if ('data' in checked) {
      parsed[where] = checked.data;
      continue;
    }
    const { message, fieldErrors = {} } = checked.error;
    messages.push(message);
    for (const [field, texts] of Object.entries(fieldErrors)) {
      problems[field] = [...(problems[field] ?? []), ...texts];
    }
  }
  if (messages.length > 0) throw new ValidationError(messages.join('; '), problems);
  return parsed as Record<Name, unknown>;
}

/** Schema of a part for which a route declares none: it accepts no fields. */
const nothing = z.strictObject({});
const noBody = nothing.optional();

/** Returns the schemas of the parts of a request of this route. */
export function requestSchemas({ params, query, body }: Pick<Route, 'params' | 'query' | 'body'>) {
  return { path: params ?? nothing, query: query ?? nothing, body: body ?? noBody };
}

/** Returns an object without a prototype: an unknown field may be `__proto__`. */
function newFields(): FieldErrors {
  return Object.create(null);
}

/** Returns the problems by the dotted path of each field, as in an answer of the API. */
function fieldsOf(error: z.ZodError, schema: z.ZodType, where: string): FieldErrors {
  const fields = newFields();
  const unknownField = unknownFieldWords(schema);
  const issues = error.issues.slice(0, mostFieldErrors);
  // Leaves out problems of length and form for a value of the wrong type.
  const ofAnotherType = new Set(
    issues.flatMap(({ code, path }) => (code === 'invalid_type' ? path.join('.') : [])),
  );
  for (const issue of issues) {
    if (Object.keys(fields).length >= mostFieldErrors) break;
    const path = issue.path.map(String);
    if (issue.code !== 'invalid_type' && ofAnotherType.has(path.join('.'))) continue;
    if (issue.code === 'unrecognized_keys') {
      const room = mostFieldErrors - Object.keys(fields).length;
      for (const key of issue.keys.slice(0, room)) {
        add(fields, [...path, key], unknownField(path, key));
      }
    } else {
      add(fields, path.length > 0 ? path : [where], issue.message);
    }
  }
  return fields;
}

function add(fields: FieldErrors, path: readonly string[], problem: string): void {
  const name = path.join('.');
  fields[name] = [...(fields[name] ?? []), problem];
}

/** Tells whether a schema is a list whose entries are checked later, one at a time. */
function isOpenList(schema: z.ZodType): boolean {
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodUnknown;
}

function textProblem(text: string): string | null {
  if (text.includes('\0')) return 'must not contain NUL characters';
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair';
}

/** Adds problems of texts, including keys, to fields without an earlier problem. */
function addTextProblems(
  fields: FieldErrors,
  value: unknown,
  path: readonly string[],
  where: string,
  left: { texts: number },
): void {
  left.texts -= 1;
  if (left.texts < 0) return;
  if (typeof value === 'string') {
    const problem = textProblem(value);
    const named = path.length > 0 ? path : [where];
    const isNews = problem !== null && fields[named.join('.')] === undefined;
    if (isNews && Object.keys(fields).length < mostFieldErrors) add(fields, named, problem);
    return;
  }
  if (typeof value !== 'object' || value === null || path.length > deepestText) return;
  // Skips the content of a list or map that is refused as a whole: it may be long.
  if (path.length > 0 && fields[path.join('.')] !== undefined) return;
  // `for in` mostly ends early; `Object.keys` of 100,000 entries would take longer than this loop.
  for (const key in value) {
    const entry = (value as Record<string, unknown>)[key];
    const inner = [...path, key.replaceAll('\0', '\uFFFD').toWellFormed()];
    if (left.texts <= 0) return;
    addTextProblems(fields, key, inner, where, left);
    addTextProblems(fields, entry, inner, where, left);
  }
}
