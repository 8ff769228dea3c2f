// Bodies of 5 MB for routes that take JSON: as many bytes and values as the bounds of all bodies
// let through.
import { z } from 'zod';
import type { Route } from '../../src/core/api/route.ts';

const largeBytes = 5_000_000;
/** Values of a body, just below their bound. */
const mostValues = 95_000;

type JsonSchema = { [key: string]: unknown };

function typeOf({ type, anyOf, oneOf }: JsonSchema): unknown {
  const [first] = (anyOf ?? oneOf ?? []) as JsonSchema[];
  return type ?? (first && typeOf(first));
}

/** Returns a value of the type of a schema, with this many bytes and at most so many values. */
function valueFor(schema: JsonSchema, bytes: number, values: number): unknown {
  const type = typeOf(schema);
  if (type === 'array') {
    const { items = {} } = schema as { items?: JsonSchema };
    const entry = valueFor(items, bytes / values, 1);
    return Array.from({ length: values / 2 }, () => entry);
  }
  if (type === 'string') return 'a@b.example '.repeat(Math.ceil(bytes / 12));
  if (type === 'object') return keysOf(bytes, values);
  return 1;
}

function keysOf(bytes: number, values: number): Record<string, string> {
  const text = 'a'.repeat(Math.max(0, Math.floor(bytes / values) - 16));
  return Object.fromEntries(Array.from({ length: values }, (_, n) => [`key-${n}`, text]));
}

/** Returns a body whose fields are all unknown: the costliest JSON of its size. */
export function unknownFields(bytes = largeBytes, values = mostValues): string {
  return JSON.stringify(keysOf(bytes, values));
}

/**
 * Returns bodies for a route by name: one with all fields large, and one for each field, which
 * takes all bytes and values.
 */
export function largeBodies({ body }: Route, valid: unknown): Map<string, () => string> {
  const bodies = new Map<string, () => string>();
  if (!body) return bodies;
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  if (schema.type === 'array') {
    const [entry] = valid as unknown[];
    const count = mostValues / (1 + JSON.stringify(entry).split(/[,[{]/).length);
    return bodies.set('entries', () => JSON.stringify(Array(Math.floor(count)).fill(entry)));
  }
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const largeFields = (names: typeof fields) => () => {
    const [bytes, values] = [largeBytes / names.length, mostValues / names.length];
    const large = names.map(([name, one]) => [name, valueFor(one, bytes, Math.floor(values))]);
    return JSON.stringify({ ...(valid as object), ...Object.fromEntries(large) });
  };
  if (fields.length > 0) bodies.set('all fields', largeFields(fields));
  for (const field of fields) bodies.set(field[0], largeFields([field]));
  return bodies;
}
