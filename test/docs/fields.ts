// The rows of docs/making/fields.md: each field of a request, and the values that it takes by the
// schema of its route.
import { z } from 'zod';
import { routes } from '../../daemon/http/routes.ts';

interface Schema {
  type?: string;
  $ref?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
  items?: Schema;
  propertyNames?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  anyOf?: readonly Schema[];
  $defs?: Record<string, Schema>;
}

/** Returns `1–100`, `≥ 1`, `≤ 100`, or an empty text. */
function span(from: number | undefined, to: number | undefined): string {
  const [low, high] = [from, to].map((bound) => bound?.toLocaleString('en'));
  if (low !== undefined && high !== undefined) return `${low}–${high}`;
  if (low !== undefined) return `≥ ${low}`;
  return high === undefined ? '' : `≤ ${high}`;
}

function bounded(noun: string, from: number | undefined, to: number | undefined): string {
  return [noun, span(from, to)].filter((word) => word !== '').join(' ');
}

/** More values than these are only counted. */
const mostNamed = 6;

const code = (value: unknown) => `\`${String(value)}\``;
const shown = (value: unknown) => code(typeof value === 'string' ? value : JSON.stringify(value));
const nameOf = (ref: string) => ref.replace(/^.*\//, '');

function textWords({ format, pattern, minLength, maxLength }: Schema): string {
  if (format !== undefined) return `text, ${format}`;
  // A number in a query.
  if (pattern?.startsWith('^\\d{')) return 'number';
  const [, prefix] = /^\^(\w+_)\[/.exec(pattern ?? '') ?? [];
  if (prefix !== undefined) return `id ${code(prefix)}…`;
  return bounded(pattern === undefined ? 'text' : 'patterned text', minLength, maxLength);
}

/** Describes the values of a schema, without the fields of an object. */
function words(schema: Schema): string {
  const { type, enum: values, const: value, anyOf, $ref } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (anyOf) {
    const choices = anyOf.flatMap((choice) => words(choice).split(' or '));
    return [...new Set(choices)].join(' or ');
  }
  if (Array.isArray(type)) return type.map((one) => words({ ...schema, type: one })).join(' or ');
  if (value !== undefined) return code(value);
  if (values && values.length > mostNamed) return `one of ${values.length}`;
  if (values) return values.map(code).join(', ');
  if (type === 'string') return textWords(schema);
  if (type === 'integer' || type === 'number') {
    const noun = type === 'integer' ? 'whole number' : 'number';
    return bounded(noun, schema.minimum, schema.maximum);
  }
  if (type === 'array') {
    const { items = {}, minItems, maxItems } = schema;
    return `${bounded('list', minItems, maxItems)}: ${words(items)}`;
  }
  if (type === 'object' && typeof schema.additionalProperties === 'object') {
    const { propertyNames = {}, additionalProperties } = schema;
    const names = words(propertyNames).replace('text ', '');
    return `map ${names}: ${words(additionalProperties).replaceAll(' or ', ', ')}`;
  }
  return type ?? 'anything';
}

/** Lists the objects in a schema that have fields of their own. */
function objectsIn(schema: Schema): { under: string; object: Schema }[] {
  const { properties, items, anyOf = [], additionalProperties } = schema;
  if (properties) return [{ under: '', object: schema }];
  if (items) return objectsIn(items).map(({ under, object }) => ({ under: `[]${under}`, object }));
  if (typeof additionalProperties === 'object') {
    return objectsIn(additionalProperties).map(({ under, object }) => ({
      under: `.*${under}`,
      object,
    }));
  }
  return anyOf.flatMap(objectsIn);
}

function rowsOf(where: string, schema: Schema, prefix = ''): string[][] {
  return objectsIn(schema).flatMap(({ under, object }) =>
    Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
      const path = `${prefix}${under}${prefix === '' && under === '' ? '' : '.'}${name}`;
      const need = object.required?.includes(name) ? ', required' : '';
      const standard = field.default === undefined ? '' : `, default ${shown(field.default)}`;
      return [
        [where, code(path), `${words(field)}${need}${standard}`],
        ...rowsOf(where, field, path),
      ];
    }),
  );
}

/** Lists each field of the query and the body of each route; named schemas once. */
export function fieldRows(): string[][] {
  const named = new Map<string, string[][]>();
  const rows = routes.flatMap(({ name, query, body }) =>
    [query, body].flatMap((schema) => {
      if (!schema) return [];
      const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
      for (const [noun, definition] of Object.entries(json.$defs ?? {})) {
        named.set(noun, rowsOf(noun, definition));
      }
      const where = code(name);
      return json.$ref === undefined ? rowsOf(where, json) : [[where, '', nameOf(json.$ref)]];
    }),
  );
  return [...rows, ...[...named.values()].flat()];
}
