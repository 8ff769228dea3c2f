// One way from a zod schema to a ValidationError, for HTTP bodies, queries and command-line input
// alike: field names are dotted paths such as `to.0.email` (contract 4).
import type { z } from 'zod';
import { type FieldErrors, ValidationError } from './errors.ts';

const mostFieldErrors = 50;

/** Parses `value`; `where` names the part in the message (body, query, path, headers). */
export function parseWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  where: 'body' | 'query' | 'path' | 'headers',
): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw validationError(result.error, where);
}

/** The error as the API answers it; an unknown field is named by its own path. */
export function validationError(error: z.ZodError, where: string): ValidationError {
  // Without a prototype: an unknown field may well be called `constructor` or `__proto__`.
  const fields: FieldErrors = Object.create(null);
  for (const issue of error.issues.slice(0, mostFieldErrors)) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, mostFieldErrors)) {
        add(fields, [...path, key], 'unknown field');
      }
    } else {
      add(fields, path.length > 0 ? path : [where], issue.message);
    }
  }
  const [first, problems] = Object.entries(fields)[0] ?? [where, ['invalid']];
  return new ValidationError(`Invalid ${where}: ${first}: ${problems[0]}`, fields);
}

function add(fields: FieldErrors, path: string[], problem: string): void {
  const name = path.join('.');
  fields[name] = [...(fields[name] ?? []), problem];
}
